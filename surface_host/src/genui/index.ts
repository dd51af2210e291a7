/** `@ostiary/surface-host/genui`: answers of tools as components of the page's own choice (seed 001). */

export { ActionGroup, type GenuiPlan } from './plans.js';
export { GenuiRenderer, type FallbackReason, type OstiaryGenui } from './genui.js';
export { MessageContent, type ToolCall } from './message.js';
export { registerGenuiComponent, resolveGenuiComponent, unregisterGenuiComponent, type GenuiComponent, type GenuiElement } from './registry.js';
export { sanitizeGenuiProps, type DropCode, type Dropped } from './sanitise.js';
export { isUISchema, type UISchema } from './schema.js';
export { WeatherCard } from './weather.js';
