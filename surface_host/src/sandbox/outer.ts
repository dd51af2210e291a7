/**
 * The script of the outer frame: it takes one port from the page around it, and runs one bundle in one inner document.
 *
 * After the port was handed over it hears no window message but one: the inner prelude's own port, the first thing that
 * document says. A second document in the inner frame ends everything.
 */

import { documentOf, findForbidden } from './document.js';
import type { Assignment, OuterWord } from './words.js';

function run(port: MessagePort, { html, css, js, handlers, profile, lang }: Assignment): void {
  const say = (word: OuterWord, ...transfer: Transferable[]): void => port.postMessage(word, transfer);
  if (findForbidden(html, profile)) {
    say('refused');
    return;
  }
  const frame = document.createElement('iframe');
  let loads = 0;
  let isConnected = false;

  addEventListener('message', (event) => {
    // Only the first word of the first document: by then none of the bundle's script has run.
    if (isConnected || event.source !== frame.contentWindow || !event.ports[0]) return;
    isConnected = true;
    say('port', event.ports[0]);
  });
  frame.addEventListener('load', () => {
    loads += 1;
    if (loads === 1) {
      say('loaded');
      return;
    }
    frame.remove();
    say('navigated');
  });
  frame.setAttribute('sandbox', js ? 'allow-scripts' : '');
  frame.title = document.title;
  frame.srcdoc = documentOf({ html, css, js, handlers, profile, lang });
  document.body.append(frame);
}

let isTaken = false;
addEventListener('message', (event) => {
  const [port] = event.ports;
  if (isTaken || event.source !== parent || !port) return;
  isTaken = true;
  port.onmessage = ({ data }: MessageEvent<string>) => {
    port.onmessage = null;
    run(port, JSON.parse(data) as Assignment);
  };
});
