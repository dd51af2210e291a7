// The size gate: what a page loads stays within its budget.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Most bytes a file may have, gzipped. */
const BUDGETS = { 'surface-host.js': 12 * 1024, 'surface-host-genui.mjs': 6 * 1024, 'surface-host-documents.mjs': 14 * 1024, 'surface-host-render.mjs': 40 * 1024 };
const dist = fileURLToPath(new URL('../dist', import.meta.url));

for (const name of ['surface-host.js', 'surface-host.mjs', 'surface-host-ui.mjs', 'surface-host-apps.mjs', 'surface-host-pack.mjs', 'surface-host-documents.mjs', 'surface-host-render.mjs', 'sandbox-frame.html', 'testing.mjs', 'agent-tools.mjs', 'surface-host-genui.mjs', 'surface-host-standard.mjs']) {
  const bytes = readFileSync(`${dist}/${name}`);
  const gz = gzipSync(bytes, { level: 9 }).length;
  const budget = BUDGETS[name];
  const limit = budget === undefined ? '' : ` (budget ${budget})`;
  console.log(`${name.padEnd(26)} ${String(bytes.length).padStart(7)} min ${String(gz).padStart(6)} gz${limit}`);
  if (gz <= (budget ?? gz)) continue;
  console.error(`\`${name}\` is over its budget of ${budget} bytes`);
  process.exitCode = 1;
}
