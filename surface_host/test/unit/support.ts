import type { Capability, CallPorts, PromptQueue, Registry } from '../../src/core/index.js';
import { createCalls, createPromptQueue, createRegistry } from '../../src/core/index.js';
import type { ApprovalPayload, InvokeFrame, OutFrame } from '../../src/protocol/frames.js';

export const todo = (over: Partial<Capability> = {}): Capability => ({
  id: 'todo.add',
  description: 'Adds one to-do.',
  inputSchema: { type: 'object' },
  handler: () => ({ added: true }),
  ...over,
});

export const payloadOf = (over: Partial<ApprovalPayload> = {}): ApprovalPayload => ({
  v: 1,
  ref: 'call_1',
  approval: 'ap_1',
  nonce: 'n_1',
  capability: 'todo.add',
  fingerprint: 'fp',
  summary: {
    verb: 'change',
    object: 'Add a to-do',
    agent: 'Claude Code',
    origin: 'https://app.example',
    effect: 'write',
    risk: 'display_only',
    description: 'Adds one to-do.',
    arguments: [{ name: 'text', value: '"milk"' }],
    changed: false,
  },
  input: '{"text":"milk"}',
  page: 'page-1',
  epoch: 1,
  ...over,
});

export const invokeOf = (over: Partial<InvokeFrame> = {}): InvokeFrame => ({
  type: 'invoke',
  ref: 'call_1',
  epoch: 1,
  capability: 'todo.add',
  fingerprint: 'fp',
  input: '{"text":"milk"}',
  deadline: 30_000,
  ...over,
});

export interface Bench {
  readonly sent: OutFrame[];
  readonly registry: Registry;
  readonly queue: PromptQueue;
  readonly calls: ReturnType<typeof createCalls>;
  readonly alarms: (() => void)[];
  readonly state: { epoch: number; page: string; fingerprint: string; online: boolean };
}

/** The core without a browser: what it sends lands in a list, and time stands still. */
export function bench(): Bench {
  const sent: OutFrame[] = [];
  const alarms: (() => void)[] = [];
  const state = { epoch: 1, page: 'page-1', fingerprint: 'fp', online: true };
  const registry = createRegistry(() => undefined);
  const queue = createPromptQueue(
    () => 0,
    () => undefined,
  );
  const ports: CallPorts = {
    registry,
    prompts: queue,
    fingerprint: () => state.fingerprint,
    epoch: () => state.epoch,
    page: () => state.page,
    send: (frame) => {
      if (state.online) sent.push(frame);
    },
    settle: () => Promise.resolve(),
    sha256: (text) => Promise.resolve(`hash:${text.length}`),
    later: (_, task) => {
      alarms.push(task);
      return () => undefined;
    },
  };
  return { sent, registry, queue, calls: createCalls(ports), alarms, state };
}
