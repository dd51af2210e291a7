// Shows the documents the address asks for (`?only=loan,table`), or all of them. Tests reach them by `window.views`.
import { engine, judge, judgeValue } from '/dist/surface-host-documents.mjs';
import { mountDocument } from '/dist/surface-host-render.mjs';

const wanted = new URLSearchParams(location.search);
const names = wanted.get('only')?.split(',') ?? (await (await fetch('/documents')).json());
const main = document.querySelector('main');
const theme = wanted.get('theme');
if (theme) document.documentElement.dataset.theme = theme;
document.documentElement.dir = wanted.get('dir') ?? 'ltr';

/** What left the documents, and how to answer it. */
window.requests = [];
window.logged = [];
window.views = {};
window.judgeValue = judgeValue;

for (const name of names) {
  const { document: source } = judge(await (await fetch(`/documents/${name}.json`)).text());
  const section = document.createElement('section');
  const heading = document.createElement('h2');
  const box = document.createElement('div');
  heading.textContent = source.title;
  section.id = name;
  section.append(heading, box);
  main.append(section);
  const view = mountDocument(box, source, {
    engine,
    mode: 'open',
    locale: wanted.get('locale') ?? undefined,
    newId: () => crypto.randomUUID(),
    log: (...entry) => window.logged.push(entry),
    dispatch: (request) => new Promise((resolve, reject) => window.requests.push({ ...request, resolve, reject })),
  });
  if (theme) view.element.setAttribute('theme', theme);
  window.views[name] = { view, source };
}
document.documentElement.dataset.ready = '';
