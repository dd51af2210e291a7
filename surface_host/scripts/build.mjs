// Builds the entries. Each file is self-contained; the core fetches what is beside it when it is needed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { alias } from './alias.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What the core loads later: the entry in the sources, and the file beside it. */
const LATER = { 'ui/index.js': 'surface-host-ui.mjs', 'apps/index.js': 'surface-host-apps.mjs', 'pack/index.js': 'surface-host-pack.mjs', 'standard/index.js': 'surface-host-standard.mjs', 'documents/index.js': 'surface-host-documents.mjs', 'render/index.js': 'surface-host-render.mjs' };
const laterOf = (id) => Object.entries(LATER).find(([entry]) => id.endsWith(entry))?.[1];
/** Folders of other people's packages that went into our files. */
const packages = new Set();
rmSync(`${root}/dist`, { recursive: true, force: true });

async function bundle(entry, fileName, { iife, define = {}, sourcemap = true } = {}) {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    define,
    resolve: { alias },
    build: {
      target: 'es2022',
      cssTarget: 'chrome123',
      outDir: 'dist',
      emptyOutDir: false,
      sourcemap,
      minify: 'terser',
      terserOptions: { module: true, ecma: 2020, compress: { passes: 3, unsafe_arrows: true }, format: { comments: false } },
      lib: { entry, fileName: () => fileName, formats: [iife ? 'iife' : 'es'], ...(iife ? { name: iife } : {}) },
      rolldownOptions: { external: (id) => laterOf(id) !== undefined, output: { paths: (id) => (laterOf(id) ? `./${laterOf(id)}` : id) } },
    },
  });
  for (const { moduleIds = [] } of [built].flat().flatMap(({ output }) => output)) {
    for (const id of moduleIds) {
      const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id) ?? [];
      if (folder) packages.add(folder);
    }
  }
  return readFileSync(`${root}/dist/${fileName}`);
}

const integrity = (bytes) => JSON.stringify(`sha384-${createHash('sha384').update(bytes).digest('base64')}`);

/** A script that stands in a document: what would end it early must not be in it. */
async function inline(entry, define) {
  const name = 'inline.js';
  const text = (await bundle(entry, name, { iife: 'Ostiary', define, sourcemap: false })).toString().trim();
  rmSync(`${root}/dist/${name}`);
  if (/<\/script|<!--/i.test(text)) throw new Error(`\`${entry}\` holds what ends a script`);
  return text;
}

const ui = await bundle('src/ui/index.ts', LATER['ui/index.js']);
const apps = await bundle('src/apps/index.ts', LATER['apps/index.js']);
const pack = await bundle('src/pack/index.ts', LATER['pack/index.js']);
await bundle('src/documents/index.ts', LATER['documents/index.js']);
await bundle('src/documents/render/index.ts', LATER['render/index.js']);
await bundle('src/auto.ts', 'surface-host.js', { iife: 'Ostiary', define: { UI_INTEGRITY: integrity(ui), APPS_INTEGRITY: integrity(apps), PACK_INTEGRITY: integrity(pack) } });
await bundle('src/index.ts', 'surface-host.mjs');
await bundle('src/testing/index.ts', 'testing.mjs');
await bundle('src/agent-tools.ts', 'agent-tools.mjs');
await bundle('src/genui/index.ts', 'surface-host-genui.mjs');
await bundle('src/standard/index.ts', LATER['standard/index.js']);

const prelude = await inline('src/sandbox/prelude.ts');
// The inner document's own script stands inside a string of the outer one's.
const outer = await inline('src/sandbox/outer.ts', { PRELUDE: JSON.stringify(prelude) });
const head = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Mini app</title>';
const style = '<style>html,body,iframe{display:block;box-sizing:border-box;width:100%;height:100%;margin:0;border:0;overflow:hidden}</style>';
writeFileSync(`${root}/dist/sandbox-frame.html`, `${head}${style}<body><script>${outer}</script></body>\n`);

/** What their licences ask us to carry along. */
const notices = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`\`${name}\` comes without its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
});
writeFileSync(`${root}/dist/LICENSES.txt`, notices.join(`\n${'-'.repeat(80)}\n\n`));
