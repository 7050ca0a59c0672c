// The `hardware` command as a user meets it: a real process, real ptys, bytes read and written by this test as an agent
// would, commands by HTTP and by standard input. When it ends nothing of it is left.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import type { BenchState } from '../../simulator/bench/bench-state.ts';
import { sealFrame } from '../../simulator/hardware/modbus-slave.ts';
import type { ByteLink } from '../../src/ports.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const program = new URL('../../dist/simulator/main.js', import.meta.url).pathname;
const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const notBuilt = existsSync(program) ? null : 'skipped, dist is missing: npm run build';
const why = missing ?? notBuilt;

interface Bench {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly board: string;
  readonly gnss: string;
  readonly control: string;
  said(): string;
  type(line: string): void;
  command(
    line: string,
  ): Promise<{ status: number; body: { said?: string; state?: BenchState; error?: { message: string } } }>;
  state(): Promise<BenchState>;
  /** Resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Ends of what a test has started, last first. */
const cleanups: (() => unknown)[] = [];

/** State and parent of a process, proc(5); null once it is gone. */
function statusOf(pid: string): { readonly state: string; readonly parent: string } | null {
  try {
    const [state = '', parent = ''] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return { state, parent };
  } catch {
    return null;
  }
}

/** An ended process stays in the table until its parent has asked for its end. */
const isAlive = (pid: string): boolean => !['Z', 'X', undefined].includes(statusOf(pid)?.state);

const childrenOf = (pid = 0): string[] =>
  readdirSync('/proc').filter((name) => statusOf(name)?.parent === String(pid) && isAlive(name));

async function startBench(...args: string[]): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-bench-'));
  const paths = ['--link-board', join(folder, 'ttyBoard'), '--link-gnss', join(folder, 'ttyGnss')];
  const child = spawn(process.execPath, [
    program,
    'hardware',
    ...paths,
    '--control-port',
    '0',
    '--json',
    ...args,
  ]);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const stop = (signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return ended;
  };
  cleanups.unshift(async () => {
    // Its terminals live in processes of their own, which end with their input unless a test has stopped them.
    const children = childrenOf(child.pid);
    await stop('SIGKILL');
    spawnSync('kill', ['-KILL', ...children.filter(isAlive)]);
    rmSync(folder, { recursive: true, force: true });
  });
  const ready = await waitUntil(
    'the bench',
    () => /^\{"event":"ready".*\}$/m.exec(text)?.[0] ?? (child.exitCode === null ? null : text),
    { seen: () => text },
  );
  const { board, gnss, control } = JSON.parse(ready) as {
    board: { path: string };
    gnss: { path: string };
    control: string;
  };
  const state = async (): Promise<BenchState> =>
    (await (await fetch(`${control}/state`)).json()) as BenchState;
  return {
    child,
    folder,
    board: board.path,
    gnss: gnss.path,
    control,
    said: () => text,
    type: (line) => child.stdin.write(`${line}\n`),
    async command(line) {
      const answer = await fetch(`${control}/command`, { method: 'POST', body: line });
      return {
        status: answer.status,
        body: (await answer.json()) as Awaited<ReturnType<Bench['command']>>['body'],
      };
    },
    state,
    stop,
  };
}

interface Line {
  readonly link: ByteLink;
  readonly bytes: () => Buffer;
  readonly downs: string[];
  readonly clear: () => void;
}

