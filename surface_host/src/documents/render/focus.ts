/** Keeps a person where they are while the elements around them change. */

type Field = HTMLInputElement | HTMLTextAreaElement;

const selectionOf = (element: Element): [number, number, Field['selectionDirection']] | undefined => {
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return undefined;
  const { selectionStart, selectionEnd, selectionDirection } = element;
  return selectionStart === null || selectionEnd === null ? undefined : [selectionStart, selectionEnd, selectionDirection];
};

/** Runs `change` and brings focus and selection back; where their element is gone, `home` takes the focus. */
export function keepFocus(root: ShadowRoot, home: HTMLElement, change: () => void): void {
  const before = root.activeElement;
  const selection = before ? selectionOf(before) : undefined;
  change();
  if (!before || root.activeElement === before) return;
  if (!(before instanceof HTMLElement && before.isConnected && before.checkVisibility?.() !== false)) {
    home.focus({ preventScroll: true });
    return;
  }
  before.focus({ preventScroll: true });
  if (selection) (before as Field).setSelectionRange(...selection as [number, number, 'forward']);
}
