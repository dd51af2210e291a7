/** The shell a document travels in: `{protocol, version, document}`, checked before the document is (rules A5). */

import { refused, type DocumentCode } from './faults.js';
import { judgeValue, type Judged, type JudgeOptions } from './judge.js';
import { cut, segment } from './pointers.js';
import { PROTOCOL, VERSIONS } from './table.js';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** By member, what it must be and the code where it is not. */
const SHELL: Readonly<Record<string, readonly [fits: (value: unknown) => boolean, code: DocumentCode]>> = {
  protocol: [(value) => value === PROTOCOL, 'document.not_allowed'],
  version: [(value) => (VERSIONS as readonly unknown[]).includes(value), 'document.unknown_version'],
  // A text that would read as an object is none.
  document: [isObject, 'document.wrong_type'],
};

/**
 * Judges what a result, a frame or the history brought. The shell does not count to the limits of the document, and the
 * document is judged alone: pointers of its faults are into it, those of the shell's into the shell. Throws `Refused`.
 */
export function judgeEnvelope(shell: unknown, options: JudgeOptions = {}): Judged {
  if (!isObject(shell)) throw refused('document.wrong_type');
  const members = Object.getOwnPropertyDescriptors(shell) as Readonly<Record<string, PropertyDescriptor>>;
  for (const key of Reflect.ownKeys(shell)) if (typeof key !== 'string' || !Object.hasOwn(SHELL, key)) throw refused('document.unknown_key', cut(segment(String(key))));
  for (const [name, [fits, code]] of Object.entries(SHELL)) {
    const member = members[name];
    if (!member) throw refused('document.missing_key');
    // A getter is not run; it has no value.
    if (!fits(member.value)) throw refused(code, segment(name));
  }
  const judged = judgeValue(members.document?.value, options);
  if (judged.document.version !== members.version?.value) throw refused('document.unknown_version', '/version');
  return judged;
}
