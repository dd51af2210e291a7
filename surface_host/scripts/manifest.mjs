// Writes dist/manifest.json: what a page may pin with `integrity`.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const files = {};
for (const name of ['surface-host.js', 'surface-host.mjs', 'surface-host-ui.mjs', 'surface-host-apps.mjs', 'surface-host-pack.mjs', 'surface-host-documents.mjs', 'surface-host-render.mjs', 'sandbox-frame.html', 'testing.mjs', 'agent-tools.mjs', 'surface-host-genui.mjs', 'surface-host-standard.mjs']) {
  const bytes = readFileSync(`${dist}/${name}`);
  const sri = `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  files[name] = { path: name, sri, bytes: bytes.length };
  console.log(`${name.padEnd(26)} ${sri}`);
}
writeFileSync(`${dist}/manifest.json`, JSON.stringify({ files }, null, 2) + '\n');
