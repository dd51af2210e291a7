import { afterEach, describe, expect, test } from 'vitest';
import { engine } from '../../src/documents/engine.js';
import { createScale } from '../../src/documents/render/chart/scale.js';
import { mountDocument, type DocumentView, type InvokeAnswer, type InvokeRequest, type MountOptions } from '../../src/documents/render/index.js';
import { createNumbers, parseNumber } from '../../src/documents/render/numbers.js';
import type { Action, Expr, Field, NodeType, PropsByType, UIDocument, UINode } from '../../src/documents/types.js';

// Layout, real focus and the content policy are the real browser's; here it is about what is kept, refused and sent.

type Sent = InvokeRequest & { answer(answer: InvokeAnswer): Promise<void>; lose(): Promise<void> };

let view: DocumentView | undefined;
let sent: Sent[] = [];
let logged: [string, string | undefined][] = [];

const settled = (): Promise<void> => new Promise((done) => setTimeout(done));

function mount(document: UIDocument | undefined, over: Partial<MountOptions> = {}): DocumentView {
  let ids = 0;
  view = mountDocument(window.document.body, document, {
    engine,
    mode: 'open',
    locale: 'en',
    newId: () => `request-${++ids}`,
    log: (...entry) => logged.push(entry),
    dispatch: (request) =>
      new Promise((resolve, reject) =>
        sent.push({
          ...request,
          answer: (answer) => (resolve(answer), settled()),
          lose: () => (reject(new TypeError('network')), settled()),
        }),
      ),
    ...over,
  });
  return view;
}

afterEach(() => {
  view?.destroy();
  view = undefined;
  sent = [];
  logged = [];
});

const node = <T extends NodeType>(type: T, id: string, props: PropsByType[T], children?: readonly UINode[], visible?: Expr): UINode =>
  ({ id, type, props, ...(children ? { children } : {}), ...(visible === undefined ? {} : { visible }) }) as UINode;
const stack = (...children: UINode[]): UINode => node('Stack', 'root', {}, children);
const documentOf = (root: UINode, state: Record<string, Field> = {}, actions: Record<string, Action> = {}, derived: Record<string, Expr> = {}): UIDocument => ({
  version: '1.1',
  title: 'A document',
  state,
  derived,
  actions,
  root,
});
const number = (over: Partial<Field & { type: 'number' }> = {}): Field => ({ type: 'number', default: 4, min: 0, max: 10, step: 0.5, ...over });

const root = (): ShadowRoot => view?.element.shadowRoot as ShadowRoot;
const box = (id: string): HTMLElement => root().querySelector(`[data-node="${id}"]`) as HTMLElement;
const find = <E extends Element = HTMLElement>(id: string, selector: string): E => {
  const found = box(id).querySelector<E>(selector);
  if (!found) throw new Error(`no ${selector} in ${id}`);
  return found;
};
const type = (id: string, text: string): void => {
  const control = find<HTMLInputElement>(id, 'input, textarea');
  control.value = text;
  control.dispatchEvent(new Event('input', { bubbles: true }));
};
const byPerson = (event: Event): Event => Object.defineProperty(event, 'isTrusted', { value: true });
const click = (id: string, selector = 'button'): boolean => find(id, selector).dispatchEvent(byPerson(new MouseEvent('click', { bubbles: true, cancelable: true })));
const reason = (id: string): string => find(id, '.reason').textContent ?? '';

const invoke: Action = { type: 'invoke', capability: 'note.save', args: {}, resultMap: { note: 'message' } };
const noted = (...children: UINode[]): UIDocument =>
  documentOf(stack(node('Input', 'note', { field: 'note', label: 'Note', kind: 'text', required: true }), node('Input', 'count', { field: 'count', label: 'Count', kind: 'number' }), node('Button', 'go', { label: 'Go', action: 'go' }), ...children), { note: { type: 'string', default: 'milk', maxLength: 8 }, count: number() }, { go: invoke, reset: { type: 'reset' }, clear: { type: 'set', field: 'note', value: '' } });

