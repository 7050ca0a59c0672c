// The desk of agent/README.md as a newcomer meets it: its shell blocks, in order, with the three programs beside each other.
// Only the ports differ, because a test may not take those of a running broker.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/machine/free-port.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const root = new URL('../..', import.meta.url).pathname;
const { missing } = requires({ commands: ['bash', 'curl', 'socat'], debian: ['bash', 'curl', 'socat'] });
const why = missing ?? (existsSync(join(root, 'dist')) ? null : 'skipped, dist is missing: npm run build');

const desk = temporaryFolder('desk');
const running: ChildProcess[] = [];
afterAll(async () => {
  for (const child of running.toReversed()) {
    const ended = new Promise((done) => child.once('exit', done));
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  }
  rmSync(desk, { recursive: true, force: true });
});

/** The shell blocks of the chapter. */
function blocksOf(heading: string): readonly string[] {
  const guide = readFileSync(join(root, 'agent/README.md'), 'utf8');
  const from = guide.indexOf(`## ${heading}`);
  const chapter = guide.slice(from, guide.indexOf('\n## ', from + 1));
  return [...chapter.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** What the guide's aliases set. */
const settings: Readonly<Record<string, string>> = { B: 'FLEETWARD_DATABASE=desk/fleet.db' };

const functions = ['B broker', 'A agent']
  .map((text) => text.split(' '))
  .map(
    ([letter, program]) =>
      `${letter}() { ${settings[letter ?? ''] ?? ''} node dist/${program}/main.js "$@"; }`,
  )
  .join('\n');

/** Runs lines to their end. */
function sh(lines: string): { readonly code: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `${functions}\n${lines}`], {
    cwd: desk,
    encoding: 'utf8',
  });
  return { code: status, text: `${stdout}${stderr}` };
}

/** Starts the program of a line such as `B start ...` or `node dist/simulator/main.js ...`; gives what it has said. */
function start(line: string): () => string {
  const [letter = '', ...words] = line.replace(/#.*$/, '').trim().split(/\s+/);
  const program = { B: 'broker', A: 'agent' }[letter] ?? 'simulator';
  const args = [join(root, 'dist', program, 'main.js'), ...words.slice(letter === 'node' ? 1 : 0)];
  const env = { ...process.env, ...(letter === 'B' ? { FLEETWARD_DATABASE: 'desk/fleet.db' } : {}) };
  const child = spawn(process.execPath, args, { cwd: desk, stdio: ['pipe', 'pipe', 'pipe'], env });
  running.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()));
  return () => said;
}

const lineOf = (block: string, beginning: string): string =>
  block.split('\n').find((line) => line.startsWith(beginning)) ?? '';

describe.skipIf(why !== null)(`the desk of the agent's guide${why === null ? '' : ` [${why}]`}`, () => {
  it('gives an agent whose file is good without a warning, and whose status is found', async () => {
    symlinkSync(join(root, 'dist'), join(desk, 'dist'));
    const [hardware = '', fleet = '', agent = ''] = blocksOf('Try it at a desk');
    const [http, mqtt] = [await freePort(), await freePort()];
    const said = start(hardware);
    await waitUntil('the hardware', () => said().includes('help lists the commands'), { seen: said });
    const startBroker = lineOf(fleet, 'B start');
    const made = sh(fleet.replace(startBroker, ''));
    expect(made).toMatchObject({ code: 0 });
    const [unitCode = ''] = /^\S+(?= {3}\(shown once, good)/m.exec(made.text) ?? [];
    start(`${startBroker.replace(/>.*/, '')} --http-port ${http} --mqtt-port ${mqtt}`);
    const [startAgent, status] = [lineOf(agent, 'A start'), lineOf(agent, 'A status')];
    const enrol = lineOf(agent, 'A enrol')
      .replace(/<code.*>/, unitCode)
      .replace('127.0.0.1:8080', `127.0.0.1:${http}`);
    expect(sh(enrol)).toMatchObject({ code: 0 });
    const checked = sh('A config check --config desk/agent.toml');
    expect([checked.code, checked.text]).toEqual([0, expect.stringContaining('agent.toml: good')]);
    expect(checked.text).not.toContain('WARNING');
    // The desk itself is nothing to warn of; that a new vehicle has proven nothing is.
    const examined = sh('A doctor --config desk/agent.toml');
    expect([examined.code, examined.text.match(/^(WARNING|FAULT).*/gm)]).toEqual([
      1,
      [expect.stringContaining('Witnesses of standstill')],
    ]);
    start(startAgent.replace(/>.*/, ''));
    expect(status).not.toBe('');
    const isConnected = (): boolean => /Broker +connected/.test(sh(status).text);
    await waitUntil('the status of the agent', isConnected, { everyMs: 100, seen: () => sh(status).text });
    const { code, text } = sh(status);
    expect([code, text]).toEqual([0, expect.stringMatching(/^ ?ok +Broker +connected/m)]);
  });
});
