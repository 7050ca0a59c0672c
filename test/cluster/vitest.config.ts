// Tests that start a whole cluster and take minutes: on demand only, with `npm run test:cluster`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    environment: 'node',
    pool: 'forks',
    globalSetup: ['src/words/compile.mjs', 'test/support/machine/temporary-folders.ts'],
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 1,
  },
});
