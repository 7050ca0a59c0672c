// The projects of the test suite; each word is defined in test/README.md. `unit`, `contract` and
// `simulation` run in one process and use no network; `system` starts real processes.
import { defineConfig } from 'vitest/config';

interface Project {
  readonly name: string;
  readonly testTimeout: number;
  readonly include?: readonly string[];
  readonly maxWorkers?: number;
  readonly groupOrder?: number;
  readonly setupFiles?: readonly string[];
}

const project = ({ name, testTimeout, include = [`test/${name}/**/*.test.ts`], ...rest }: Project) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    testTimeout,
    hookTimeout: testTimeout,
    ...(rest.maxWorkers === undefined ? {} : { maxWorkers: rest.maxWorkers }),
    setupFiles: [...(rest.setupFiles ?? [])],
    sequence: { groupOrder: rest.groupOrder ?? 0 },
  },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    environment: 'node',
    pool: 'forks',
    globalSetup: ['test/support/postgres-setup.ts'],
    projects: [
      project({
        name: 'unit',
        testTimeout: 30_000,
        include: ['test/unit/**/*.test.ts', 'test/tidy.test.ts'],
        maxWorkers: 2,
      }),
      project({ name: 'contract', testTimeout: 60_000, maxWorkers: 2 }),
      project({ name: 'simulation', testTimeout: 120_000, maxWorkers: 2 }),
      // Real processes mostly wait for real time, so twice as many files as cores, and nothing else beside them.
      project({
        name: 'system',
        testTimeout: 300_000,
        maxWorkers: 4,
        groupOrder: 1,
      }),
      // Many vehicles at once take both cores, and judge by real time: nothing runs beside them.
      project({ name: 'road', testTimeout: 420_000, groupOrder: 2 }),
    ],
  },
});
