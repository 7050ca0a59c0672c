// What is too long for the gate, one step after the other: every real process, all worlds, campaigns and faults. A step that fails does
// not keep the next from running; the table at the end names it. `npm run test:nightly -- road truth` runs those steps only.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

/** Repeats the properties of a run; printed first. */
const seed = process.env.FLEETWARD_TEST_RUN_SEED ?? String(randomInt(2 ** 31));

const vitest = (...projects) => [
  'npx',
  'vitest',
  'run',
  '--config',
  'test/vitest.config.ts',
  ...projects.flatMap((name) => ['--project', name]),
];
const script = (name) => ['npm', 'run', '--silent', name];

/** In this order: what guards a promise first, the longest last. */
const steps = {
  properties: {
    run: vitest('unit', 'contract', 'simulation', 'replacing'),
    env: { FLEETWARD_TEST_EXTENT: 'whole' },
  },
  chain: { run: vitest('chain'), env: { FLEETWARD_TEST_CHAIN_KILLS: '12' } },
  system: { run: vitest('system', 'system-nightly'), env: { FLEETWARD_TEST_UPDATE_TRIALS: 'all' } },
  console: { run: vitest('console') },
  road: { run: script('test:road') },
  truth: { run: script('test:truth') },
  postgres: { run: script('test:postgres') },
  cluster: { run: script('test:cluster') },
  fuzz: { run: script('test:fuzz') },
  'mqtt-fuzz': { run: script('test:mqtt-fuzz') },
  campaign: { run: script('test:campaign') },
  'power-loss': { run: script('test:power-loss') },
  storage: { run: script('test:storage') },
  neighbours: { run: [...script('bench'), '--', 'neighbours', '--seconds', '2'] },
  gate: { run: script('test:gate') },
  interlock: { run: script('test:interlock') },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  console.error(`no such step: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`);
  process.exit(64);
}
console.log(`seed of the properties: ${seed} (FLEETWARD_TEST_RUN_SEED)`);
const results = [];
for (const [name, { run, env = {} }] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name}`);
  const beganMs = performance.now();
  const [command, ...args] = run;
  const { status, signal } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, FLEETWARD_TEST_RUN_SEED: seed, ...env },
  });
  const minutes = ((performance.now() - beganMs) / 60_000).toFixed(1);
  results.push({ name, minutes, isPassed: status === 0, end: status ?? signal });
  if (signal === 'SIGINT') break;
}
console.log('');
for (const { name, minutes, isPassed, end } of results)
  console.log(`${isPassed ? 'passed' : `FAILED (${end})`}  ${name}, ${minutes} min`);
process.exitCode = results.every(({ isPassed }) => isPassed) ? 0 : 1;
