/** The inner document, assembled here and nowhere else. */

import type { Profile } from '../protocol/apps.js';
import type { Assignment } from './words.js';

/** Put in by the build: the script of `prelude.ts`. */
declare const PRELUDE: string;

/** `rules.md` G6: what the document may do, said in itself, so that no engine's inheritance has to be trusted. */
export const POLICY = [
  "default-src 'none'",
  "connect-src 'none'",
  'img-src data: blob:',
  "style-src 'unsafe-inline'",
  "script-src 'unsafe-inline'",
  'font-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-src 'none'",
  "object-src 'none'",
  "worker-src 'none'",
].join('; ');

/** Script that makes script from text, and with it every way to a fresh realm, is off. */
const TRUSTED_TYPES = "; require-trusted-types-for 'script'; trusted-types 'none'";

const FORBIDDEN =
  'iframe,frame,frameset,object,embed,applet,portal,fencedframe,base,meta,link,script,[srcdoc],[ping],[target],[formaction],form[action],[attributeName$="href" i]';

/**
 * True if a real parser finds what the gateway's own check should have refused: templates are looked into.
 * Both look, so that neither has to parse exactly as the other.
 */
export function findForbidden(html: string, profile: Profile): boolean {
  const runs = (element: Element): boolean => profile === 'strict' && element.getAttributeNames().some((name) => /^on/i.test(name));
  const search = (root: ParentNode): boolean =>
    root.querySelector(FORBIDDEN) !== null || [...root.querySelectorAll('*')].some(runs) || [...root.querySelectorAll('template')].some(({ content }) => search(content));
  return search(new DOMParser().parseFromString(`<body>${html}`, 'text/html'));
}

/** INVARIANT: the policy is a prefix of the whole document; nothing a bundle holds can come before it. */
export function documentOf({ html, css, js, handlers, profile, lang }: Assignment): string {
  const policy = POLICY + (profile === 'strict' ? TRUSTED_TYPES : '');
  const tag = /^[A-Za-z0-9-]{1,35}$/.test(lang) ? ` lang="${lang}"` : '';
  return (
    `<!doctype html><html${tag}><meta http-equiv="Content-Security-Policy" content="${policy}"><meta charset="utf-8">` +
    `<meta name="color-scheme" content="light dark">` +
    (js ? `<script${handlers ? ' data-handlers' : ''}>${PRELUDE}</script>` : '') +
    `<style>${css}</style>${html}` +
    (js ? `<script>${js}</script>` : '')
  );
}
