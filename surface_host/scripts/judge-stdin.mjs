// Answers jobs on documents by the built judge: one JSON line in, one out. Driven by tests/fuzz/documents.
//
// Texts travel as base64, because half of them are no UTF-8; numbers in answers as the hex digits of the double.
import { createInterface } from 'node:readline';
import * as documents from '../dist/surface-host-documents.mjs';

const { NoValue, Refused } = documents;

const hex = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
};
const told = (value) => {
  if (value instanceof NoValue) return faultOf(value);
  return typeof value === 'number' ? `n:${hex(value)}` : typeof value === 'string' ? `s:${value}` : value;
};
const faultOf = ({ code, pointer }) => ({ code, pointer });
const all = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, told(value)]));

/** What `work` gives, or the fault it refuses with. */
async function outcome(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return faultOf(error);
    throw error;
  }
}

const textOf = ({ raw }) => Buffer.from(raw, 'base64');
const verdict = async (judged) => ({ sha256: await judged.digest() });

/** What can be done with a state; each gives the next one. */
const STEPS = {
  update: (document, state, { changes }) => documents.updateState(document, state, changes),
  restore: (document, _, { saved }) => documents.restoreState(document, saved),
  run: (document, state, { action }) => documents.runAction(document, state, action),
  map: (document, state, { action, result }) => documents.mapResult(document, state, action, result),
};

const JOBS = {
  judge: async (job) => verdict(documents.judge(textOf(job), { kind: job.kind ?? undefined })),
  value: async (job) => verdict(documents.judgeValue(JSON.parse(textOf(job)), { kind: job.kind ?? undefined })),
  async evaluate(job) {
    const { document } = documents.judge(textOf(job));
    let state = documents.initialState(document);
    const answers = [derived(document, state)];
    for (const step of job.steps) {
      const next = await outcome(() => (step.op === 'args' ? { told: all(documents.actionArguments(document, step.action, step.values)) } : { state: STEPS[step.op](document, state, step) }));
      state = next.state ?? state;
      answers.push(next.code ? next : next.told ? next.told : [all(state), derived(document, state)]);
    }
    return answers;
  },
  async stream(job) {
    let generation = documents.openGeneration('g', documents.judge(textOf(job)), 1);
    const answers = [];
    for (const frame of job.frames) {
      const step = await outcome(() => documents.take(generation, frame));
      generation = step.generation ?? generation;
      const { seq, revision, status, frames, bytes, shown } = generation;
      answers.push([step.outcome ?? step, seq, revision, status, frames, bytes, await shown.digest(), documents.mayInvoke(generation)]);
    }
    return answers;
  },
};

const derived = (document, state) => all(Object.fromEntries(documents.createEvaluation(document, state).derived()));

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const job = JSON.parse(line);
  let answer;
  try {
    answer = await outcome(() => JOBS[job.do](job));
  } catch (error) {
    answer = { crash: String(error?.stack ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
