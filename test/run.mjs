// Runs the tests of a tier: `node test/run.mjs --project unit test/unit/nmea` takes what `vitest run` takes. Behind it stands one net: when
// nothing failed but waits that ended on a machine that stood still meanwhile (`DeadlineError.isStalled`), in three files at most, each of
// these files runs once more, alone, and is printed as LATE. A wrong value is never tried again. A report of the first run stays in
// build/test-report.json.
import { relative } from 'node:path';
import { parseCLI, startVitest } from 'vitest/node';

const lateFiles = 3;
const config = new URL('vitest.config.ts', import.meta.url).pathname;

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
options.config ??= config;

/** Every error of a file: of its tests, of its suites and hooks, and of the file itself. */
function errorsOf(module) {
  const tests = [...module.children.allTests()].flatMap((test) => test.result().errors ?? []);
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [...module.errors(), ...suites, ...tests];
}

/** @returns the files that failed, and whether anything failed that is of no file. */
async function run(files, more) {
  const vitest = await startVitest('test', files, { ...options, ...more, watch: false });
  const failed = vitest.state
    .getTestModules()
    .filter((module) => module.state() === 'failed')
    .map((module) => ({ module, project: module.project.name, errors: errorsOf(module) }));
  const isElsewhere =
    vitest.state.getUnhandledErrors().length > 0 || (process.exitCode === 1 && failed.length === 0);
  process.exitCode = 0;
  // What the tests left behind sets the exit code here.
  await vitest.close();
  return { failed, isElsewhere: isElsewhere || process.exitCode !== 0 };
}

const first = await run(filter, {
  reporter: [...(options.reporter ?? ['default']), 'json'],
  outputFile: { json: 'build/test-report.json' },
});
const { failed } = first;
const isLate =
  !first.isElsewhere &&
  failed.length <= lateFiles &&
  failed.every(
    ({ errors }) =>
      errors.length > 0 &&
      errors.every(({ name, isStalled }) => name === 'DeadlineError' && isStalled === true),
  );

let isPassed = failed.length === 0 && !first.isElsewhere;
if (!isPassed && isLate) {
  isPassed = true;
  for (const { module, project, errors } of failed) {
    const again = await run([module.moduleId], { project: [project], maxWorkers: 1 });
    isPassed &&= again.failed.length === 0 && !again.isElsewhere;
    for (const { message } of errors)
      console.log(`LATE ${relative(process.cwd(), module.moduleId)}: ${message}`);
  }
}
if (!isPassed)
  console.log(
    `seed of the properties: ${process.env.FLEETWARD_TEST_RUN_SEED ?? 'the usual one'} (FLEETWARD_TEST_RUN_SEED)`,
  );
process.exitCode = isPassed ? 0 : 1;
