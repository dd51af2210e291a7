/**
 * Documents: judging them, the state of one in use, its values, and its streaming. Pure: no DOM, no clock, no network.
 *
 * Loaded when a page shows its first document; the renderer stands on it.
 */

export { canonical, digestOf } from './canonical.js';
export { engine, type Change } from './engine.js';
export { judgeEnvelope } from './envelope.js';
export { createEvaluation, evaluationOf, type Evaluation } from './evaluate.js';
export { NoValue, Refused, type DocumentCode, type Issue } from './faults.js';
export { FRAME_TABLE, mayInvoke, openGeneration, take, type Frame, type FrameKind, type Generation, type Status, type Step } from './frames.js';
export { judge, judgeValue, type Judged, type JudgeOptions } from './judge.js';
export { applyPatch } from './patches.js';
export { assertSafeJSON } from './safe.js';
export { actionArguments, initialState, mapResult, restoreState, runAction, updateState } from './state.js';
export type * from './types.js';
