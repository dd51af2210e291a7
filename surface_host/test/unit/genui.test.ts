import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ActionGroup,
  GenuiRenderer,
  MessageContent,
  registerGenuiComponent,
  resolveGenuiComponent,
  unregisterGenuiComponent,
  WeatherCard,
  type GenuiElement,
  type OstiaryGenui,
  type ToolCall,
} from '../../src/genui/index.js';

class Probe extends HTMLElement implements GenuiElement {
  props: Readonly<Record<string, unknown>> = {};
}
class Broken extends HTMLElement implements GenuiElement {
  get props(): Readonly<Record<string, unknown>> {
    return {};
  }
  set props(_: Readonly<Record<string, unknown>>) {
    throw new Error('no');
  }
}
customElements.define('test-probe', Probe);
customElements.define('test-broken', Broken);

const sunny = { type: 'weather-card', props: { city: 'Beijing', temperatureC: '22', description: 'Sunny', link: 'javascript:alert(1)' } };

beforeEach(() => {
  document.documentElement.lang = 'en';
  registerGenuiComponent('weather-card', WeatherCard);
  registerGenuiComponent('action-group', ActionGroup);
});
afterEach(() => {
  for (const type of ['weather-card', 'action-group', 'probe', 'broken']) unregisterGenuiComponent(type);
  document.body.replaceChildren();
});

function shown(schema: unknown): OstiaryGenui {
  const element = new GenuiRenderer() as OstiaryGenui;
  element.schema = schema;
  document.body.append(element);
  return element;
}
const drawn = (element: OstiaryGenui): GenuiElement | null => element.shadowRoot!.querySelector<GenuiElement>('.stage > *');

