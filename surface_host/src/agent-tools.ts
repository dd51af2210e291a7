/**
 * `defineAgentTools(...)`: the one declaration of a mini app whose handlers run in its own frame.
 *
 * The build reads descriptors out of it and nothing else; the map from method to handler stays in the bundle. In the frame
 * it answers the calls the gateway sends: arguments and output were and will be judged there, so nothing is judged here.
 */

import type { CallModel, Confirm, Effect, Json, Readiness, Risk } from './protocol/frames.js';
import type { AppBridge, Served, ServedCall } from './sandbox/prelude.js';

type Schema = Readonly<Record<string, unknown>>;
type JsonObject = Readonly<Record<string, Json>>;
type Awaitable<T> = T | PromiseLike<T>;

export interface ToolContext {
  /** Aborted by a cancel request and at the deadline. */
  readonly signal: AbortSignal;
  /** The gateway's name of this call. */
  readonly ref: string;
  /** Reports how far the work got; `n` must grow. */
  progress(n: number, total?: number, message?: string): void;
}

/** A failure with a code the caller reads; any other error is `handler_error` with its message. */
export class ToolFailed extends Error {
  constructor(
    readonly code: 'handler_error' | 'not_available' | 'arguments_invalid' | 'not_achieved',
    message: string,
  ) {
    super(message);
  }
}

/** A place for mini apps, or a host capability. */
export type HostFeature = 'workspace' | 'app.open_url' | 'clipboard.write' | 'artifact.save' | 'notification.show';

interface Promised {
  /** The capability id, like `notes.add`. */
  readonly method: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly effect?: Effect;
  readonly risk?: Risk;
  readonly confirm?: Confirm;
  readonly readiness?: Readiness;
  readonly callModel?: CallModel;
  readonly timeoutMs?: number;
  /** What the same arguments under another call id are: new work, or work that changes nothing more. */
  readonly idempotency?: 'call_id' | 'arguments';
  /** Who is told of it: agents and the app's own frames, or only those. */
  readonly visibility?: 'agents' | 'app';
  /** What the host must offer for it to be there. */
  readonly requires?: readonly HostFeature[];
  /** The answer when the app could not be started; without one the call fails. */
  readonly notStarted?: JsonObject;
}

export interface HandledTool<Input = never> extends Promised {
  readonly handler: (input: Input, context: ToolContext) => Awaitable<unknown>;
}

/** Carried by the gateway itself; made by `deadlineOperation` and `interruptOperation`. */
export interface RuntimeBinding {
  readonly kind: 'runtime';
  readonly runtime: 'deadline_operation' | 'interrupt_operation';
  readonly [field: string]: unknown;
}

export interface RuntimeTool extends Promised {
  readonly runtime: RuntimeBinding;
}

// A handler of any input fits where tools are listed.
export type Tool = HandledTool<never> | RuntimeTool;

export interface SurfaceFiles {
  readonly id: string;
  readonly title: string;
  /** Paths in the package. */
  readonly html: string;
  readonly css?: string;
  readonly js?: string;
  /** What it may send with `event`. */
  readonly events?: readonly string[];
}

export interface MiniAppDeclaration {
  readonly app: { readonly id: string; readonly name: string; readonly version: string; readonly description: string };
  readonly contractVersion?: string;
  readonly tools: readonly Tool[];
  readonly surfaces: readonly SurfaceFiles[];
  /** What becomes of running operations when the person goes; `keep` if left out. */
  readonly leaving?: { readonly leftWorkspace?: 'keep' | 'interrupt'; readonly closed?: 'keep' | 'interrupt' };
}

export interface AgentTools {
  /** The part of a manifest that is declared: data only. */
  readonly declaration: Schema;
  /** Answers one call. */
  answer(call: ServedCall): Promise<Served>;
}

/** Begins an operation that lasts `argument` times `unitMs`, and ends by itself. */
export const deadlineOperation = (options: {
  readonly argument: string;
  readonly unitMs: number;
  readonly completed: JsonObject;
  readonly interrupted: JsonObject;
}): RuntimeBinding => ({
  kind: 'runtime',
  runtime: 'deadline_operation',
  duration: { argument: options.argument, unit_ms: options.unitMs },
  answers: { completed: options.completed, interrupted: options.interrupted },
});

