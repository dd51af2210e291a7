import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { visible } from '../../src/core/index.js';

const marks = (text: string): string[] => visible(text).filter(({ mark }) => mark).map((segment) => segment.text);
const plain = (text: string): string => visible(text).map((segment) => segment.text).join('');

describe('visible text', () => {
  test.each<[string, string[]]>([
    ['/home/u/invoice_\u202efdp.exe', ['\\u202e']],
    ['admin\u200b@example.test', ['\\u200b']],
    ['\u2066abc שלום\u2069 \ufeffx', ['\\u2066', '\\u2069', '\\ufeff']],
    ['line\nbreak\ttab\r', ['\\n', '\\t', '\\r']],
    ['\u0000\u001b[31m\u007f\u0085', ['\\u0000', '\\u001b', '\\u007f', '\\u0085']],
    ['a\u2028b\u2029c', ['\\u2028', '\\u2029']],
    ['tag\u{e0041}', ['\\u{e0041}']],
    ['filler\u3164', ['\\u3164']],
    ['no\u00a0break', ['\\u00a0']],
    ['half\ud800', ['\\ud800']],
    ['  two at the edge ', ['␣␣', '␣']],
    ['ad\u200dmin', ['\\u200d']],
  ])('marks what hides in %j', (text, expected) => {
    expect(marks(text)).toEqual(expected);
  });

  test.each(['مرحبا بالعالم', 'שלום עולם', '你好，世界　空格', '👨‍👩‍👧‍👦 family', '🏳️‍🌈 1️⃣ ❤️', '👩🏽‍💻', 'naïve café', '<b>**x**</b>'])(
    'leaves %s as it is',
    (text) => {
      expect(visible(text)).toEqual([{ text, mark: false }]);
    },
  );

  test('layout keeps the line feeds of our own indentation', () => {
    expect(visible('{\n  "a": "\u202e"\n}', { layout: true }).map(({ text }) => text)).toEqual(['{\n  "a": "', '\\u202e', '"\n}']);
  });

  test('a marked line feed may break the line after its mark', () => {
    expect(visible('a\nb', { lines: true }).map(({ text }) => text)).toEqual(['a', '\\n', '\nb']);
  });

  test('nothing invisible survives, and nothing visible is lost', () => {
    const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u;
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom('\u202e', '\u200b', '\n', 'a', '\u2066')) }), (text) => {
        expect(plain(text)).not.toMatch(hidden);
        const kept = visible(text).filter(({ mark }) => !mark).map((segment) => segment.text).join('');
        // What is kept is the text in its order, less what was marked.
        let at = 0;
        for (const unit of kept) {
          at = text.indexOf(unit, at);
          expect(at).toBeGreaterThanOrEqual(0);
          at += unit.length;
        }
      }),
    );
  });
});
