// The process that evaluates a declaration in JavaScript: `node declare.mjs SDK FOLDER SCRIPT`.
//
// It runs the author's code, so it is a process of its own; on its standard output stands one line of JSON and nothing
// else. Exits with 0 also when the declaration is refused; the line says so.

import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const DECLARE = Symbol.for('ostiary.declare');
const [sdk, folder, script] = process.argv.slice(2);

/** Everything that is plain data, with where something is not. */
function notPlain(value, pointer = '') {
  if (value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)) return undefined;
  if (typeof value !== 'object') return `${pointer || '/'} is ${typeof value}`;
  for (const [key, item] of Object.entries(value)) {
    const found = notPlain(item, `${pointer}/${key}`);
    if (found) return found;
  }
  return undefined;
}

function evaluate(tools) {
  let declared;
  const take = (declaration) => {
    if (declared) throw new TypeError('an app declares its tools once');
    declared = declaration;
  };
  globalThis[DECLARE] = take;
  const toErrors = Object.fromEntries(['log', 'info', 'debug', 'warn', 'error'].map((level) => [level, (...words) => console.error(...words)]));
  // The bridge of the frame, as far as a declaration needs it. There is no document: nothing is shown here.
  const bridge = { ...tools, serve: () => undefined, onState: () => () => undefined, event: () => undefined, resize: () => undefined };
  const context = vm.createContext({ OstiaryApp: bridge, console: toErrors, [DECLARE]: take });
  let failure;
  try {
    vm.runInContext(readFileSync(join(folder, script), 'utf8'), context, { filename: script });
  } catch (error) {
    // Anything can be thrown.
    failure = typeof error === 'object' && error !== null && 'message' in error ? error : { name: 'Error', message: String(error), stack: '' };
  }
  // What a script does after its declaration is for its frame.
  if (declared) {
    const found = notPlain(declared);
    if (found) return { refused: `something declared is no JSON: ${found}`, trace: '' };
    return { declaration: declared, runs_python: false };
  }
  if (!failure) return { refused: `\`${script}\` declares nothing; call \`defineAgentTools\` in it`, trace: '' };
  const hint = failure.name === 'ReferenceError' ? '; declare the tools before anything that needs a document' : '';
  return { refused: `\`${script}\` failed before it declared its tools: ${failure.name}: ${failure.message}${hint}`, trace: String(failure.stack) };
}

const { defineAgentTools, deadlineOperation, interruptOperation, ToolFailed } = await import(pathToFileURL(sdk).href);
writeSync(1, JSON.stringify(evaluate({ defineAgentTools, deadlineOperation, interruptOperation, ToolFailed })));
process.exit(0);
