/** `{type, props}`: what a tool may say that its answer looks like (seed 001). Whether the type is known is the registry's to say. */

/** What is drawn in place of a tool's answer. `type` names a registered component; `props` reach it only sanitised. */
export interface UISchema {
  readonly type: string;
  readonly props: Readonly<Record<string, unknown>>;
}

/** The value of an own data property; no getter runs, no prototype is asked. */
export function own(value: object, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether `value` is an object with a `type` that is a text and not empty, and `props` that are an object. Never throws. */
export function isUISchema(value: unknown): value is UISchema {
  try {
    if (!isObject(value)) return false;
    const type = own(value, 'type');
    return typeof type === 'string' && type !== '' && isObject(own(value, 'props'));
  } catch {
    // Only a proxy can do that, and it is no schema.
    return false;
  }
}
