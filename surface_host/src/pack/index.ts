/**
 * What the host can do for a page beside the page's own actions: open an address, copy, pick and save files, notify.
 *
 * Every one of them was approved before it comes here. What is said back is what the browser let happen, and no more.
 */

import { byteLength, type CallContext, type HostedId, type Pack, type Verdict } from '../core/index.js';
import { sayFrom } from '../ui/words.js';
import { createOnClick, stopped, type OnClick } from './click.js';
import { en, zh, type PackMessages } from './messages.js';

export interface PackOptions {
  readonly lang: string | undefined;
  readonly messages: Partial<PackMessages> | undefined;
  readonly mode: ShadowRootMode;
}

/** Bytes of a file that can come back. */
export const FILE_LIMIT = 262_144;
/** A browser reads a file behind an address for a while after the click. */
const KEPT_MS = 60_000;

type Run = (input: never, context: CallContext, onClick: OnClick) => Promise<unknown>;

const openUrl = async ({ url }: { url: string }, { signal }: CallContext, onClick: OnClick): Promise<object> => {
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('only http and https addresses are opened');
  return onClick('openUrl', signal, () => {
    // With `noopener` in one step nobody could tell whether the tab was blocked.
    const tab = open('about:blank', '_blank');
    if (!tab) throw new Error('the browser blocked the new tab');
    tab.opener = null;
    tab.location.replace(href);
    return { opened: true };
  });
};

const write = async ({ text }: { text: string }, { signal }: CallContext, onClick: OnClick): Promise<object> =>
  onClick('copy', signal, async () => {
    await navigator.clipboard.writeText(text);
    return { written: true };
  });

function base64Of(bytes: Uint8Array): string {
  let text = '';
  // In pieces: so many arguments at once are too many.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

const pickFile = async ({ accept = [] }: { accept?: readonly string[] }, { signal }: CallContext, onClick: OnClick): Promise<object> => {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = accept.join();
  const file = await onClick(
    'pickFile',
    signal,
    () =>
      new Promise<File>((resolve, reject) => {
        input.addEventListener('change', () => (input.files?.[0] ? resolve(input.files[0]) : reject(stopped())));
        input.addEventListener('cancel', () => reject(stopped()));
        signal.addEventListener('abort', () => reject(stopped()), { once: true });
        input.click();
      }),
  );
  if (file.size > FILE_LIMIT) throw new Error(`the file has ${file.size} bytes; ${FILE_LIMIT} can be returned`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { name: file.name, media_type: file.type || 'application/octet-stream', bytes: bytes.length, base64: base64Of(bytes) };
};

type Artifact = { name: string; media_type?: string; text?: string; base64?: string };

const save = async ({ name, media_type: type, text, base64 = '' }: Artifact, { signal }: CallContext, onClick: OnClick): Promise<object> => {
  const body = text ?? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return onClick('saveFile', signal, () => {
    const address = URL.createObjectURL(new Blob([body], { type: type ?? (text === undefined ? 'application/octet-stream' : 'text/plain;charset=utf-8') }));
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
    return { handed_over: true, name, bytes: typeof body === 'string' ? byteLength(body) : body.length };
  });
};

const notify = async ({ title, body }: { title: string; body?: string }, { signal }: CallContext, onClick: OnClick): Promise<object> => {
  if (Notification.permission === 'default') await onClick('notify', signal, () => Notification.requestPermission());
  if (Notification.permission !== 'granted') throw stopped();
  return new Promise((resolve, reject) => {
    const shown = new Notification(title, body === undefined ? {} : { body });
    shown.onshow = () => resolve({ shown: true });
    shown.onerror = () => reject(new Error('the system did not show the notification'));
    signal.addEventListener('abort', () => reject(stopped()), { once: true });
  });
};

const RUNS: { readonly [T in HostedId]: Run } = {
  'app.open_url': openUrl,
  'clipboard.write': write,
  'device.pick_file': pickFile,
  'artifact.save': save,
  'notification.show': notify,
};

export function createPack({ lang, messages, mode }: PackOptions): Pack {
  const onClick = createOnClick({ say: sayFrom({ en, zh }, lang, messages), mode });
  return {
    available(id): Verdict {
      if (id === 'notification.show' && Notification.permission === 'denied') return 'the person does not want notifications of this page';
      return true;
    },
    run: (id, input, context) => RUNS[id](input as never, context, onClick),
  };
}
