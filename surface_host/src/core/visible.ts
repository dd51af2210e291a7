/**
 * Text as it will be read: every character that hides, reorders or breaks a line becomes a mark.
 * Letters of any script and emoji sequences stay as they are; nothing is removed.
 */

export interface Segment {
  readonly text: string;
  /** True where `text` is our spelling of a character the reader could not see. */
  readonly mark: boolean;
}

const EMOJI = String.raw`\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?`;
// Whole emoji sequences first, so that their joiners are not taken for hidden characters.
const KEEP = String.raw`${EMOJI}(?:\u200d${EMOJI})*|[0-9#*]\ufe0f?\u20e3`;
const HIDDEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?![ \u3000])\p{Zs}`;
const SCAN = new RegExp(`(${KEEP})|(${HIDDEN})|(^ +| +$)`, 'gu');

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

function spell(character: string): string {
  const known = SHORT[character];
  if (known) return known;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : '\\u' + hex.padStart(4, '0');
}

export interface VisibleOptions {
  /** Line feeds are layout of ours (indented JSON), not part of a value. */
  readonly layout?: boolean;
  /** Break the line after a marked line feed; only inside a block of its own. */
  readonly lines?: boolean;
}

export function visible(text: string, options: VisibleOptions = {}): Segment[] {
  const segments: Segment[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain) segments.push({ text: plain, mark: false });
    plain = '';
  };
  let end = 0;
  for (const match of text.matchAll(SCAN)) {
    plain += text.slice(end, match.index);
    end = match.index + match[0].length;
    const [whole, keep, hidden, edge] = match;
    if (keep !== undefined || (options.layout && (hidden === '\n' || edge !== undefined))) {
      plain += whole;
      continue;
    }
    flush();
    segments.push({ text: hidden === undefined ? '\u2423'.repeat(whole.length) : spell(hidden), mark: true });
    if (hidden === '\n' && options.lines) plain = '\n';
  }
  plain += text.slice(end);
  flush();
  return segments;
}