describe('the registry', () => {
  test('resolves what was registered, until it is taken off', () => {
    expect(resolveGenuiComponent('weather-card')).toBe(WeatherCard);
    unregisterGenuiComponent('weather-card');
    expect(resolveGenuiComponent('weather-card')).toBeUndefined();
  });

  test.each(['', ' ', '\t\n'])('ignores the blank type %j', (type) => {
    registerGenuiComponent(type, Probe);
    expect(resolveGenuiComponent(type)).toBeUndefined();
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('knows no `%s` that nobody registered', (type) => {
    expect(resolveGenuiComponent(type)).toBeUndefined();
    expect(shown({ type, props: {} }).reason).toBe('unregistered');
  });
});

describe('<ostiary-genui>', () => {
  test('draws a registered type with sanitised props', () => {
    registerGenuiComponent('probe', Probe);
    const element = shown({ ...sunny, type: 'probe' });
    expect(drawn(element)?.props).toEqual({ city: 'Beijing', temperatureC: 22, description: 'Sunny' });
    expect(Object.isFrozen(drawn(element)?.props)).toBe(true);
    expect(element.reason).toBeNull();
    expect(element.hint).toBe('');
  });

  test('says in two ways that there is nothing to draw', () => {
    expect(shown({ type: 'x' }).reason).toBe('illegal');
    expect(shown({ type: 'x' }).hint).toMatch(/no interface description/);
    const unregistered = shown({ type: 'chart', props: {} });
    expect(unregistered.reason).toBe('unregistered');
    expect(unregistered.hint).toContain('`chart`');
  });

  test('a fallback of the page stands in the place of the hint', () => {
    const element = shown({ type: 'chart', props: {} });
    const slot = element.shadowRoot!.querySelector('slot');
    expect(slot?.name).toBe('fallback');
    expect(slot?.textContent).toContain('chart');
  });

  test('a component that throws is a fallback too', () => {
    registerGenuiComponent('broken', Broken);
    const element = shown({ type: 'broken', props: {} });
    expect(element.reason).toBe('broken');
    expect(drawn(element)).toBeNull();
  });

  test('a type that is registered later is drawn then, and gone when it is taken off', () => {
    const element = shown({ type: 'probe', props: {} });
    expect(element.reason).toBe('unregistered');
    registerGenuiComponent('probe', Probe);
    expect(element.reason).toBeNull();
    unregisterGenuiComponent('probe');
    expect(element.reason).toBe('unregistered');
  });

  test('new props of one type keep the element', () => {
    registerGenuiComponent('probe', Probe);
    const element = shown({ type: 'probe', props: { n: 1 } });
    const first = drawn(element);
    element.schema = { type: 'probe', props: { n: 2 } };
    expect(drawn(element)).toBe(first);
    expect(first?.props).toEqual({ n: 2 });
  });

  test('events of the component are heard on it, once, whether or not they leave their root', () => {
    registerGenuiComponent('probe', Probe);
    const element = shown({ type: 'probe', props: {} });
    const heard: unknown[] = [];
    element.addEventListener('picked', (event) => heard.push((event as CustomEvent).detail));
    drawn(element)?.dispatchEvent(new CustomEvent('picked', { detail: 1 }));
    drawn(element)?.dispatchEvent(new CustomEvent('picked', { detail: 2, bubbles: true, composed: true }));
    expect(heard).toEqual([1, 2]);
  });
});

describe('the two components', () => {
  test('a weather card tells its city', () => {
    const element = shown(sunny);
    const card = drawn(element)!;
    expect(card.shadowRoot!.textContent).toContain('Beijing');
    expect(card.shadowRoot!.textContent).toContain('22 °C');
    const heard: unknown[] = [];
    element.addEventListener('detail', (event) => heard.push((event as CustomEvent).detail));
    card.shadowRoot!.querySelector('button')!.click();
    expect(heard).toEqual(['Beijing']);
  });

  test('an action group tells the id of the plan, as a text though it was narrowed', () => {
    const plans = [{ id: 'plan-1', title: 'A', summary: 'a' }, { id: '7', title: '<b>B</b>' }, { title: 'no id' }, null, 'x'];
    const element = shown({ type: 'action-group', props: { plans } });
    const root = drawn(element)!.shadowRoot!;
    expect(root.querySelectorAll('li')).toHaveLength(2);
    expect(root.querySelector('b')).toBeNull();
    const heard: unknown[] = [];
    element.addEventListener('adopt', (event) => heard.push((event as CustomEvent).detail));
    for (const button of root.querySelectorAll('button')) button.click();
    expect(heard).toEqual(['plan-1', '7']);
  });

  test.each([{}, { city: {}, temperatureC: 'hot', description: [] }, { plans: {} }, { plans: [{ id: {} }] }])('odd props %j make neither fail', (props) => {
    expect(shown({ type: 'weather-card', props }).reason).toBeNull();
    expect(shown({ type: 'action-group', props }).reason).toBeNull();
  });
});

describe('<ostiary-message>', () => {
  const message = (toolCalls?: readonly ToolCall[]): InstanceType<typeof MessageContent> => {
    const element = new MessageContent();
    element.content = 'It is sunny.';
    if (toolCalls) element.toolCalls = toolCalls;
    document.body.append(element);
    return element;
  };
  const call = (more: Partial<ToolCall>): ToolCall => ({ id: '1', name: 'weather.today', status: 'completed', ...more });

  test('without tool calls it is its text and nothing else', () => {
    expect(message().shadowRoot!.textContent).toBe('It is sunny.');
    expect(message().shadowRoot!.querySelector('section')).toBeNull();
    expect(message([]).shadowRoot!.querySelector('section')).toBeNull();
  });

  test('what a completed call looks like stands before the text', () => {
    const root = message([call({ result: { city: 'Beijing', ui: sunny } })]).shadowRoot!;
    expect(root.firstElementChild?.querySelector('ostiary-genui')).not.toBeNull();
    expect((root.querySelector('ostiary-genui') as OstiaryGenui).reason).toBeNull();
    expect(root.lastElementChild?.textContent).toBe('It is sunny.');
  });

  test.each<[string, ToolCall]>([
    ['failed', call({ status: 'failed', result: { ui: sunny } })],
    ['of a status nobody knows', call({ status: 'pending', result: { ui: sunny } })],
    ['without ui', call({ result: { city: 'Beijing' } })],
    ['without a result', call({})],
    ['with a result that is a text', call({ result: 'ui' })],
    ['with ui on its prototype', call({ result: Object.create({ ui: sunny }) as unknown })],
  ])('a call that is %s is a panel', (_, one) => {
    const root = message([one]).shadowRoot!;
    expect(root.querySelector('details')?.textContent).toContain('weather.today');
    expect(root.querySelector('ostiary-genui')).toBeNull();
  });

  test.each([
    ['illegal', { type: 'x' }, /no interface description/],
    ['unregistered', { type: 'chart', props: {} }, /`chart`/],
  ])('a schema that is %s is a panel that says so', (reason, ui, hint) => {
    const root = message([call({ result: { ui } })]).shadowRoot!;
    const genui = root.querySelector('ostiary-genui') as OstiaryGenui;
    expect(genui.reason).toBe(reason);
    expect(genui.querySelector('details[slot=fallback]')?.textContent).toMatch(hint);
  });

  test('a call under way shows that it is, and nothing of a result', () => {
    const root = message([call({ status: 'calling', result: { ui: sunny } })]).shadowRoot!;
    expect(root.querySelector('[role=status]')?.textContent).toContain('weather.today');
    expect(root.querySelector('ostiary-genui, details')).toBeNull();
  });

  test('a call that completes becomes its picture, and stays the same element after that', () => {
    const element = message([call({ status: 'calling' })]);
    element.toolCalls = [call({ result: { ui: sunny } })];
    const first = element.shadowRoot!.querySelector('ostiary-genui');
    element.toolCalls = [call({ result: { ui: sunny } }), call({ id: '2', status: 'calling' })];
    expect(element.shadowRoot!.querySelector('ostiary-genui')).toBe(first);
    element.toolCalls = [];
    expect(element.shadowRoot!.querySelector('section')).toBeNull();
  });
});
