// The projects of the test suite; each word is defined in test/README.md. `npm test` runs unit, contract, simulation, replacing and chain,
// `npm run test:system` runs system, `npm run test:nightly` runs all. A deadline here ends a hang; none says how fast a machine
// must be.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

interface Project {
  readonly name: string;
  readonly testTimeout: number;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly maxWorkers?: number;
  readonly isolate?: boolean;
  readonly groupOrder?: number;
}

/** Files that take one to three minutes, of which some are short texts: one that began last would be waited for alone. */
const longFiles =
  /\/(base-maps|chain|clicker|deb|deb-broker|doctor-relays|fuel-calibrate|garage|readme-simulator|simulator-commands|simulator-truth|update)\.test\.ts$/;

/** As usual, larger files first; but the long ones before all others. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => longFiles.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** The real chain that `npm test` runs; it is a system test in all else. */
const chain = 'test/system/chain.test.ts';

/**
 * Files that replace a module of the product (`vi.mock`), each in a process of its own: files of one process share their modules, so the
 * others would run with the replacement, or these without it.
 */
const replacing = ['test/simulation/guard-alone.test.ts'];

/** Of the system tests, those that have not yet passed `npm run test:stress` ten times of ten, or need containers: nightly only. */
const nightly = `
  apt-repository arm64 backup-places bench-panel broker-files broker-start bus-python-can ca-cli chart client cluster-auth cluster-ingress deb deb-broker demo disk-full doctor-relays
  driver-reader enrolment event-limits feed-home-assistant feed-kill features-deletion foreign-tracker module-deletion
  fuel-calibrate hardware-bench image http-browser http-localhost launcher log-lost modbus-pymodbus mqtt-suites notify-tls oidc
  openapi-tools operation-exercises operations operator-page readme-broker
  power-loss report-mail-kill readme-api readme-desk readme-simulator simulator-approvals simulator-commands simulator-ctl simulator-empty
  simulator-facts simulator-link simulator-metrics simulator-orphans simulator-processes simulator-report simulator-run
  simulator-target simulator-truth site storage-disk storage-faults storage-wear vehicle-bus
`
  .trim()
  .split(/\s+/)
  .map((name) => `test/system/${name}.test.ts`);

/** As many files at once as keep two cores busy when some of them wait. */
const quickWorkers = 3;

const project = ({ name, testTimeout, include = [`test/${name}/**/*.test.ts`], ...rest }: Project) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: [...(rest.exclude ?? [])],
    testTimeout,
    hookTimeout: testTimeout,
    ...(rest.maxWorkers === undefined ? {} : { maxWorkers: rest.maxWorkers }),
    ...(rest.isolate === undefined ? {} : { isolate: rest.isolate }),
    setupFiles: ['test/support/machine/run-seed.ts'],
    sequence: { groupOrder: rest.groupOrder ?? 0 },
  },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    environment: 'node',
    pool: 'forks',
    // What is waited for may take long on a busy machine; the default is 1 s.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongFirst },
    // Of the tests of a file that say that they may run at once: they mostly wait for real time.
    maxConcurrency: 3,
    globalSetup: [
      'src/words/compile.mjs',
      'test/support/machine/temporary-folders.ts',
      'test/support/database/postgres-setup.ts',
    ],
    projects: [
      project({
        name: 'unit',
        testTimeout: 300_000,
        include: ['test/unit/**/*.test.ts', 'test/tidy.test.ts'],
        maxWorkers: quickWorkers,
        isolate: false,
      }),
      project({ name: 'contract', testTimeout: 300_000, maxWorkers: quickWorkers, isolate: false }),
      project({
        name: 'simulation',
        testTimeout: 600_000,
        exclude: replacing,
        maxWorkers: quickWorkers,
        isolate: false,
      }),
      project({ name: 'replacing', testTimeout: 600_000, include: replacing, maxWorkers: quickWorkers }),
      // One vehicle of real processes, from the serial lines to the app.
      project({ name: 'chain', testTimeout: 600_000, include: [chain], maxWorkers: quickWorkers }),
      // Real processes mostly wait for real time, so twice as many files as cores, and nothing else beside them.
      project({
        name: 'system',
        testTimeout: 300_000,
        exclude: [chain, ...nightly],
        maxWorkers: 4,
        groupOrder: 1,
      }),
      project({
        name: 'system-nightly',
        testTimeout: 300_000,
        include: nightly,
        maxWorkers: 4,
        groupOrder: 2,
      }),
      // A browser keeps a core busy.
      project({
        name: 'console',
        testTimeout: 300_000,
        maxWorkers: 2,
        groupOrder: 3,
      }),
      // Many vehicles at once take both cores, and judge by real time: nothing runs beside them.
      project({ name: 'road', testTimeout: 420_000, groupOrder: 4 }),
      // Runs of a minute each, some at a time, with thresholds that a busy machine would miss.
      project({ name: 'truth', testTimeout: 900_000, groupOrder: 5 }),
    ],
  },
});