describe('state', () => {
  test('what is typed counts at once, in everything that uses it', () => {
    mount(documentOf(stack(node('Input', 'count', { field: 'count', label: 'Count', kind: 'number' }), node('Result', 'twice', { label: 'Twice', value: { op: 'mul', args: [{ ref: 'count' }, 2] }, decimals: 1 })), { count: number() }));
    type('count', '2.50');
    expect(find('twice', '.result-value').textContent).toBe('5.0');
    expect(view?.state).toEqual({ count: 2.5 });
    expect(find<HTMLInputElement>('count', 'input').value).toBe('2.50');
  });

  test.each([
    ['', 'Fill this in.'],
    ['1,5', 'Type a number, with a point before decimals.'],
    ['11', 'Choose a number from 0 to 10.'],
    ['1.2', 'Go in steps of 0.5, counted from 0.'],
    ['1e400', 'Type a number, with a point before decimals.'],
  ])('%j is refused with its reason, and the accepted value stays', (text, why) => {
    mount(noted());
    type('count', text);
    expect(view?.state['count']).toBe(4);
    const control = find<HTMLInputElement>('count', 'input');
    expect(control.value).toBe(text);
    expect(control.getAttribute('aria-invalid')).toBe('true');
    expect(root().getElementById(control.getAttribute('aria-describedby') ?? '')?.textContent).toBe(why);
    type('count', '5');
    expect(control.hasAttribute('aria-invalid')).toBe(false);
    expect(reason('count')).toBe('');
  });

  test('a text that is too long is refused by its length', () => {
    mount(noted());
    type('note', 'buttermilk');
    expect(reason('note')).toBe('Use at most 8 characters; there are 10.');
    expect(view?.state['note']).toBe('milk');
  });

  test('refused words outlast other changes, and give way to an action that writes the field', () => {
    mount(noted(node('Button', 'reset', { label: 'Reset', action: 'reset' })));
    type('count', 'many');
    type('note', 'bread');
    expect(find<HTMLInputElement>('count', 'input').value).toBe('many');
    click('reset');
    expect(find<HTMLInputElement>('count', 'input').value).toBe('4');
    expect(reason('count')).toBe('');
    expect(view?.state).toEqual({ note: 'milk', count: 4 });
  });

  test('a select takes the value itself, whatever its type', () => {
    mount(documentOf(stack(node('Select', 'size', { field: 'size', label: 'Size', options: [{ value: 1, label: 'One' }, { value: 2, label: 'Two' }] })), { size: number({ default: 1 }) }));
    const control = find<HTMLSelectElement>('size', 'select');
    control.selectedIndex = 1;
    control.dispatchEvent(new Event('change'));
    expect(view?.state).toEqual({ size: 2 });
  });

  test('a checkbox and a slider write their fields', () => {
    mount(documentOf(stack(node('Checkbox', 'on', { field: 'on', label: 'On' }), node('Slider', 'count', { field: 'count', label: 'Count' })), { on: { type: 'boolean', default: false }, count: number() }));
    const tick = find<HTMLInputElement>('on', 'input');
    tick.checked = true;
    tick.dispatchEvent(new Event('change'));
    type('count', '7.5');
    expect(view?.state).toEqual({ on: true, count: 7.5 });
    expect(find('count', 'input').getAttribute('aria-valuetext')).toBe('7.5');
  });
});

