// What stands in for a package, in the build and in the tests alike.
import { fileURLToPath } from 'node:url';

export const alias = {
  'decode-named-character-reference': fileURLToPath(new URL('../src/documents/render/markdown/names.ts', import.meta.url)),
};
