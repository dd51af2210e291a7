// Builds the entries. Each file is self-contained; the core fetches the UI beside it.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const UI = 'surface-host-ui.mjs';
const isUi = (id) => id.endsWith('ui/index.js');
rmSync(`${root}/dist`, { recursive: true, force: true });

async function bundle(entry, fileName, { iife, define = {} } = {}) {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    define,
    build: {
      target: 'es2022',
      cssTarget: 'chrome123',
      outDir: 'dist',
      emptyOutDir: false,
      sourcemap: true,
      minify: 'terser',
      terserOptions: { module: true, ecma: 2020, compress: { passes: 3, unsafe_arrows: true }, format: { comments: false } },
      lib: { entry, fileName: () => fileName, formats: [iife ? 'iife' : 'es'], ...(iife ? { name: iife } : {}) },
      rolldownOptions: { external: isUi, output: { paths: (id) => (isUi(id) ? `./${UI}` : id) } },
    },
  });
  return readFileSync(`${root}/dist/${fileName}`);
}

const ui = await bundle('src/ui/index.ts', UI);
const integrity = `sha384-${createHash('sha384').update(ui).digest('base64')}`;
await bundle('src/auto.ts', 'surface-host.js', { iife: 'Ostiary', define: { UI_INTEGRITY: JSON.stringify(integrity) } });
await bundle('src/index.ts', 'surface-host.mjs');
await bundle('src/testing/index.ts', 'testing.mjs');
