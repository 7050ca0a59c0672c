// `doctor --relay-test` with a person at the unit: which relays it moves, and that none stays energised.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type Desk, findings, findingsOf, openDesk, runAgent } from '../support/programs/unit-desk.ts';

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const why = missing ?? whyNotBuilt('agent');

describe.skipIf(why !== null)(why === null ? 'the relay test' : `the relay test [${why}]`, () => {
  let desk: Desk;

  beforeAll(async () => {
    desk = await openDesk(temporaryFolder('relays'));
  });

  afterAll(() => desk.close());

  /** The test with YES typed, and a person who stays. */
  function typed(relay: '' | 'enginecutoff') {
    let [said, end] = ['', () => {}];
    const running = runAgent(
      ['doctor', '--json', '--relay-test', ...(relay === '' ? [] : [relay]), '--config', desk.config],
      {
        onChild: (child) => {
          child.stdin?.write('YES\n');
          child.stderr?.on('data', (chunk: Buffer) => {
            said += chunk.toString();
          });
          end = () => void child.kill('SIGINT');
        },
      },
    );
    return { running, said: () => said, end: () => end() };
  }

  it('switches relays after YES was typed, engine last and only when it was named; waits while the ignition is on', async () => {
    await desk.bench.command('ignition off');
    expect(
      findings(
        await runAgent(['doctor', '--json', '--relay-test', '--config', desk.config], { input: 'yes\n' }),
      ).at(-1),
    ).toBeDefined();
    expect((await desk.bench.command('log')).said).toBe('no change');
    await desk.bench.command('ignition on');
    // It waits and reports for what, and goes on when the key was turned.
    const { running, said: shown } = typed('enginecutoff');
    await waitUntil('the reason of the wait', () => shown().includes('waiting: Ignition is on'), {
      seen: shown,
    });
    expect((await desk.bench.command('log')).said).toBe('no change');
    await desk.bench.command('ignition off');
    const tested = findingsOf(findings(await running), 'relays');
    expect(tested.map(({ verdict, seen }) => [verdict, seen.split(' ')[0]])).toEqual([
      ['ok', 'cargoaccess'],
      ['ok', 'enginecutoff'],
    ]);
    expect(shown()).toMatch(/waiting: Ignition has been off for less than 10 s.* \(at least \d+ s more\)/);
    const { said, state } = await desk.bench.command('log');
    expect(said.split('\n').map((line) => line.split(/\s+/).slice(2, 4).join(' '))).toEqual([
      'cargoaccess energised',
      'cargoaccess released',
      'enginecutoff energised',
      'enginecutoff released',
    ]);
    expect(state.relays).toEqual({ enginecutoff: false, cargoaccess: false });
  });

  it('ends a wait by Ctrl-C with the reason for which it waited', async () => {
    await desk.bench.command('ignition on');
    const before = (await desk.bench.command('log')).said;
    const { running, said, end } = typed('');
    await waitUntil('the reason of the wait', () => said().includes('waiting: Ignition is on'), {
      seen: said,
    });
    end();
    const [refused] = findingsOf(findings(await running), 'relays');
    expect(refused).toMatchObject({ verdict: 'skipped', seen: expect.stringContaining('Ignition is on') });
    expect((await desk.bench.command('log')).said).toBe(before);
    await desk.bench.command('ignition off');
  });

  it('leaves the relay de-energised when Ctrl-C comes while it is on', async () => {
    const changes = async (): Promise<number> => (await desk.bench.command('log')).said.split('\n').length;
    const before = await changes();
    const running = runAgent(['doctor', '--relay-test', '--config', desk.config], {
      onChild: (child) => {
        child.stdin?.write('YES\n');
        child.stderr?.on('data', (chunk: Buffer) => {
          if (chunk.toString().includes('click')) setTimeout(() => child.kill('SIGINT'), 200);
        });
      },
    });
    await running;
    expect(await changes()).toBe(before + 2);
    expect((await desk.bench.command('log')).state.relays['cargoaccess']).toBe(false);
  });
});
