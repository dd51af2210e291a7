import { defineConfig } from 'vitest/config';
import { alias } from './scripts/alias.mjs';

export default defineConfig({
  resolve: { alias },
  // Inlined, so that the alias reaches the packages that import it.
  test: { environment: 'happy-dom', include: ['test/unit/**/*.test.ts'], css: true, server: { deps: { inline: [/mdast-util-from-markdown/, /micromark/] } } },
});
