// `fuel calibrate` against the real serial board simulation: a bench process with a tank of odd shape behind a pty, the sender
// read over Modbus RTU, by a person's lines, by an answers file, over Ctrl-C on a terminal and kill -9.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { readBoardProfile } from '../../agent/boards.ts';
import { type FuelCalibrateIo, fuelCalibrate } from '../../agent/cli/fuel-calibrate.ts';
import { analogValue } from '../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { sealFrame } from '../../simulator/hardware/modbus-slave.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const program = new URL('../../dist/simulator/main.js', import.meta.url).pathname;
const cli = new URL('../../dist/agent/cli/fuel-calibrate.js', import.meta.url).pathname;
const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const notBuilt = existsSync(program) && existsSync(cli) ? null : 'skipped, dist is missing: npm run build';
const why = missing ?? notBuilt;

const capacityL = 300;
/** The float of this tank reads the square root of what is in it. */
const sender = (litres: number): number => Math.sqrt(litres / capacityL);

let folder = '';
let bench: { readonly board: string; readonly control: string };
const children: ChildProcess[] = [];

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await gone;
}

function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return () => text;
}

async function pour(litres: number): Promise<void> {
  const answer = await fetch(`${bench.control}/command`, { method: 'POST', body: `fuel ${sender(litres)}` });
  expect(answer.status).toBe(200);
}

async function ioOf(more: Partial<FuelCalibrateIo>): Promise<FuelCalibrateIo & { said(): string }> {
  const profile = await readBoardProfile('waveshare-io-analog');
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    profile,
    port: { path: bench.board, baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
    clock: createSystemClock(),
    openByteLink: openSerialPort,
    plan: null,
    answers: null,
    progressPath: join(folder, 'progress.json'),
    input: new PassThrough(),
    output,
    stopped: new Promise(() => {}),
    said: () => text,
    ...more,
  };
}

const kept = (): { points: { litres: number; measure: number }[] } =>
  JSON.parse(readFileSync(join(folder, 'progress.json'), 'utf8')) as ReturnType<typeof kept>;
const keptPoints = (): number => (existsSync(join(folder, 'progress.json')) ? kept().points.length : 0);

