// What a person at the unit meets: `doctor`, `status`, `messages`, `service-code` and `selftest` as real processes, with a real
// agent and broker, and simulated hardware on pseudo-terminals. Nothing is asked of a mock.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { readBoardProfile } from '../../agent/boards.ts';
import { searchBoard } from '../../agent/doctor/board-search.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createBoard } from '../../simulator/hardware/board.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import type { BenchProgram } from '../support/programs/bench-program.ts';
import { openApi, type Program, startProgram } from '../support/programs/fleet-processes.ts';
import { type Desk, findings, findingsOf, openDesk, runAgent } from '../support/programs/unit-desk.ts';
import { ptyPair } from '../support/serial/pty-bus.ts';

const { missing } = requires({ commands: ['socat', 'python3'], debian: ['socat', 'python3'] });
const why = missing ?? whyNotBuilt('agent');

describe.skipIf(why !== null)(why === null ? 'operations' : `operations [${why}]`, () => {
  const folder = temporaryFolder('operations');
  const socket = join(folder, 'agent.sock');
  let desk: Desk;
  let bench: BenchProgram;
  let agent: Program | null = null;
  let config = '';
  const asked = (...args: string[]): string[] => [...args, '--config', config];

  /** A file of settings beside the usual one, changed. */
  const variant = (name: string, change: (text: string) => string): string => {
    const path = join(folder, `${name}.toml`);
    writeFileSync(path, change(readFileSync(config, 'utf8')));
    return path;
  };

  beforeAll(async () => {
    desk = await openDesk(folder);
    ({ bench, config } = desk);
    appendFileSync(config, `[local]\nsocket = "${socket}"\n`);
  });

  afterEach(async () => {
    agent?.signal('SIGTERM');
    await agent?.ended();
    agent = null;
  });

  afterAll(() => desk.close());

  it('finds a good installation good, from the wires to the signature of the broker', async () => {
    const ended = await runAgent(asked('doctor', '--json'));
    const results = findings(ended);
    expect(results.filter(({ verdict }) => verdict === 'fault')).toEqual([]);
    expect(ended.code).toBe(1); // this machine's user is root, and 9600 baud is slow for a panic button
    expect(findingsOf(results, 'board')[0]).toMatchObject({
      verdict: 'ok',
      seen: expect.stringContaining('unit 1, 2') as string,
    });
    expect(findingsOf(results, 'board-setup').map(({ verdict }) => verdict)).toEqual(['ok', 'ok']);
    expect(findingsOf(results, 'inputs')[0]?.seen).toContain('ignition off');
    expect(findingsOf(results, 'gnss')[0]?.seen).toContain('9600 baud');
    expect(findingsOf(results, 'broker-session')[0]?.seen).toContain('right signature');
    // Nothing was written, and nothing was left behind.
    expect((await bench.command('log')).said).toBe('no change');
    expect(existsSync(join(folder, 'outbox.db'))).toBe(false);
  });

  it('reports what is wrong with swapped ports, another board, a readable secret, a wrong key; and what to do', async () => {
    const swap = (text: string): string =>
      text.replace(bench.board, '@').replace(bench.gnss, bench.board).replace('@', bench.gnss);
    const wrongKey = (text: string): string =>
      text.replace(/publicKey = .*/, 'publicKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="');
    const swapped = findings(await runAgent(['doctor', '--json', '--config', variant('swapped', swap)]));
    expect(findingsOf(swapped, 'board')[0]).toMatchObject({
      verdict: 'fault',
      seen: expect.stringContaining('swapped') as string,
    });
    expect(findingsOf(swapped, 'gnss')[0]).toMatchObject({
      verdict: 'fault',
      seen: expect.stringContaining('swapped') as string,
    });
    const other = variant('other', (text) => wrongKey(text).replace('waveshare-io-analog', 'adam-4150'));
    chmodSync(join(folder, 'secret'), 0o644);
    const ended = await runAgent(['doctor', '--json', '--config', other]);
    chmodSync(join(folder, 'secret'), 0o600);
    const results = findings(ended);
    expect(ended.code).toBe(2);
    expect(findingsOf(results, 'board')[0]).toMatchObject({
      verdict: 'fault',
      todo: expect.stringContaining('waveshare-io-analog') as string,
    });
    expect(findingsOf(results, 'configuration').at(-1)).toMatchObject({
      verdict: 'fault',
      todo: expect.stringContaining('chmod 600') as string,
    });
    const forged = findings(await runAgent(['doctor', '--json', '--config', variant('key', wrongKey)]));
    expect(findingsOf(forged, 'broker-session')[0]).toMatchObject({
      verdict: 'fault',
      seen: expect.stringContaining('not signed') as string,
    });
  });

  it('finds a board at another speed, and names the profile that its registers fit', async () => {
    const link = join(folder, 'line');
    const script = new URL('../support/serial/baud-line.py', import.meta.url).pathname;
    const child = spawn('python3', [script, link, '38400'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const clock = createSystemClock();
    const board = createBoard({
      name: 'waveshare-relay-d',
      clock,
      entropy: createSeededEntropy('line').stream('board'),
      baudRate: 38_400,
      send: (bytes) => void child.stdin.write(bytes),
    });
    child.stdout.on('data', (chunk: Buffer) => board.receive(new Uint8Array(chunk)));
    try {
      await waitUntil('the line', () => existsSync(link));
      const shipped = await Promise.all(
        ['generic', 'waveshare-relay-d', 'waveshare-io-analog'].map(readBoardProfile),
      );
      const configured = await readBoardProfile('waveshare-relay-d');
      const ports = { clock, openByteLink: openSerialPort };
      const search = await searchBoard({ ports, path: link, configured, shipped, isStopped: () => false });
      expect(search).toMatchObject({
        kind: 'found',
        found: { settings: { baudRate: 38_400, parity: 'none' }, units: [1] },
      });
      const fitting = search.kind === 'found' ? search.found.fitting.map(({ profile }) => profile.name) : [];
      expect(fitting).toContain('waveshare-relay-d');
      expect(fitting).not.toContain('waveshare-io-analog');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('reports that nothing answers on a line without a board, and stops at Ctrl-C', async () => {
    const pair = await ptyPair(folder, 'empty');
    try {
      const path = variant('empty', (text) => text.replace(bench.board, pair.near));
      const ended = await runAgent(['doctor', '--config', path], {
        onChild: (child) => {
          let said = '';
          child.stderr?.on('data', (chunk: Buffer) => {
            said += chunk.toString();
            if (said.includes('... I/O board')) child.kill('SIGINT');
          });
        },
      });
      expect(ended.out).toContain('skipped I/O board: stopped');
      expect(ended.out).not.toContain('GNSS receiver:');
    } finally {
      await pair.close();
    }
  });

  it('shows a running agent as text, takes a message and a code, and the doctor asks it instead of its ports', async () => {
    const none = await runAgent(asked('status'));
    expect(none.code).toBe(69);
    agent = startProgram('agent', ['start', '--config', config]);
    const running = agent;
    const shown = (): string => JSON.stringify(running.lines.slice(-10));
    await waitUntil('the socket', () => existsSync(socket), { seen: shown });
    const ask = (path: string, ...more: string[]): string =>
      spawnSync(
        'curl',
        ['-sS', '--max-time', '60', '--unix-socket', socket, ...more, `http://agent${path}`],
        { encoding: 'utf8' },
      ).stdout;
    await waitUntil('a healthy agent', () => ask('/healthz').includes('"healthy":true'), {
      everyMs: 100,
      seen: shown,
    });
    await waitUntil('the welcome', () => ask('/status').includes('"isWelcomed":true'), {
      everyMs: 100,
      seen: shown,
    });
    const works = await runAgent(asked('status'));
    expect([works.code, works.out]).toEqual([0, expect.stringContaining('connected for')]);
    expect(ask('/metrics')).toContain('fleetward_agent_connected 1');
    const version = JSON.parse((await runAgent(['--version', '--json', '--socket', socket])).out) as object;
    expect(version).toEqual({
      version: readVersion(),
      running: readVersion(),
      packaged: readVersion(),
      confirmed: null,
    });
    expect(JSON.parse((await runAgent(asked('status', '--json'))).out)).toMatchObject({
      packaged: readVersion(),
    });
    const doctor = await runAgent(asked('doctor', '--json'));
    expect(findingsOf(findings(doctor), 'agent').length).toBeGreaterThan(5);
    expect(findingsOf(findings(doctor), 'board')).toEqual([]);
    expect((await runAgent(asked('doctor', '--relay-test'))).code).toBe(64);

    expect((await runAgent([...asked('messages', 'send'), 'On my way'])).code).toBe(0);
    const api = await openApi(desk.setup);
    const codes = async (): Promise<string> =>
      JSON.stringify(await api.get('/eventdata/devicedata/truck-1/0/0/authorization'));
    await waitUntil('the message at the broker', async () => (await codes()).includes('"statusCode":4392'), {
      everyMs: 100,
      seen: shown,
    });
    await waitUntil('nothing unacknowledged', () => ask('/status').includes('"backlog":0,'), {
      everyMs: 100,
      seen: shown,
    });
    expect(ask('/messages', '-d', '{"text":""}')).toContain('1 to 500');
    expect(ask('/messages', '-d', '{"text":"a","more":1}')).toContain('error');
    expect(ask('/nothing')).toContain('no such path');
    expect(ask('/status', '-X', 'DELETE')).toContain('the methods of /status are GET');
    const wrong = await runAgent(asked('service-code'), { input: '1234-5678\n' });
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('4 tries left')]);
    expect(JSON.stringify(agent.lines)).not.toContain('12345678');

    await bench.command('pull board');
    await waitUntil('the loss of the board', () => ask('/status').includes('"state":"waiting"'), {
      everyMs: 100,
      seen: shown,
    });
    const degraded = await runAgent(asked('status'));
    expect([degraded.code, degraded.out]).toEqual([1, expect.stringMatching(/FAULT I\/O board/)]);
    await bench.command('plug board');
  });

  it('is checked without any hardware by selftest', async () => {
    const ended = await runAgent(['selftest', '--json']);
    expect(JSON.parse(ended.out)).toMatchObject({ isGood: true });
    expect(ended.code).toBe(0);
  });
});
