// The `hardware` command as a user meets it: a real process, real ptys, bytes read and written by this test as an agent
// would, commands by HTTP and by standard input. When it ends nothing of it is left.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import type { BenchState } from '../../simulator/bench/bench-state.ts';
import { sealFrame } from '../../simulator/hardware/modbus-slave.ts';
import type { ByteLink } from '../../src/ports.ts';
import { requires } from '../support/machine/requires.ts';

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

const running: Bench[] = [];
const links: ByteLink[] = [];

function childrenOf(pid: number): string[] {
  const isChild = (name: string): boolean => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return fields[1] === String(pid) && fields[0] !== 'Z';
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChild(name));
}

const isAlive = (pid: string): boolean => existsSync(`/proc/${pid}`);

async function until<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
): Promise<T> {
  for (let round = 0; round < 400; round += 1) {
    const found = await look();
    if (found) return found;
    await sleep(25);
  }
  throw new Error(`waited in vain for ${what}`);
}

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
  const ready = await until('the bench', () => /^\{"event":"ready".*\}$/m.exec(text)?.[0]);
  const { board, gnss, control } = JSON.parse(ready) as {
    board: { path: string };
    gnss: { path: string };
    control: string;
  };
  const state = async (): Promise<BenchState> =>
    (await (await fetch(`${control}/state`)).json()) as BenchState;
  const bench: Bench = {
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
    async stop(signal = 'SIGINT') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
  running.push(bench);
  return bench;
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
  links.push(link);
  const clear = (): void => {
    bytes = Buffer.alloc(0);
  };
  return { link, bytes: () => bytes, downs, clear };
}

/** Sends a request and waits for an answer of this length. */
async function ask(line: Line, request: readonly number[], length: number): Promise<number[]> {
  line.clear();
  line.link.write(sealFrame(request));
  await until('a Modbus answer', () => line.bytes().length >= length);
  return [...line.bytes()];
}

afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  for (const bench of running.splice(0)) {
    await bench.stop('SIGKILL');
    rmSync(bench.folder, { recursive: true, force: true });
  }
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

  it('answers wrong commands with what would be right, and serves no web page', async () => {
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
    await sleep(2500); // bursts that nobody hears must not wait in the pty for the one who comes
    const line = await openLine(bench.gnss);
    const read = () =>
      decodeNmea(createNmeaState(), line.bytes()).sentences.flatMap((s) => (s.type === 'RMC' ? [s] : []));
    const moving = await until('a fix in motion', () =>
      read().find((rmc) => rmc.valid && (rmc.speedKmh ?? 0) > 10),
    );
    expect(moving.headingDeg).not.toBeNull();
    const first = read()[0];
    const sentMs = (first?.day ?? 0) * 86_400_000 + (first?.timeMs ?? 0);
    expect(Math.abs(Date.now() - sentMs)).toBeLessThan(60_000);
    const seconds = new Set(read().map((rmc) => rmc.timeMs));
    expect(seconds.size).toBe(read().length);
    await bench.command('tunnel on');
    const inTunnel = await until('a void sentence', () => read().find((rmc) => !rmc.valid));
    expect([inTunnel.latitude, inTunnel.speedKmh]).toEqual([null, null]);
  });

  it('a pulled board is a dead port, a plugged one a new port at the same path', async () => {
    const bench = await startBench();
    const line = await openLine(bench.board);
    await ask(line, readInputs, 6);
    expect((await bench.command('pull board')).body.state?.plugged).toEqual({ board: false, gnss: true });
    expect(existsSync(bench.board)).toBe(false);
    await until('the link to go down', () => line.downs.length === 1);
    await expect(openLine(bench.board)).rejects.toMatchObject({ code: 'serial' });
    expect((await bench.command('plug board')).body.state?.plugged).toEqual({ board: true, gnss: true });
    const again = await openLine(bench.board);
    expect(await ask(again, readInputs, 6)).toEqual(answerOf(1, 2, 1, 0b0010_0000));
    expect(line.downs).toHaveLength(1);
  });

  it('takes a script on standard input, and its end does not end the bench', async () => {
    const bench = await startBench('--board', 'adam-4150');
    bench.type('# a comment');
    bench.type('door cabin open');
    bench.type('status');
    bench.child.stdin?.end();
    await until('the status', () => bench.said().includes('cabinDoor externalPower'));
    expect((await bench.state()).inputs['cabinDoor']).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('%s leaves no pty and no child', async (signal) => {
    const bench = await startBench();
    const children = childrenOf(bench.child.pid ?? 0);
    expect(children).toHaveLength(2);
    expect(await bench.stop(signal)).toBe(0);
    expect(existsSync(bench.board) || existsSync(bench.gnss)).toBe(false);
    expect(children.filter(isAlive)).toEqual([]);
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
    server.close();
    expect(busy.code).toBe(69);
    expect(busy.text).toContain(String(port));
    expect(busy.text).toContain('--control-port');
    expect(readdirSync(first.folder).sort()).toEqual(['ttyBoard', 'ttyGnss']);
    expect((await first.state()).plugged).toEqual({ board: true, gnss: true });
  });
});
