// The projects of the test suite; each word is defined in test/README.md. `unit`, `contract` and
// `simulation` run in one process and use no network; `system` starts real processes.
import { defineConfig } from 'vitest/config';

const project = (name: string, testTimeout: number, include = [`test/${name}/**/*.test.ts`]) => ({
  extends: true as const,
  test: { name, include, testTimeout, hookTimeout: testTimeout },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    environment: 'node',
    pool: 'forks',
    projects: [
      project('unit', 30_000, ['test/unit/**/*.test.ts', 'test/tidy.test.ts']),
      project('contract', 60_000),
      project('simulation', 120_000),
      project('system', 300_000),
    ],
  },
});
