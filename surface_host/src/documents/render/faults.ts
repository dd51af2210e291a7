/** Why something cannot be shown, in a code: nothing of the document goes with it. */

export class Fault extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

const CODE = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;

/** The code of anything thrown; what carries none is a fault of ours. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && CODE.test(code) ? code : 'render.failed';
}
