import { afterEach, describe, expect, test, vi } from 'vitest';
import { fetchBundle, integrityOf, OpeningFailed } from '../../src/apps/bundle.js';
import { documentOf, findForbidden, POLICY } from '../../src/sandbox/document.js';
import type { AppOpenFrame } from '../../src/protocol/apps.js';

vi.stubGlobal('PRELUDE', '/* prelude */');

const PARTS = { html: '<p>é</p>', css: 'p{}', js: '1' };
/** What the other half makes of the same parts; its own test holds the value too. */
const NAMED = 'sha256-nUUSVJW/L1mQ5bPkiEHdIl2I8BommY20h2wiYiP5A9o=';

const opening = (integrity = NAMED): AppOpenFrame => ({ bundle: '/sandbox/v1/apps/0/main', integrity }) as AppOpenFrame;

const answered = (body: string, status = 200) => {
  const fetched = vi.fn(() => Promise.resolve(new Response(body, { status })));
  vi.stubGlobal('fetch', fetched);
  return fetched;
};
const load = (integrity?: string) => fetchBundle('https://gateway.example', opening(integrity), new AbortController().signal);
const failure = async (integrity?: string): Promise<string> => {
  try {
    await load(integrity);
  } catch (error) {
    return error instanceof OpeningFailed ? error.code : String(error);
  }
  return 'loaded';
};

afterEach(() => vi.unstubAllGlobals());

describe('a bundle', () => {
  test('has the digest the gateway gives it', async () => {
    expect(await integrityOf(PARTS)).toBe(NAMED);
  });

  test('is taken as the gateway named it, without cookies and from that address alone', async () => {
    const fetched = answered(JSON.stringify(PARTS));
    expect(await load()).toEqual(PARTS);
    const [address, options] = fetched.mock.calls[0] as unknown as [URL, RequestInit];
    expect(address.href).toBe('https://gateway.example/sandbox/v1/apps/0/main');
    expect(options).toMatchObject({ credentials: 'omit', redirect: 'error' });
  });

  test.each([
    ['other bytes', { ...PARTS, js: '2' }],
    ['bytes moved from one part to another', { html: '<p>é</p>p', css: '{}', js: '1' }],
  ])('of %s is not the one', async (_, parts) => {
    answered(JSON.stringify(parts));
    expect(await failure()).toBe('integrity');
  });

  test.each(['', '[]', '{"html":"a","css":"b"}', '{"html":1,"css":"","js":""}'])('that is `%s` is none', async (body) => {
    answered(body);
    expect(await failure()).toBe('not_loaded');
  });

  test('that was sent is held to its digest, and nothing is asked for', async () => {
    const fetched = answered('');
    const sent = { agent: 'Alice', ...PARTS };
    const take = (integrity: string) => fetchBundle('https://gateway.example', { bundle: '', integrity, sent } as unknown as AppOpenFrame, new AbortController().signal);
    expect(await take(NAMED)).toEqual(PARTS);
    await expect(take(`sha256-${'A'.repeat(43)}=`)).rejects.toMatchObject({ code: 'integrity' });
    expect(fetched).not.toHaveBeenCalled();
  });

  test('that is not there is not loaded', async () => {
    answered('not found', 404);
    expect(await failure()).toBe('not_loaded');
  });
});

describe('the inner document', () => {
  const assignment = { ...PARTS, handlers: false, profile: 'strict', lang: 'en' } as const;

  test('begins with its policy, whatever the bundle holds', () => {
    vi.stubGlobal('PRELUDE', '/* prelude */');
    const text = documentOf({ ...assignment, html: '<head><meta charset=utf-8></head>' });
    expect(text.startsWith(`<!doctype html><html lang="en"><meta http-equiv="Content-Security-Policy" content="${POLICY}; require-trusted-types-for`)).toBe(true);
    expect(text.indexOf('prelude')).toBeLessThan(text.indexOf('<style>'));
    expect(text.indexOf('<style>')).toBeLessThan(text.indexOf('<head>'));
  });

  test('has Trusted Types unless the profile leaves them out', () => {
    vi.stubGlobal('PRELUDE', '');
    expect(documentOf(assignment)).toContain("trusted-types 'none'");
    expect(documentOf({ ...assignment, profile: 'compat' })).not.toContain('trusted-types');
  });

  test('has no script where the bundle has none, and no language that is none', () => {
    vi.stubGlobal('PRELUDE', '1');
    expect(documentOf({ ...assignment, js: '' })).not.toContain('<script');
    expect(documentOf({ ...assignment, lang: '"><script>' })).toContain('<html><meta');
  });

  test.each([
    ['<iframe srcdoc="x"></iframe>', true],
    ['<template><iframe></iframe></template>', true],
    ['<template><template><base href="/"></template></template>', true],
    ['<svg><animate attributeName="HREF"></animate></svg>', true],
    ['<a target="_blank">x</a>', true],
    ['<form action="/x"></form>', true],
    ['<meta http-equiv="refresh">', true],
    ['<p>2 &lt; 3</p><svg><circle r="1"></circle></svg><form><input></form><a href="#x">x</a>', false],
  ])('%s: %s', (html, found) => {
    expect(findForbidden(html, 'strict')).toBe(found);
  });

  test('attributes that hold script are for the compat profile alone', () => {
    for (const html of ['<p onclick="1"></p>', '<template><svg><g ONLOAD="1"></g></svg></template>']) {
      expect(findForbidden(html, 'strict')).toBe(true);
      expect(findForbidden(html, 'compat')).toBe(false);
    }
  });
});