async function openLine(path: string): Promise<Line> {
  let bytes = Buffer.alloc(0);
  const downs: string[] = [];
  const link = await openSerialPort(
    { path, baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
    {
      onBytes: (chunk) => {
        bytes = Buffer.concat([bytes, chunk]);
      },
      onDown: (reason) => downs.push(reason),
    },
  );
  cleanups.unshift(() => link.close());
  const clear = (): void => {
    bytes = Buffer.alloc(0);
  };
  return { link, bytes: () => bytes, downs, clear };
}

/** Sends a request and waits for an answer of this length. */
async function ask(line: Line, request: readonly number[], length: number): Promise<number[]> {
  line.clear();
  line.link.write(sealFrame(request));
  await waitUntil('a Modbus answer', () => line.bytes().length >= length, {
    seen: () => line.bytes().toString('hex'),
  });
  return [...line.bytes()];
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const readInputs = [1, 2, 0, 0, 0, 8];
const answerOf = (...bytes: number[]): number[] => [...sealFrame(bytes)];

describe.skipIf(why !== null)(why === null ? 'hardware bench' : `hardware bench [${why}]`, () => {
  it('shows on the bus what is commanded by HTTP, and in the state what is written on the bus', async () => {
    const bench = await startBench();
    const line = await openLine(bench.board);
    expect(await ask(line, readInputs, 6)).toEqual(answerOf(1, 2, 1, 0b0010_0000));
    expect((await bench.command('ignition on')).body.said).toBe('ignition on');
    await bench.command('door cargo open');
    await bench.command('panic press');
    expect(await ask(line, readInputs, 6)).toEqual(answerOf(1, 2, 1, 0b0010_1011));
    const json = await fetch(`${bench.control}/command`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'fuel 0.5' }),
    });
    expect(json.status).toBe(200);
    expect(await ask(line, [2, 4, 0, 0, 0, 1], 7)).toEqual(answerOf(2, 4, 2, 0x09, 0xc4)); // 2500 mV of 5 V
    expect(await ask(line, [1, 5, 0, 1, 0xff, 0], 8)).toEqual(answerOf(1, 5, 0, 1, 0xff, 0));
    expect((await bench.state()).relays).toEqual({ enginecutoff: false, cargoaccess: true });
    expect((await bench.command('power-cycle board')).body.state?.relays).toEqual({
      enginecutoff: false,
      cargoaccess: false,
    });
    expect((await bench.command('log')).body.said?.split('\n')).toHaveLength(2);
  });

  it('answers wrong commands with what would be right, and serves no web page but its own', async () => {
    const bench = await startBench();
    for (const [line, wanted] of [
      ['fly', 'There is no command'],
      ['fuel 7', 'fuel 0..1'],
      ['fault lost 130%', 'does not fit'],
      ['constructor', 'There is no command'],
      ['x'.repeat(300), 'at most'],
    ] as const) {
      const { status, body } = await bench.command(line);
      expect(status).toBe(400);
      expect(body.error?.message).toContain(wanted);
    }
    const page = await fetch(`${bench.control}/command`, {
      method: 'POST',
      body: 'drive',
      headers: { origin: 'http://evil.example' },
    });
    expect(page.status).toBe(400);
    expect((await fetch(`${bench.control}/command`)).status).toBe(405);
    expect((await fetch(`${bench.control}/nothing`)).status).toBe(404);
    expect((await bench.state()).vehicle.speedKmh).toBe(0);
  });

  it('drives, and the receiver reports it: valid, then void in a tunnel; nothing earlier is replayed', async () => {
    const bench = await startBench('--seed', 'x');
    await bench.command('speed 50');
    // Meanwhile bursts have left that nobody hears: they must not wait in the pty for the one who comes.
    await waitUntil('speed', async () => (await bench.state()).vehicle.speedKmh > 5);
    const openedMs = Date.now();
    const line = await openLine(bench.gnss);
    const read = () =>
      decodeNmea(createNmeaState(), line.bytes()).sentences.flatMap((s) => (s.type === 'RMC' ? [s] : []));
    const moving = await waitUntil('a fix in motion', () =>
      read().find((rmc) => rmc.valid && (rmc.speedKmh ?? 0) > 10),
    );
    expect(moving.headingDeg).not.toBeNull();
    const first = read()[0];
    const sentMs = (first?.day ?? 0) * 86_400_000 + (first?.timeMs ?? 0);
    // The receiver shows the full second.
    expect(sentMs).toBeGreaterThan(openedMs - 1000);
    const seconds = new Set(read().map((rmc) => rmc.timeMs));
    expect(seconds.size).toBe(read().length);
    await bench.command('tunnel on');
    const inTunnel = await waitUntil('a void sentence', () => read().find((rmc) => !rmc.valid));
    expect([inTunnel.latitude, inTunnel.speedKmh]).toEqual([null, null]);
  });

  it('a pulled board is a dead port, a plugged one a new port at the same path', async () => {
    const bench = await startBench();
    const line = await openLine(bench.board);
    await ask(line, readInputs, 6);
    expect((await bench.command('pull board')).body.state?.plugged).toEqual({ board: false, gnss: true });
    expect(existsSync(bench.board)).toBe(false);
    await waitUntil('the link to go down', () => line.downs.length === 1);
    await expect(openLine(bench.board)).rejects.toMatchObject({ code: 'serial' });
    expect((await bench.command('plug board')).body.state?.plugged).toEqual({ board: true, gnss: true });
    const again = await openLine(bench.board);
    expect(await ask(again, readInputs, 6)).toEqual(answerOf(1, 2, 1, 0b0010_0000));
    expect(line.downs).toHaveLength(1);
    // What makes the terminals hangs, and must be killed: the path is free all the same.
    for (const pid of childrenOf(bench.child.pid)) process.kill(Number(pid), 'SIGSTOP');
    expect((await bench.command('pull board')).body.state?.plugged).toEqual({ board: false, gnss: true });
    expect((await bench.command('plug board')).body.state?.plugged).toEqual({ board: true, gnss: true });
  });

  it('drives a trip that ends parked, and sets the receiver', async () => {
    const bench = await startBench();
    expect((await bench.command('trip 3')).body.said).toContain('a trip of 3 s');
    await waitUntil('the drive', async () => (await bench.state()).vehicle.speedKmh > 10);
    expect((await bench.state()).vehicle.ignition).toBe(true);
    await waitUntil('the end of the trip', async () => !(await bench.state()).vehicle.ignition);
    expect((await bench.state()).vehicle.speedKmh).toBe(0);
    const line = await openLine(bench.gnss);
    expect((await bench.command('receiver date -7168')).status).toBe(200);
    expect((await bench.command('receiver antenna open')).status).toBe(200);
    expect((await bench.command('receiver every 0')).status).not.toBe(200);
    const year = new Date(Date.now() - 7168 * 86_400_000).getUTCFullYear();
    const isSeen = (): boolean =>
      new RegExp(`ZDA,[^*]*,${year},`).test(line.bytes().toString()) &&
      line.bytes().includes('ANTSTATUS=OPEN');
    await waitUntil('a date and an antenna', isSeen, { seen: () => line.bytes().toString() });
  });

  it('puts ports and the settings of an agent into one folder, and leaves settings that are there', async () => {
    const desk = join(mkdtempSync(join(tmpdir(), 'fleetward-bench-')), 'desk');
    cleanups.unshift(() => rmSync(join(desk, '..'), { recursive: true, force: true }));
    const open = async (): Promise<void> => {
      const child = spawn(process.execPath, [program, 'hardware', '--desk', desk], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await waitUntil('the bench', () => text.includes('help lists the commands'), { seen: () => text });
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin.write('quit\n');
      await ended;
    };
    await open();
    const settings = join(desk, 'agent.toml');
    expect(readFileSync(settings, 'utf8')).toContain(`port = "${join(desk, 'ttyBoard')}"`);
    writeFileSync(settings, 'mine');
    await open();
    expect(readFileSync(settings, 'utf8')).toBe('mine');
    expect(readdirSync(desk)).toEqual(['agent.toml']);
  });

  it('takes a script on standard input, and its end does not end the bench', async () => {
    const bench = await startBench('--board', 'adam-4150');
    bench.type('# a comment');
    bench.type('door cabin open');
    bench.type('status');
    bench.child.stdin?.end();
    await waitUntil('the status', () => bench.said().includes('cabinDoor externalPower'), {
      seen: bench.said,
    });
    expect((await bench.state()).inputs['cabinDoor']).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('%s leaves no pty and no child', async (signal) => {
    const bench = await startBench();
    const children = childrenOf(bench.child.pid);
    expect(children).toHaveLength(2);
    expect(await bench.stop(signal)).toBe(0);
    expect(readdirSync(bench.folder)).toEqual([]);
    await waitUntil('the end of its children', () => !children.some(isAlive));
  });

  it('ends on `quit`', async () => {
    const bench = await startBench();
    const ended = new Promise((done) => bench.child.once('exit', done));
    bench.type('quit');
    expect(await ended).toBe(0);
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('says which port or path is taken and leaves what is not its own alone', async () => {
    const first = await startBench();
    const run = async (...args: string[]): Promise<{ code: number | null; text: string }> => {
      const child = spawn(process.execPath, [program, 'hardware', ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      cleanups.unshift(() => child.kill('SIGKILL'));
      let text = '';
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      return { code: await new Promise((done) => child.once('close', done)), text };
    };
    const other = ['--link-board', join(first.folder, 'b'), '--link-gnss', first.gnss];
    const taken = await run(...other);
    expect(taken).toMatchObject({ code: 69 });
    expect(taken.text).toContain(`${first.gnss} exists already`);
    const server = createServer();
    cleanups.unshift(() => server.close());
    const port = await new Promise<number>((done) =>
      server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port)),
    );
    const busy = await run(
      '--link-board',
      join(first.folder, 'b'),
      '--link-gnss',
      join(first.folder, 'g'),
      '--control-port',
      String(port),
    );
    expect(busy.code).toBe(69);
    expect(busy.text).toContain(String(port));
    expect(busy.text).toContain('--control-port');
    expect(readdirSync(first.folder).sort()).toEqual(['ttyBoard', 'ttyGnss']);
    expect((await first.state()).plugged).toEqual({ board: true, gnss: true });
  });
});
