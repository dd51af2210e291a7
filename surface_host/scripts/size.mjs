// The size gate: the script a page loads stays within its budget.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const CORE = 'surface-host.js';
const BUDGET = 12 * 1024;
const dist = fileURLToPath(new URL('../dist', import.meta.url));

let over = false;
for (const name of [CORE, 'surface-host.mjs', 'surface-host-ui.mjs', 'surface-host-apps.mjs', 'surface-host-pack.mjs', 'sandbox-frame.html', 'testing.mjs', 'agent-tools.mjs']) {
  const bytes = readFileSync(`${dist}/${name}`);
  const gz = gzipSync(bytes, { level: 9 }).length;
  const limit = name === CORE ? ` (budget ${BUDGET})` : '';
  console.log(`${name.padEnd(24)} ${String(bytes.length).padStart(7)} min ${String(gz).padStart(6)} gz${limit}`);
  if (name === CORE && gz > BUDGET) over = true;
}
if (over) {
  console.error(`\`${CORE}\` is over its budget of ${BUDGET} bytes`);
  process.exitCode = 1;
}