describe('what leaves', () => {
  test('a person\'s click sends action, id and accepted values; a script\'s click sends nothing', () => {
    mount(noted());
    find('go', 'button').click();
    expect(sent).toEqual([]);
    click('go');
    expect(sent).toMatchObject([{ actionId: 'go', requestId: 'request-1', values: { note: 'milk', count: 4 } }]);
  });

  test('a second click while the first is on its way sends nothing', () => {
    mount(noted());
    click('go');
    expect(find('go', 'button').getAttribute('aria-disabled')).toBe('true');
    click('go');
    expect(sent).toHaveLength(1);
  });

  test('after a network failure the same request goes again, with its id and its values', async () => {
    mount(noted());
    click('go');
    await sent[0]?.lose();
    type('note', 'bread');
    expect(find('go', '[role=status]').textContent).toContain('It did not get through.');
    click('go');
    expect(sent).toHaveLength(1);
    find('go', '.again').click();
    expect(sent).toHaveLength(1);
    click('go', '.again');
    expect(sent[1]).toMatchObject({ requestId: 'request-1', values: { note: 'milk' } });
    await sent[1]?.answer({ ok: true });
    click('go');
    expect(sent[2]).toMatchObject({ requestId: 'request-2', values: { note: 'bread' } });
  });

  test('a result goes where the document wants it, a failure nowhere', async () => {
    mount(noted());
    click('go');
    await sent[0]?.answer({ ok: false, result: { message: 'no' } });
    expect(view?.state['note']).toBe('milk');
    click('go');
    await sent[1]?.answer({ ok: true, result: { message: 'saved' } });
    expect(view?.state['note']).toBe('saved');
    expect(find<HTMLInputElement>('note', 'input').value).toBe('saved');
  });

  test('a result the field does not take changes nothing', async () => {
    mount(noted());
    click('go');
    await sent[0]?.answer({ ok: true, result: { message: 'far too long' } });
    expect(view?.state['note']).toBe('milk');
    expect(logged).toEqual([['document.out_of_domain', undefined]]);
  });

  test('nothing leaves while a box holds what was not accepted', () => {
    mount(noted());
    type('count', '99');
    click('go');
    expect(sent).toEqual([]);
    expect(root().activeElement).toBe(find('count', 'input'));
  });

  test.each(['streaming', 'cancelled'] as const)('nothing leaves a document that is %s', (phase) => {
    mount(noted(), { phase });
    expect(find('go', 'button').getAttribute('aria-disabled')).toBe('true');
    click('go');
    expect(sent).toEqual([]);
    view?.show(noted(), 'complete');
    click('go');
    expect(sent).toHaveLength(1);
  });

  test('a form goes off only when what it needs is filled in, and not by a script', () => {
    const form = node('Form', 'form', { submit: 'go', submitLabel: 'Send' }, [node('Input', 'note', { field: 'note', label: 'Note', kind: 'text', required: true })]);
    mount(documentOf(stack(form), { note: { type: 'string', default: '' } }, { go: invoke }));
    click('form');
    expect(sent).toEqual([]);
    expect(reason('note')).toBe('Fill this in.');
    type('note', 'milk');
    const submit = byPerson(new Event('submit', { cancelable: true }));
    find('form', 'form').dispatchEvent(submit);
    expect(submit.defaultPrevented).toBe(true);
    expect(sent).toEqual([]);
    click('form');
    expect(sent).toHaveLength(1);
  });

  test('a disabled button does nothing', () => {
    mount(documentOf(stack(node('Button', 'go', { label: 'Go', action: 'go', disabled: true })), {}, { go: { ...invoke, resultMap: {} } as Action }));
    click('go');
    expect(sent).toEqual([]);
  });

  test('an answer for a document that is gone changes nothing', async () => {
    mount(noted());
    click('go');
    const [request] = sent;
    view?.destroy();
    await request?.answer({ ok: true, result: { message: 'late' } });
    expect(view?.state['note']).toBe('milk');
  });
});

describe('faults', () => {
  const divided = documentOf(
    stack(node('Input', 'count', { field: 'count', label: 'Count', kind: 'number' }), node('Result', 'share', { label: 'Share', value: { ref: 'share' }, decimals: 0 }), node('Text', 'words', { text: 'still here' }), node('Button', 'fix', { label: 'Fix', action: 'fix' })),
    { count: number() },
    { fix: { type: 'set', field: 'count', value: 2 } },
    { share: { op: 'div', args: [10, { ref: 'count' }] } },
  );

  test('a value that cannot be had is felt by its node alone, and comes back with the state', () => {
    mount(divided);
    const element = find('share', '.result');
    type('count', '0');
    type('count', '0.0');
    expect(find('share', '.fault').textContent).toBe('This part cannot be shown. (document.division_by_zero)');
    expect(element.hidden || element.hasAttribute('hidden')).toBe(true);
    expect(find('words', '.text').textContent).toBe('still here');
    expect(logged).toEqual([['document.division_by_zero', 'share']]);
    click('fix');
    expect(find('share', '.result')).toBe(element);
    expect(find('share', '.result-value').textContent).toBe('5');
    expect(find('share', '.fault').hidden).toBe(true);
  });

  test('what is not visible asks for no value', () => {
    mount(documentOf(stack(node('Result', 'share', { label: 'Share', value: { op: 'div', args: [1, 0] }, decimals: 0 }, undefined, false))));
    expect(box('share').hidden).toBe(true);
    expect(logged).toEqual([]);
  });

  test.each([[[-1, 2]], [[0, 0]]])('a pie of %j has no shares', (values) => {
    mount(documentOf(stack(node('Chart', 'pie', { kind: 'pie', data: values.map((value, at) => ({ id: `p${at}`, label: 'x', value })) }))));
    expect(logged).toHaveLength(1);
    expect(find('pie', '.fault').hidden).toBe(false);
  });
});

