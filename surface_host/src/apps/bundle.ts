/** The parts of a surface, fetched from the gateway or sent by it, and held to the digest it named. */

import { messageOf } from '../core/index.js';
import type { AppOpenFrame, FailedCode } from '../protocol/apps.js';
import { isRecord, parseJson } from '../protocol/guards.js';

export interface BundleParts {
  readonly html: string;
  readonly css: string;
  readonly js: string;
}

export class OpeningFailed extends Error {
  constructor(
    readonly code: FailedCode,
    message: string,
  ) {
    super(message);
  }
}

/** 160 KiB of text; as JSON it may be up to six times as long. */
const TEXT_LIMIT = 6 * 160 * 1024 + 64;

const encoder = new TextEncoder();

/** The digest as the gateway makes it: each part with its name and its length before it. */
export async function integrityOf({ html, css, js }: BundleParts): Promise<string> {
  const pieces = Object.entries({ html, css, js }).flatMap(([name, text]) => {
    const body = encoder.encode(text);
    return [encoder.encode(`${name}\n${body.length}\n`), body];
  });
  const whole = new Uint8Array(await new Blob(pieces).arrayBuffer());
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', whole));
  return `sha256-${btoa(String.fromCharCode(...digest))}`;
}

/** INVARIANT: nothing but what `integrity` names ever reaches a frame. Throws `OpeningFailed`. */
export async function fetchBundle(gateway: string, { bundle, integrity, sent }: AppOpenFrame, signal: AbortSignal): Promise<BundleParts> {
  const parts = sent ? { html: sent.html, css: sent.css, js: sent.js } : await load(new URL(bundle, gateway), signal);
  if (!crypto.subtle) throw new OpeningFailed('integrity', 'a bundle needs a secure context (https or localhost) to be checked');
  if ((await integrityOf(parts)) !== integrity) throw new OpeningFailed('integrity', 'the bundle is not the one the gateway named');
  return parts;
}

async function load(address: URL, signal: AbortSignal): Promise<BundleParts> {
  let text: string;
  try {
    const response = await fetch(address, { credentials: 'omit', mode: 'cors', referrerPolicy: 'no-referrer', redirect: 'error', signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    text = await response.text();
  } catch (error) {
    throw new OpeningFailed('not_loaded', `the bundle did not load: ${messageOf(error)}; does \`connect-src\` allow the gateway?`);
  }
  const value = text.length > TEXT_LIMIT ? undefined : parseJson(text);
  if (!isRecord(value) || typeof value.html !== 'string' || typeof value.css !== 'string' || typeof value.js !== 'string') {
    throw new OpeningFailed('not_loaded', 'what loaded is no bundle');
  }
  return { html: value.html, css: value.css, js: value.js };
}