/** Ends what runs of the app in the caller's conversation, or cancels its start. */
export const interruptOperation = (options: {
  readonly cancelledStart: JsonObject;
  readonly interrupted: JsonObject;
  readonly nothing: JsonObject;
}): RuntimeBinding => ({
  kind: 'runtime',
  runtime: 'interrupt_operation',
  answers: { cancelled_start: options.cancelledStart, interrupted: options.interrupted, nothing: options.nothing },
});

const isHandled = (tool: Tool): tool is HandledTool => 'handler' in tool;

/** As a manifest holds it. Of a handler it says that there is one. */
const descriptorOf = (tool: Tool): Schema => ({
  method: tool.method,
  title: tool.title,
  description: tool.description,
  input_schema: tool.inputSchema,
  output_schema: tool.outputSchema,
  effect: tool.effect ?? 'write',
  risk: tool.risk ?? 'display_only',
  confirm: tool.confirm ?? 'policy',
  // A handler in a frame needs its frame.
  readiness: tool.readiness ?? (isHandled(tool) ? 'app_ready' : 'activation_not_required'),
  call_model: tool.callModel ?? 'command',
  timeout_ms: tool.timeoutMs ?? 30_000,
  permissions: [],
  idempotency: tool.idempotency ?? 'call_id',
  visibility: tool.visibility ?? 'agents',
  requires: tool.requires ?? [],
  not_started: tool.notStarted ?? null,
  handler: isHandled(tool) ? { kind: 'miniapp_sdk' } : { ...tool.runtime },
});

const surfaceOf = ({ id, title, html, css, js, events = [] }: SurfaceFiles): Schema => ({ id, title, html, css: css ?? null, js: js ?? null, events: [...events] });

function declarationOf({ app, contractVersion = '1', tools, surfaces, leaving = {} }: MiniAppDeclaration): Schema {
  const { id, name, version, description } = app;
  return {
    app: { id, name, version, description },
    contract_version: contractVersion,
    tools: tools.map(descriptorOf),
    surfaces: surfaces.map(surfaceOf),
    activation: { on_activate: false, on_deactivate: false },
    leaving: { left_workspace: leaving.leftWorkspace ?? 'keep', closed: leaving.closed ?? 'keep' },
  };
}

/** Lets a list hold handlers of different inputs: `tools: [tool<{ text: string }>({ …, handler: ({ text }) => … })]`. */
export const tool = <Input>(handled: HandledTool<Input>): Tool => handled as unknown as Tool;

/** Where a build waits for what a bundle declares. */
const DECLARE = Symbol.for('ostiary.declare');

interface Surroundings {
  readonly OstiaryApp?: AppBridge;
  readonly [DECLARE]?: (declaration: Schema) => void;
}

export function defineAgentTools(declaration: MiniAppDeclaration): AgentTools {
  const handlers = new Map<string, HandledTool>();
  const methods = new Set<string>();
  for (const each of declaration.tools) {
    if (methods.has(each.method)) throw new TypeError(`\`${each.method}\` is declared twice`);
    methods.add(each.method);
    if (isHandled(each)) handlers.set(each.method, each);
  }
  const tools: AgentTools = {
    declaration: declarationOf(declaration),
    async answer(call) {
      const handled = handlers.get(call.method);
      if (!handled) return { code: 'not_available', message: `\`${call.method}\` has no handler in this frame` };
      const { ref, signal, arguments: input } = call;
      try {
        if (signal.aborted) return { code: 'cancelled', message: 'cancelled before it started' };
        call.started();
        return { output: await handled.handler(input as never, { ref, signal, progress: call.progress }) };
      } catch (error) {
        const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
        const told = typeof message === 'string' ? message : String(error);
        if (signal.aborted || name === 'AbortError') return { code: 'cancelled', message: told };
        return { code: error instanceof ToolFailed ? String(code) : 'handler_error', message: told };
      }
    },
  };
  const around = globalThis as Surroundings;
  around[DECLARE]?.(tools.declaration);
  around.OstiaryApp?.serve(tools.answer);
  return tools;
}
