// `doctor --relay-test` with a person at the unit: which relays it moves, and that none stays energised.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { type Desk, findings, findingsOf, openDesk, runAgent } from '../support/programs/unit-desk.ts';

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const why = missing ?? whyNotBuilt('agent');

/** What a machine brings about that stands still for seconds: positions and readings are late, and the doctor asks for another test. */
const isLate =
  /was released early: (?!.*(Ignition is on|moves|movement|engine turns|alternator))|did not follow: /;
const mostTries = 10;

describe.skipIf(why !== null)(
  why === null ? 'the relay test' : `the relay test [${why}]`,
  { timeout: 1_200_000 },
  () => {
    let desk: Desk;

    beforeAll(async () => {
      desk = await openDesk(temporaryFolder('relays'));
    });

    afterAll(() => desk.close());

    const relayChanges = async (): Promise<readonly string[]> => {
      const { said } = await desk.bench.command('log');
      return said === 'no change'
        ? []
        : said.split('\n').map((line) => line.split(/\s+/).slice(2, 4).join(' '));
    };
    const speedKmh = async (): Promise<number> => (await desk.bench.command('status')).state.vehicle.speedKmh;

    /** Drives away and parks in sight of the receiver: where no stop was seen, a vehicle must stand for a minute without one late position. */
    async function driveAndPark(): Promise<void> {
      await desk.bench.command('ignition on');
      await desk.bench.command('speed 30');
      await waitUntil('30 km/h', async () => (await speedKmh()) > 29, { everyMs: 100 });
      await desk.bench.command('stop');
      await waitUntil('the stop', async () => (await speedKmh()) === 0, { everyMs: 100 });
      await desk.bench.command('ignition off');
    }

    /** The relay test with a person who stays: types YES as often as it is asked for. */
    function typed(relay: '' | 'enginecutoff') {
      let [said, end] = ['', () => {}];
      let [asked, driven] = [0, 0];
      let isOver = false;
      const count = (words: string): number => said.split(words).length - 1;
      const running = runAgent(
        ['doctor', '--json', '--relay-test', ...(relay === '' ? [] : [relay]), '--config', desk.config],
        {
          onChild: (child) => {
            child.stdin?.write('YES\n');
            child.stderr?.on('data', (chunk: Buffer) => {
              said += chunk.toString();
              for (; asked < count('Type YES to go on'); asked += 1)
                if (asked > 0) child.stdin?.write('YES\n');
            });
            end = () => void child.kill('SIGINT');
          },
        },
      ).finally(() => {
        isOver = true;
      });
      return {
        running,
        said: () => said,
        end: () => end(),
        /** Drives and parks whenever the doctor has seen no stop, or no key, until `isDone` or the end of the test. */
        async park(isDone: () => boolean | Promise<boolean>): Promise<void> {
          const noStop = (): number =>
            count('waiting: No stop was observed') + count('must be seen on once before that counts');
          const look = async (): Promise<boolean> => {
            if (noStop() > driven) {
              await driveAndPark();
              driven = noStop();
            }
            return isOver || (await isDone());
          };
          await waitUntil('the relays', look, { limitMs: 5 * hangMs, everyMs: 20, seen: () => said });
        },
      };
    }

    it('switches relays after YES was typed, engine last and only when it was named; waits while the ignition is on', async () => {
      await desk.bench.command('ignition off');
      expect(
        findings(
          await runAgent(['doctor', '--json', '--relay-test', '--config', desk.config], { input: 'yes\n' }),
        ).at(-1),
      ).toBeDefined();
      expect(await relayChanges()).toEqual([]);
      for (let tries = 1; ; tries += 1) {
        await desk.bench.command('ignition on');
        const before = (await relayChanges()).length;
        // It waits and reports for what, and goes on when the vehicle was parked and the key turned.
        const { running, said, park } = typed('enginecutoff');
        await waitUntil('the reason of the wait', () => said().includes('waiting: Ignition is on'), {
          seen: said,
        });
        expect(await relayChanges()).toHaveLength(before);
        await driveAndPark();
        await park(() => false);
        const tested = findingsOf(findings(await running), 'relays');
        expect((await desk.bench.command('log')).state.relays).toEqual({
          enginecutoff: false,
          cargoaccess: false,
        });
        expect(said()).toMatch(/waiting: Ignition has been off for less than 10 s.* \(at least \d+ s more\)/);
        if (tries < mostTries && tested.some(({ seen }) => isLate.test(seen))) continue;
        expect(tested).toEqual([
          expect.objectContaining({ verdict: 'ok', seen: expect.stringMatching(/^cargoaccess /) }),
          expect.objectContaining({ verdict: 'ok', seen: expect.stringMatching(/^enginecutoff /) }),
        ]);
        expect((await relayChanges()).slice(before)).toEqual([
          'cargoaccess energised',
          'cargoaccess released',
          'enginecutoff energised',
          'enginecutoff released',
        ]);
        return;
      }
    });

    it('ends a wait by Ctrl-C with the reason for which it waited', async () => {
      await desk.bench.command('ignition on');
      const before = await relayChanges();
      const { running, said, end } = typed('');
      await waitUntil('the reason of the wait', () => said().includes('waiting: Ignition is on'), {
        seen: said,
      });
      end();
      const [refused] = findingsOf(findings(await running), 'relays');
      expect(refused).toMatchObject({ verdict: 'skipped', seen: expect.stringContaining('Ignition is on') });
      expect(await relayChanges()).toEqual(before);
      await desk.bench.command('ignition off');
    });

    it('leaves the relay de-energised when Ctrl-C comes while it is on', async () => {
      const { length: before } = await relayChanges();
      for (let tries = 1; (await relayChanges()).length === before; tries += 1) {
        // An order that could not be on the wire at once is not sent.
        expect(tries).toBeLessThanOrEqual(mostTries);
        const { running, end, park } = typed('');
        await park(async () => (await relayChanges()).length > before);
        end();
        await running;
      }
      expect((await relayChanges()).slice(before)).toEqual(['cargoaccess energised', 'cargoaccess released']);
      expect((await desk.bench.command('log')).state.relays['cargoaccess']).toBe(false);
    });
  },
);