describe('patches', () => {
  const written = (...children: UINode[]): UIDocument => documentOf(stack(...children), { note: { type: 'string', default: '', maxLength: 8 } });
  const note = node('Input', 'note', { field: 'note', label: 'Note', kind: 'text' });

  test('keep elements, focus, selection and words, accepted or not', () => {
    mount(written(note), { phase: 'streaming' });
    const control = find<HTMLInputElement>('note', 'input');
    control.focus();
    type('note', 'buttermilk');
    control.setSelectionRange(2, 5);
    view?.show(written(node('Text', 'before', { text: 'First' }), note, node('Text', 'after', { text: 'Last' })), 'streaming');
    expect(find('note', 'input')).toBe(control);
    expect(root().activeElement).toBe(control);
    expect([control.selectionStart, control.selectionEnd, control.value]).toEqual([2, 5, 'buttermilk']);
    type('note', 'milk');
    view?.show(written(note), 'complete');
    expect(view?.state).toEqual({ note: 'milk' });
    expect([...root().querySelectorAll('.stack > .node')].map((child) => (child as HTMLElement).dataset['node'])).toEqual(['note']);
  });

  test('keep the tab a person opened, until it is gone', () => {
    const tabs = (...ids: string[]): UIDocument => documentOf(node('Tabs', 'tabs', { tabs: ids.map((id) => ({ id, label: id })) }, ids.map((id) => node('Text', `t-${id}`, { text: id }))));
    mount(tabs('a', 'b'));
    find('tabs', '[role=tab]:nth-child(2)').click();
    view?.show(tabs('a', 'b', 'c'), 'streaming');
    expect(find('tabs', '[aria-selected=true]').textContent).toBe('b');
    view?.show(tabs('a', 'c'), 'streaming');
    expect(find('tabs', '[aria-selected=true]').textContent).toBe('a');
  });

  test('a document that is still to come says so, and then stands there', () => {
    mount(undefined);
    expect(root().querySelector('.phase')?.textContent).toBe('Being prepared…');
    view?.show(written(note), 'complete');
    expect(root().querySelector('.phase')?.textContent).toBe('');
    expect(box('note')).not.toBeNull();
  });
});

describe('tabs', () => {
  test('arrows go round, Home and End to the ends, one stop for the Tab key', () => {
    mount(documentOf(node('Tabs', 'tabs', { tabs: ['a', 'b', 'c'].map((id) => ({ id, label: id })) }, ['a', 'b', 'c'].map((id) => node('Text', `t-${id}`, { text: id })))));
    const press = (key: string): string => {
      find('tabs', '[aria-selected=true]').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      return find('tabs', '[aria-selected=true]').textContent ?? '';
    };
    expect(['ArrowLeft', 'ArrowRight', 'ArrowRight', 'End', 'Home'].map(press)).toEqual(['c', 'a', 'b', 'c', 'a']);
    expect([...box('tabs').querySelectorAll<HTMLElement>('[role=tab]')].map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1]);
    expect([...box('tabs').querySelectorAll<HTMLElement>('[role=tabpanel]')].map(({ hidden }) => hidden)).toEqual([false, true, true]);
  });

  test('a refused control on a tab that is not open brings its tab to the front', () => {
    const second = stack(node('Input', 'count', { field: 'count', label: 'Count', kind: 'number' }));
    mount(documentOf(node('Stack', 'all', {}, [node('Tabs', 'tabs', { tabs: [{ id: 'a', label: 'a' }, { id: 'b', label: 'b' }] }, [node('Text', 't', { text: 'x' }), second]), node('Button', 'go', { label: 'Go', action: 'go' })]), { count: number() }, { go: { ...invoke, resultMap: {} } as Action }));
    type('count', 'x');
    click('go');
    expect(find('tabs', '[aria-selected=true]').textContent).toBe('b');
    expect(sent).toEqual([]);
  });
});

