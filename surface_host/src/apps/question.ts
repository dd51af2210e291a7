/**
 * The card that asks whether a mini app may come to the foreground: who wants it, what comes, what is left for it.
 *
 * It takes nothing away from the person: the page stays usable, silence is a no, and only a real click counts.
 */

import { button, el, foreign } from '../ui/dom.js';
import type { SayOf } from '../ui/words.js';
import type { Instances } from './instances.js';
import type { WorkspaceMessages } from './messages.js';

/** A click meant for the page must not land on a card that just appeared. */
const ARM_MS = 600;

export interface QuestionCard {
  readonly element: HTMLElement;
  sync(): void;
}

export function createQuestion(instances: Instances, say: SayOf<WorkspaceMessages>, onAnswer: (instance: string, yes: boolean) => void): QuestionCard {
  const who = el('p', { id: 'who' });
  const what = el('h2', { id: 'what' });
  const takes = el('p', { id: 'takes', class: 'dim' });
  let shown: string | undefined;
  let arming: ReturnType<typeof setTimeout> | undefined;
  const answer = (yes: boolean): void => {
    if (shown !== undefined) onAnswer(shown, yes);
  };
  const no = button(say('notNow'), 'no', () => answer(false));
  const yes = button(say('show'), 'yes', () => answer(true));
  const card = el(
    'section',
    { class: 'question', role: 'alertdialog', 'aria-modal': 'false', 'aria-labelledby': 'who what', 'aria-describedby': 'takes', hidden: true },
    who,
    what,
    takes,
    el('div', { class: 'buttons' }, no, yes),
  );
  // Told aloud though nothing takes the focus: an alert that a screen reader reads, with the way to it.
  const aloud = el('p', { class: 'aloud', role: 'alert' });
  const element = el('div', {}, card, aloud);

  const disarm = (): void => {
    clearTimeout(arming);
    yes.disabled = true;
    arming = setTimeout(() => {
      yes.disabled = false;
    }, ARM_MS);
  };

  return {
    element,
    sync() {
      const [question] = instances.questions();
      const instance = question && instances.get(question.instance);
      card.hidden = !instance;
      if (!question || !instance) {
        shown = undefined;
        aloud.textContent = '';
        return;
      }
      const { front } = instances;
      const former = front === undefined ? undefined : instances.get(front);
      takes.hidden = !former;
      takes.replaceChildren(former ? foreign(say('takesPlace', former.open.title)) : '');
      if (shown === question.instance) return;
      shown = question.instance;
      const asker = question.agent ? say('wantsIn', question.agent) : say('wantsInNobody');
      who.replaceChildren(foreign(asker));
      what.replaceChildren(foreign(instance.open.title));
      aloud.textContent = `${asker}: ${instance.open.title}`;
      disarm();
      // Who is busy on the page stays there; who is nowhere in it begins with the safe answer.
      if (document.activeElement === document.body || document.activeElement === null) no.focus({ preventScroll: true });
    },
  };
}