beforeEach(async () => {
  if (why !== null) return;
  folder = mkdtempSync(join(tmpdir(), 'fleetward-calibrate-'));
  const links = ['--link-board', join(folder, 'board'), '--link-gnss', join(folder, 'gnss')];
  const args = [program, 'hardware', ...links, '--control-port', '0', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  children.push(child);
  const said = collect(child);
  await waitUntil('the bench', () => said().includes('"event":"ready"'), { seen: said });
  const ready = JSON.parse(/^\{"event":"ready".*\}$/m.exec(said())?.[0] ?? '') as {
    board: { path: string };
    control: string;
  };
  bench = { board: ready.board.path, control: ready.control };
});

afterEach(async () => {
  for (const child of children.splice(0).toReversed()) await end(child);
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

/** A program of its own around the built command, as main.ts is: stopped by SIGINT. */
function writeProgram(): string {
  const dist = new URL('../../dist/', import.meta.url).href;
  const path = join(folder, 'calibrate.mjs');
  writeFileSync(
    path,
    `import { fuelCalibrate } from '${dist}agent/cli/fuel-calibrate.js';
import { openSerialPort } from '${dist}agent/adapters/serial-port.js';
import { readBoardProfile } from '${dist}agent/boards.js';
import { createSystemClock } from '${dist}src/adapters/system.js';
import { runProgram, untilStopped } from '${dist}src/adapters/program.js';
await runProgram('fleetward-agent', async () => fuelCalibrate({
  profile: await readBoardProfile('waveshare-io-analog'),
  port: { path: ${JSON.stringify(bench.board)}, baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
  clock: createSystemClock(), openByteLink: openSerialPort,
  plan: { capacityL: ${capacityL}, mode: 'fill', startL: 0 }, answers: null,
  progressPath: ${JSON.stringify(join(folder, 'progress.json'))},
  input: process.stdin, output: process.stdout, stopped: untilStopped(),
}));
`,
  );
  return path;
}

describe.skipIf(why !== null)(why === null ? 'fuel calibrate' : `fuel calibrate [${why}]`, () => {
  it('by an answers file: the table reads every level of the tank within 2 %', async () => {
    await pour(0);
    const steps = [30, 45, 75, 75, 75];
    const answers = JSON.stringify({ capacityL, mode: 'fill', startL: 0, steps, settleS: 2, stepS: 7200 });
    const io = await ioOf({ answers });
    const running = fuelCalibrate(io);
    let total = 0;
    for (const [at, litres] of steps.entries()) {
      await waitUntil(`point ${at + 1}`, () => keptPoints() === at + 1, { seen: io.said });
      total += litres;
      await pour(total);
    }
    const result = await running;
    if (result.kind !== 'done') throw new Error(io.said());
    expect(io.said()).toContain('[board.overrides.analogs.fuel]');
    expect(existsSync(io.progressPath)).toBe(false);
    const table = result.table.map(([measure, part]): [number, number] => [measure, part]);
    const verdict = applyOverrides(io.profile, { analogs: { fuel: { table } } });
    const signal = verdict.kind === 'ok' ? verdict.profile.analogs.fuel : undefined;
    if (signal === undefined) throw new Error('the table does not fit the profile');
    for (const litres of [0, 30, 75, 150, 225, 300]) {
      const millivolts = Math.round(sender(litres) * 5000);
      expect(analogValue(signal, millivolts)).toBeCloseTo(litres / capacityL, 2);
    }
  });

  it('ends with its input, the points kept; relays stay as they were, energised or not', async () => {
    const io = await ioOf({ plan: { capacityL, mode: 'fill', startL: 0 } });
    const relays = async (): Promise<unknown> =>
      ((await (await fetch(`${bench.control}/state`)).json()) as { relays: unknown }).relays;
    const line = await openSerialPort(io.port, { onBytes: () => {}, onDown: () => {} });
    line.write(sealFrame([1, 5, 0, 1, 0xff, 0]));
    await waitUntil('the relay', async () => JSON.stringify(await relays()).includes('true'));
    await line.close();
    const before = await relays();
    expect(before).toEqual({ enginecutoff: false, cargoaccess: true });
    const running = fuelCalibrate(io);
    await waitUntil('the first point', () => keptPoints() === 1);
    (io.input as PassThrough).end();
    expect(await running).toEqual({ kind: 'stopped', points: 1 });
    expect(await relays()).toEqual(before);
  });

  it('a port that the agent has is refused with what to do', async () => {
    const io = await ioOf({ plan: { capacityL, mode: 'fill', startL: 0 } });
    const port = await openSerialPort(io.port, { onBytes: () => {}, onDown: () => {} });
    await expect(fuelCalibrate(io)).rejects.toMatchObject({
      code: 'serial',
      hint: expect.stringContaining('systemctl stop fleetward-agent') as string,
    });
    await port.close();
    const profile = await readBoardProfile('adam-4150');
    await expect(fuelCalibrate({ ...io, profile })).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('a pulled board ends it with the points kept; damaged progress is never overwritten', async () => {
    const io = await ioOf({ plan: { capacityL, mode: 'fill', startL: 0 } });
    const running = fuelCalibrate(io);
    await waitUntil('the first point', () => keptPoints() === 1);
    const gone = expect(running).rejects.toMatchObject({
      code: 'serial',
      message: expect.stringContaining(bench.board) as string,
      hint: expect.stringContaining('run the same command to go on') as string,
    });
    await fetch(`${bench.control}/command`, { method: 'POST', body: 'pull board' });
    await gone;
    expect(keptPoints()).toBe(1);
    writeFileSync(io.progressPath, '{"v":1,"capa');
    await expect(fuelCalibrate(io)).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(io.progressPath, 'utf8')).toBe('{"v":1,"capa');
  });

  it('kill -9 and Ctrl-C on a terminal lose no point; the same command goes on to the table', async () => {
    const path = writeProgram();
    await pour(0);
    const first = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'pipe'] });
    children.push(first);
    const saidFirst = collect(first);
    await waitUntil('the first point', () => keptPoints() === 1, { seen: saidFirst });
    await pour(75);
    first.stdin?.write('75\n');
    await waitUntil('the second point', () => keptPoints() === 2, { seen: saidFirst });
    await end(first);

    // A terminal: what Ctrl-C sends is a byte that the tty makes a signal of.
    const exec = `EXEC:"${process.execPath} ${path}",pty,setsid,ctty,stderr`;
    const second = spawn('socat', ['-', exec], { stdio: ['pipe', 'pipe', 'pipe'] });
    children.push(second);
    const saidSecond = collect(second);
    await waitUntil('the second run', () => saidSecond().includes('Going on after 2 points'));
    await pour(150);
    second.stdin?.write('75\n');
    await waitUntil('the third point', () => keptPoints() === 3, { seen: saidSecond });
    second.stdin?.write('\u0003');
    await waitUntil('Ctrl-C', () => saidSecond().includes('3 points are kept in'), { seen: saidSecond });
    await waitUntil('the end of the terminal', () => second.exitCode !== null || second.signalCode !== null);

    const io = await ioOf({ plan: { capacityL, mode: 'fill', startL: 0 } });
    const running = fuelCalibrate(io);
    await waitUntil('the third run', () => io.said().includes('Going on after 3 points'));
    await pour(300);
    const input = io.input as PassThrough;
    input.write('what?\n');
    input.write('150\n');
    await waitUntil('the fourth point', () => keptPoints() === 4, { seen: io.said });
    expect(kept().points.map(({ litres }) => litres)).toEqual([0, 75, 150, 300]);
    input.write('done\n');
    expect(await running).toMatchObject({ kind: 'done' });
    expect(io.said()).toContain('Enter the litres of this step');
    expect(io.said()).toContain('capacityL = 300');
  });
});
