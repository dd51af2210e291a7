// Builds the three entries. Each file is self-contained: a page loads one of them and nothing else.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}/dist`, { recursive: true, force: true });

const entries = [
  { entry: 'src/auto.ts', fileName: 'surface-host.js', format: 'iife', name: 'Ostiary' },
  { entry: 'src/index.ts', fileName: 'surface-host.mjs', format: 'es' },
  { entry: 'src/testing/index.ts', fileName: 'testing.mjs', format: 'es' },
];

for (const { entry, fileName, format, name } of entries) {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      target: 'es2022',
      outDir: 'dist',
      emptyOutDir: false,
      sourcemap: true,
      lib: { entry, formats: [format], fileName: () => fileName, ...(name ? { name } : {}) },
      rolldownOptions: { output: { minify: true } },
    },
  });
}