describe('words', () => {
  const drawn = (text: string): HTMLElement => {
    mount(documentOf(node('Markdown', 'md', { text })));
    return find('md', '.markdown');
  };
  const tags = (element: Element): string[] => [...new Set([...element.querySelectorAll('*')].map(({ localName }) => localName))].sort();

  test('markdown becomes the elements of the table and no others', () => {
    const element = drawn('# One\n\n*a* **b** `c`\n\n- d\n\n1. e\n\n> f\n\n```\ng\n```\n\n---\nh  \ni');
    expect(tags(element)).toEqual(['blockquote', 'br', 'code', 'div', 'em', 'hr', 'li', 'ol', 'p', 'pre', 'strong', 'ul']);
  });

  test('HTML is the characters it is written with', () => {
    const element = drawn('<iframe srcdoc="<script>parent.hit=1</script>"></iframe>\n\nand <img src=x onerror=alert(1)> inside\n\n<svg><style><img src=y></style></svg>');
    expect(tags(element)).toEqual(['p']);
    expect(element.textContent).toContain('<iframe srcdoc="<script>parent.hit=1</script>"></iframe>');
    expect(element.textContent).toContain('<img src=x onerror=alert(1)>');
  });

  test('a link is its words, a picture its description; no address is kept', () => {
    const element = drawn('[words](javascript:alert(1)) ![a cat](https://example.test/cat.png) [ref] <https://example.test/auto>\n\n[ref]: https://example.test/ref "title"');
    expect(element.textContent).toBe('words a cat ref https://example.test/auto');
    expect([...element.querySelectorAll('*')].flatMap((child) => child.getAttributeNames()).sort()).toEqual(['dir']);
  });

  test('names of characters are read without a parser of HTML', () => {
    expect(drawn('&mdash; &alpha; &amp; &lt;b&gt; &nosuch;').textContent).toBe('— α & <b> &nosuch;');
  });

  test('a text that nests without end is cut, not followed', () => {
    expect(drawn('>'.repeat(2_000) + ' deep').querySelectorAll('blockquote')).toHaveLength(32);
    expect(logged).toEqual([]);
  });

  test('props are never attributes', () => {
    const props = { text: 'x', level: 1, onclick: 'alert(1)', style: 'color:red', innerHTML: '<b>' } as unknown as PropsByType['Heading'];
    mount(documentOf(node('Heading', 'h', props)));
    expect(find('h', '.heading').getAttributeNames().sort()).toEqual(['aria-level', 'class', 'data-level', 'dir', 'role']);
    expect(box('h').querySelector('b')).toBeNull();
  });

  test('Chinese where the page is Chinese', () => {
    mount(noted(), { locale: 'zh-CN' });
    type('count', 'x');
    expect(reason('count')).toBe('请输入数字，小数点使用“.”。');
  });
});

describe('data', () => {
  test('a chart is a named picture and a table of its values', () => {
    mount(documentOf(node('Chart', 'c', { kind: 'bar', title: 'Rain', data: [{ id: 'a', label: 'Jan', value: 12.5 }, { id: 'b', label: 'Feb', value: { op: 'mul', args: [2, 3] } }] })));
    const names = (find('c', 'svg').getAttribute('aria-labelledby') ?? '').split(' ').map((id) => root().getElementById(id)?.textContent);
    expect(names).toEqual(['Rain', 'Bar chart with 2 values, from 6 to 12.5']);
    expect([...box('c').querySelectorAll('tbody tr')].map(({ textContent }) => textContent)).toEqual(['Jan12.5', 'Feb6']);
  });

  test('a table shows decimals, words for truth, and nothing where there is nothing', () => {
    mount(documentOf(stack(node('Table', 't', { columns: [{ key: 'a', label: 'A', decimals: 2, align: 'end' }, { key: 'b', label: 'B' }], rows: [{ a: 2.345, b: true }] }), node('Table', 'e', { columns: [{ key: 'a', label: 'A' }], rows: [] }))));
    expect([...box('t').querySelectorAll('td')].map(({ textContent }) => textContent)).toEqual(['2.35', 'Yes']);
    expect(find('e', '.nothing').hidden).toBe(false);
  });

  test.each([
    [[3, 97], true, [0, 20, 40, 60, 80, 100]],
    [[-14.8, 27.5], true, [-20, -10, 0, 10, 20, 30]],
    [[0.1, 0.3], true, [0, 0.1, 0.2, 0.3]],
    [[5, 5], true, [0, 1, 2, 3, 4, 5]],
    [[0, 0], true, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [[1000, 1010], false, [1000, 1002, 1004, 1006, 1008, 1010]],
    [[-1e15, 1e15], true, [-1e15, -5e14, 0, 5e14, 1e15]],
  ])('an axis for %j counts in round steps', (values, zero, ticks) => {
    expect(createScale(values, 5, zero).ticks).toEqual(ticks);
  });

  test('numbers are read strictly and shown by the locale', () => {
    expect(['1', ' -2.5 ', '.5', '1e3', '0x10', '1,5', '', '١', 'Infinity'].map(parseNumber)).toEqual([1, -2.5, 0.5, 1000, undefined, undefined, undefined, undefined, undefined]);
    const german = createNumbers('de', { yes: 'ja', no: 'nein' });
    expect([german.format(1234.5, 2), german.format(-0), german.format(0.125, 2)]).toEqual(['1.234,50', '0', '0,13']);
  });
});
