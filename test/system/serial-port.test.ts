// The serial adapter on real pseudo-terminals: what it does when a line floods, sticks, hangs up or becomes another device, when
// the path is no port at all, and when the driver does not let go. Everything is counted; nothing is timed.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import type { ByteLink } from '../../src/ports.ts';
import { requires } from '../support/machine/requires.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { ptyPair, serial, sleep } from '../support/serial/pty-bus.ts';
import { point } from '../support/serial/serial-board.ts';

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const cCompiler = 'cc';
const compiler = requires({ commands: [cCompiler], debian: ['gcc', 'libc6-dev'] });
const titled = (title: string, why: string | null): string => (why === null ? title : `${title} [${why}]`);

let folder: string;
const cleanups: (() => unknown)[] = [];
const owned = <T extends { close(): unknown }>(thing: T): T => {
  cleanups.unshift(() => thing.close());
  return thing;
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-serial-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens `path` and keeps what it says. */
async function listen(path: string, more: { readonly gatherMs?: number } = {}) {
  const heard = { bytes: 0, pieces: 0, atMs: [] as number[], reasons: [] as string[] };
  const link: ByteLink = owned(
    await openSerialPort(
      { ...serial(path), ...more },
      {
        onBytes(bytes) {
          heard.bytes += bytes.length;
          heard.pieces += 1;
          heard.atMs.push(performance.now());
        },
        onDown: (reason) => void heard.reasons.push(reason),
      },
    ),
  );
  return { heard, link };
}

const silent = { onBytes() {}, onDown() {} };

/** Calls of read(2) that this process has made, proc(5): work, whatever time it took. */
const readCalls = (): number => Number(/^syscr: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

/** A program of somebody else at the far end; ended by its own handle. */
function play(script: string, ...args: readonly string[]) {
  const child = spawn('sh', ['-c', script, 'sh', ...args], { stdio: 'ignore', detached: true });
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch {
      // It has ended already.
    }
  };
  return owned({ signal, close: () => signal('SIGKILL') });
}

describe('a path that is no serial port', () => {
  it('is refused in words, is never opened, and is a port as soon as it is one', async () => {
    mkdirSync(`${folder}/directory`);
    writeFileSync(`${folder}/file`, 'kept');
    execFileSync('mkfifo', [`${folder}/fifo`]);
    const server = createServer().listen(`${folder}/socket`);
    owned({ close: () => server.close() });
    symlinkSync(`${folder}/loop`, `${folder}/loop`);
    symlinkSync(`${folder}/nothing`, `${folder}/dangling`);
    for (const name of ['directory', 'file', 'fifo', 'socket'])
      await expect(openSerialPort(serial(join(folder, name)), silent)).rejects.toMatchObject({
        code: 'serial',
        message: `${join(folder, name)} is not a serial port`,
      });
    for (const name of ['loop', 'dangling', 'nothing'])
      await expect(openSerialPort(serial(join(folder, name)), silent)).rejects.toMatchObject({
        message: `Serial port ${join(folder, name)} is not there`,
      });
    await expect(openSerialPort(serial(`${folder}/file/x`), silent)).rejects.toMatchObject({
      message: `${folder}/file/x is not a serial port`,
    });
  });

  const asNobody = process.getuid?.() === 0 ? null : 'skipped, only root can become another user';
  it.skipIf(missing !== null || asNobody !== null)(
    titled('that may not be opened says who may', missing ?? asNobody),
    async () => {
      const pair = owned(await ptyPair(folder, 'bus'));
      chmodSync(folder, 0o711);
      const path = execFileSync('readlink', ['-f', pair.near], { encoding: 'utf8' }).trim();
      chmodSync(path, 0o600);
      const child = new URL('../support/serial/serial-child.mjs', import.meta.url).pathname;
      const { stdout, stderr } = spawnSync(process.execPath, [child, pair.near, '1'], {
        uid: 65_534,
        encoding: 'utf8',
        timeout: hangMs,
      });
      expect(`${stdout}${stderr}`).toContain(`No permission for serial port ${pair.near}`);
    },
  );
});

describe.skipIf(missing !== null)(titled('a serial link', missing), () => {
  it('that is flooded forwards no more than its share, and the rest of the process gets its turn', async () => {
    const pair = owned(await ptyPair(folder, 'bus'));
    const { heard, link } = await listen(pair.near);
    const flood = play('exec cat /dev/zero > "$1"', pair.far);
    const startMs = performance.now();
    await waitUntil('a flood', () => heard.bytes > 1024 * 1024);
    flood.close();
    const windows = Math.ceil((performance.now() - startMs) / 100) + 1;
    // 32 KiB in a window of 100 ms, the read that fills it, and one more: a timer may fire a millisecond early.
    expect(heard.bytes).toBeLessThanOrEqual(windows * (32 + 4 + 4) * 1024);
    expect(heard.reasons).toEqual([]);
    await link.close();
  });

  it('that gathers pauses after each read, and loses nothing of what comes meanwhile', async () => {
    const pair = owned(await ptyPair(folder, 'bus'));
    const gatherMs = 30;
    const { heard } = await listen(pair.near, { gatherMs });
    const far = owned(await openSerialPort(serial(pair.far), silent));
    for (let n = 0; n < 200; n += 1) {
      far.write(new Uint8Array(27));
      await sleep(1);
    }
    await waitUntil('all bytes', () => heard.bytes === 200 * 27);
    expect(heard.pieces).toBeGreaterThan(1);
    const pausesMs = heard.atMs.slice(1).map((atMs, n) => atMs - (heard.atMs[n] ?? 0));
    // A timer may fire a millisecond early.
    expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(gatherMs - 1.5);
    expect(heard.reasons).toEqual([]);
  });

  it('that takes no bytes is given up, and nothing of it reaches the board when it wakes up', async () => {
    const pair = owned(await ptyPair(folder, 'bus'));
    const { heard, link } = await listen(pair.near);
    const arrived: number[] = [];
    const far = { onBytes: (bytes: Uint8Array) => void arrived.push(...bytes), onDown() {} };
    owned(await openSerialPort(serial(pair.far), far));
    const request = new Uint8Array(1000).fill(0x55);
    expect(link.write(request)).toBe(true);
    await waitUntil('the line to work', () => arrived.length === 1000);
    // Whoever connects the two ends stands still: what is written stays in the kernel, then in the adapter.
    pair.signal('SIGSTOP');
    let taken = 0;
    while (link.write(request)) {
      taken += 1;
      await sleep(1);
      expect(taken).toBeLessThan(200);
    }
    expect(heard.reasons[0]).toContain('takes no bytes');
    expect(link.write(request)).toBe(false);
    await link.close();
    pair.signal('SIGCONT');
    // The port can be had again at once, and its byte comes behind all that was left of the link before.
    const again = await listen(pair.near);
    expect(again.link.write(Uint8Array.of(1))).toBe(true);
    await waitUntil('the next link', () => arrived.includes(1), { seen: () => `${arrived.length} bytes` });
    // What stands in the far terminal (4 KiB) has left the line; 17 KB more would follow without the flush.
    expect(arrived.indexOf(1)).toBeLessThanOrEqual(1000 + 4096);
    expect(arrived.at(-1)).toBe(1);
  });

  it('whose far end hangs up ends once and reads no more', async () => {
    const pair = owned(await ptyPair(folder, 'bus'));
    const { heard } = await listen(pair.near);
    await pair.close();
    await waitUntil('the end of the link', () => heard.reasons.length > 0);
    const before = readCalls();
    await sleep(1000);
    expect(heard).toMatchObject({ bytes: 0, pieces: 0, reasons: [expect.stringMatching(/hung up|gone/)] });
    // 200,000 rounds in 0.1 s is what the binding's own reader does here.
    expect(readCalls() - before).toBeLessThan(1000);
  });

  it('whose name stands for another device now is given up, although the old one still lives', async () => {
    const one = owned(await ptyPair(folder, 'one'));
    const other = owned(await ptyPair(folder, 'other'));
    const name = `${folder}/fleet-board`;
    point(name, one.near);
    const { heard } = await listen(name);
    point(name, other.near);
    await waitUntil('the other device to be noticed', () => heard.reasons.length > 0);
    expect(heard.reasons).toEqual([`${name} is another device now`]);
    const again = await listen(name);
    const far = owned(await openSerialPort(serial(other.far), silent));
    far.write(Uint8Array.of(1, 2, 3));
    await waitUntil('the bytes of the other device', () => again.heard.bytes === 3);
  });
});

interface Round {
  readonly outcome: string;
  readonly others: string;
  readonly hanging: number;
  readonly stuck: boolean;
}

describe.skipIf(missing !== null || compiler.missing !== null)(
  titled('a driver that does not let go', missing ?? compiler.missing),
  () => {
    it('takes two threads and no more, whatever is tried; once it lets go, the port opens', async () => {
      const pair = owned(await ptyPair(folder, 'bus'));
      const flag = `${folder}/hang`;
      const library = `${folder}/hanging-close.so`;
      const source = new URL('../support/serial/hanging-close.c', import.meta.url).pathname;
      execFileSync(cCompiler, ['-shared', '-fPIC', '-o', library, source, '-ldl']);
      writeFileSync(flag, '');
      const script = new URL('../support/serial/serial-child.mjs', import.meta.url).pathname;
      const child = spawn(process.execPath, [script, pair.near, '5000'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        // The pool as Node starts it: the worst case.
        env: { ...process.env, LD_PRELOAD: library, HANG_FLAG: flag, UV_THREADPOOL_SIZE: '4' },
      });
      owned({ close: () => child.kill('SIGKILL') });
      const rounds: Round[] = [];
      createInterface({ input: child.stdout }).on(
        'line',
        (text) => void rounds.push(JSON.parse(text) as Round),
      );
      const seen = (): string => JSON.stringify(rounds.slice(-5));
      const refused = `Serial port ${pair.near}: 2 earlier calls hang in the driver`;
      // Not while a thread waits for a disk: such a process counts as one that nothing can replace.
      const isStuck = () => rounds.some(({ outcome, stuck }) => outcome === refused && stuck);
      await waitUntil('a dozen tries, one of them refused', () => rounds.length >= 12 && isStuck(), { seen });
      expect(rounds.map(({ others }) => others)).toEqual(rounds.map(() => 'work'));
      expect(Math.max(...rounds.map(({ hanging }) => hanging))).toBe(2);
      expect(new Set(rounds.slice(8).map(({ outcome }) => outcome))).toEqual(new Set([refused]));
      rmSync(flag);
      await waitUntil('the port to open', () => rounds.at(-1)?.outcome === 'opened', { seen });
      await waitUntil('the driver to let go', () => rounds.at(-1)?.hanging === 0, { seen });
      expect(rounds.at(-1)).toMatchObject({ outcome: 'opened', stuck: false });
    });
  },
);
