// Ends what a run of tests left behind: processes, mounts and folders. It stands beside the runner, outside its process group: when the
// runner ends without a word, also by SIGKILL, everything that the tests had started ends at once. `temporary-folders.ts` starts it.
//
// undertaker.mjs DIRECTORY MARKER: what a test starts inherits the variable MARKER with DIRECTORY. A line on standard input, the patience in
// ms, asks after the last test; the answer is a line of JSON with the names of what was still there then.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [directory, marker] = process.argv.slice(2);
const pollMs = 100;
/** Folders and files of ours begin so; what tools of others leave is theirs. */
const ours = /^(fleetward|vapid|mail)-/;

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended, or belongs to somebody else.
    return '';
  }
}

/** @returns numbers of the processes that the tests started. */
const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).split('\0').includes(`${marker}=${directory}`));

const folders = () => (existsSync(directory) ? readdirSync(directory).filter((name) => ours.test(name)) : []);

/** proc(5): the fifth field is the place. @returns the innermost first. */
const mounts = () =>
  read('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((place) => place.startsWith(`${directory}/`))
    .toReversed();

const describe = (pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();

/**
 * Removes folders of test files whose process has ended. The runner kills a process that does not end within half a second, which is
 * too short for a removal on a busy machine.
 */
function removeAbandoned() {
  for (const line of read(`${directory}/.folders`).split('\n').filter(Boolean)) {
    const [pid, ...name] = line.split(' ');
    if (!existsSync(`/proc/${pid}`))
      rmSync(`${directory}/${name.join(' ')}`, { recursive: true, force: true, maxRetries: 3 });
  }
}

function left() {
  removeAbandoned();
  return [
    ...processes().map((pid) => `process ${pid} ${describe(pid)}`),
    ...mounts().map((place) => `mount ${place.slice(directory.length + 1)}`),
    ...folders().sort(),
  ];
}

function endAll() {
  for (const pid of processes()) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  for (const place of mounts()) spawnSync('umount', ['--lazy', place]);
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

for await (const line of createInterface({ input: process.stdin })) {
  for (let leftMs = Number(line); leftMs > 0 && left().length > 0; leftMs -= pollMs) await sleep(pollMs);
  console.log(JSON.stringify(left()));
}
endAll();
