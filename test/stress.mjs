// `npm run test:stress -- FILE... [RUNS]`: the files run RUNS times (10 unless given) on a machine that is never quiet. A file of `system` or
// `road` belongs to the gate once it has passed ten times of ten.
//
// Beside them two processes take both cores for 5 to 25 s, pause for up to 10 s, and begin again; and every 5 to 20 s either everything
// that the run started or one process of it stands still for 3 s (SIGSTOP), as a machine does whose memory or disk is busy elsewhere.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const usage = 'npm run test:stress -- FILE... [RUNS]';
const stopMs = 3000;
const between = (from, to) => from + Math.random() * (to - from);

const words = process.argv.slice(2);
const runs = /^\d+$/.test(words.at(-1) ?? '') ? Number(words.pop()) : 10;
if (words.length === 0 || runs < 1) {
  console.error(usage);
  process.exit(64);
}

/** Parent, state and start of every process, by number. */
function processes() {
  const found = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // proc(5): the name stands in parentheses and may hold any character.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      found.set(Number(name), { state: fields[0], parent: Number(fields[1]) });
    } catch {
      // It has ended.
    }
  }
  return found;
}

function startedBy(root) {
  const all = processes();
  const isBelow = (pid) => {
    for (let at = all.get(pid)?.parent; at !== undefined && at > 1; at = all.get(at)?.parent)
      if (at === root) return true;
    return false;
  };
  // What a test has stopped itself is not continued by us, and what has ended is not there.
  return [...all].filter(([pid, { state }]) => !'TtZX'.includes(state) && isBelow(pid)).map(([pid]) => pid);
}

function signal(pids, name) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}

async function takeACore(end) {
  while (!end.aborted) {
    // It ends by itself as well, should this script be killed.
    const hog = spawn('timeout', ['30', 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' });
    await sleep(between(5000, 25_000), null, { signal: end }).catch(() => {});
    hog.kill('SIGTERM');
    await sleep(between(0, 10_000), null, { signal: end }).catch(() => {});
  }
}

async function pause(root, end) {
  while (!end.aborted) {
    await sleep(between(5000, 20_000), null, { signal: end }).catch(() => {});
    const all = startedBy(root);
    const one = all[Math.floor(Math.random() * all.length)];
    const stopped = Math.random() < 0.5 || one === undefined ? all : [one];
    signal(stopped, 'SIGSTOP');
    await sleep(stopMs);
    signal(stopped, 'SIGCONT');
    // nsenter(1) stops itself after a child that it finds stopped, and would wait for us.
    await sleep(100);
    signal(stopped, 'SIGCONT');
  }
}

/** How often each file passed. */
const passed = new Map();
const report = 'build/stress-report.json';
const args = [
  '--config',
  'test/vitest.config.ts',
  '--silent=passed-only',
  '--reporter=dot',
  '--reporter=json',
];
for (let run = 1; run <= runs; run += 1) {
  rmSync(report, { force: true });
  const tests = spawn('npx', ['vitest', 'run', ...args, `--outputFile.json=${report}`, ...words], {
    stdio: 'inherit',
  });
  const end = new AbortController();
  const noise = [takeACore(end.signal), takeACore(end.signal), pause(tests.pid, end.signal)];
  await once(tests, 'exit');
  end.abort();
  await Promise.all(noise);
  for (const { name, status } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const file = relative(process.cwd(), name);
    passed.set(file, (passed.get(file) ?? 0) + (status === 'passed' ? 1 : 0));
  }
  console.log(`after ${run} of ${runs} runs:`);
  for (const [file, count] of [...passed].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`  ${count} passed  ${file}`);
}
process.exitCode = [...passed.values()].every((count) => count === runs) ? 0 : 1;
