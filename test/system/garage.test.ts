// Trucks in garages, with real agents and brokers and a bus on a pseudo-terminal: no receiver shows that they stand, and no wire proves the
// ignition. The bus and the motion input cut them; what shows that a truck may roll, or proves nothing, does not.
// Limits are counted in epochs of the simulated receiver, one a second, in which the agent asked its board without a pause: on a machine that
// stalls its inputs are unknown, and it rightly waits.
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, it, type TestContext, vi } from 'vitest';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { DeadlineError, waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerSetup, provision } from '../support/programs/fleet-processes.ts';
import { entriesSince, restore, startDriving, wasArmed } from '../support/road/road-drive.ts';
import {
  type BrokerTemplate,
  type IssuedOrder,
  type RoadVehicle,
  startRoadVehicle,
} from '../support/road/road-vehicle.ts';
import { sleep } from '../support/serial/pty-bus.ts';

vi.setConfig({ maxConcurrency: 4, testTimeout: 600_000 });

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const why = missing ?? whyNotBuilt('agent') ?? whyNotBuilt('broker');

/**
 * Epochs: a cut of a parked truck is confirmed within `cut` without a pause; a cut that has no proof still waits after `watch`. A pause of more
 * than `lostMs` suspends the ignition until it is on again, and so many epochs in all are a hang.
 */
const limits = { cut: 30, quiet: 30, watch: 40, hang: 300, lostMs: 2800 } as const;
/** Cuts of one truck; with their restores one less than the changes of an hour. */
const cutsOfTruck = 3;

async function pass({ world }: RoadVehicle, epochs: number): Promise<void> {
  const until = world.epochs() + epochs;
  await waitUntil(`${epochs} epochs`, () => world.epochs() >= until, { everyMs: 100 });
}

/** A drive and a stop under the sky, which prove receiver, ignition and bus, and on into the garage at a walk, where the sky is lost. */
async function driveIn(vehicle: RoadVehicle): Promise<void> {
  const { world } = vehicle;
  await waitUntil('the first request to the board', () => world.pauses().length > 0, { everyMs: 100 });
  const from = world.epochs() + 1;
  await pass(vehicle, 8);
  await startDriving(vehicle, 50);
  await pass(vehicle, 22);
  await world.drive(0);
  world.isIgnitionOn = false;
  await pass(vehicle, 15);
  await startDriving(vehicle, 8);
  world.receiver.reception = 'tunnel';
  await pass(vehicle, 4);
  // A drive with a gap proves no bus.
  if (hasLostBoard(vehicle, from)) throw stalled();
}

const stalled = (): DeadlineError =>
  new DeadlineError('the machine stalled: the agent could not ask its board', true);

const hasLostBoard = ({ world }: RoadVehicle, since: number): boolean =>
  world.pauses().some(({ epoch, ms }) => epoch >= since && ms > limits.lostMs);

/** The key is off for longer than a cut without a position needs. */
async function leave(vehicle: RoadVehicle): Promise<void> {
  vehicle.world.isIgnitionOn = false;
  const from = vehicle.world.epochs();
  await pass(vehicle, 70);
  if (hasLostBoard(vehicle, from)) throw stalled();
}

const isConfirmed = (vehicle: RoadVehicle, order: IssuedOrder): boolean =>
  entriesSince(vehicle, order).some(({ state, pendingState }) => state === '1' && pendingState === null);

/** Epochs until the broker shows the cut as confirmed; null: not within the limit. */
async function epochsOfCut(
  vehicle: RoadVehicle,
  order: IssuedOrder,
  most: number = limits.cut,
): Promise<number | null> {
  const { world } = vehicle;
  const from = world.epochs();
  for (;;) {
    const now = world.epochs();
    if (isConfirmed(vehicle, order)) return now - from;
    if (hasLostBoard(vehicle, from) || now - from > limits.hang) throw stalled();
    const sound = now - Math.max(from, world.pauses().at(-1)?.epoch ?? 0);
    if (sound > most) return null;
    await sleep(100);
  }
}

const cut = (vehicle: RoadVehicle): Promise<IssuedOrder> => vehicle.order('enginecutoff', '1', 600);

describe.skipIf(why !== null).concurrent(why === null ? 'a truck in a garage' : `a truck [${why}]`, () => {
  const setup = createBrokerSetup('garage');
  let template: BrokerTemplate;
  let count = 0;

  beforeAll(() => {
    template = { ...setup, ...provision(setup, 'truck-1') };
  });
  afterAll(() => {
    rmSync(setup.folder, { recursive: true, force: true });
  });

  async function run(
    { task, expect }: TestContext,
    story: (vehicle: RoadVehicle) => Promise<void>,
  ): Promise<void> {
    count += 1;
    const vehicle = await startRoadVehicle(template, `${setup.folder}-${count}`, { hasBus: true });
    try {
      await driveIn(vehicle);
      await story(vehicle);
    } finally {
      const shown = vehicle.entries.map((entry) => JSON.stringify(entry)).join('\n');
      console.log(`${task.name}\n${shown}\npauses: ${JSON.stringify(vehicle.world.pauses())}`);
      await vehicle.close();
    }
    const inMotion = vehicle.world.board.orders.filter((one) => one.isEnergising && one.trueSpeedKmh > 0);
    expect(inMotion, 'orders in motion').toEqual([]);
    expect(vehicle.world.truck()?.transmissions(), 'frames written to the bus').toBe(0);
  }

  it('is cut each time within 30 epochs, its units awake and its parking brake set', (context) =>
    run(context, async (vehicle) => {
      await vehicle.world.drive(0);
      await leave(vehicle);
      const cuts: (number | null)[] = [];
      for (let n = 0; n < cutsOfTruck; n += 1) {
        cuts.push(await epochsOfCut(vehicle, await cut(vehicle)));
        await restore(vehicle);
        await pass(vehicle, 12);
      }
      context.expect(cuts).toEqual(cuts.map(() => context.expect.any(Number)));
    }));

  /** What keeps the cut waiting, and what ends it. */
  const doubts: readonly {
    readonly title: string;
    readonly reason: string;
    begin(vehicle: RoadVehicle): Promise<void>;
    end(vehicle: RoadVehicle): Promise<void>;
  }[] = [
    {
      title: 'it still rolls',
      reason: 'The motion input reports movement',
      // The units of its wheels and its gearbox show zero from the key on: from a walk they may, from more it is a sensor that was lost.
      begin: ({ world }) => world.drive(5),
      end: ({ world }) => world.drive(0),
    },
    {
      title: 'its parking brake is released',
      reason: 'share one supply of their contacts',
      async begin({ world }) {
        await world.drive(0);
        world.truck()?.setFaults({ isBrakeReleased: true });
      },
      end: async ({ world }) => world.truck()?.setFaults({ isBrakeReleased: false }),
    },
    {
      title: 'a gateway repeats the frames of its stop and it rolls away',
      reason: 'The motion input reports movement',
      async begin(vehicle) {
        const { world } = vehicle;
        await world.drive(0);
        world.isIgnitionOn = false;
        await pass(vehicle, 4);
        world.truck()?.setFaults({ isRepeating: true });
        await world.drive(8);
      },
      async end({ world }) {
        await world.drive(0);
        world.truck()?.setFaults({ isRepeating: false });
      },
    },
  ];

  it.for(doubts.map((one) => [one.title, one] as const))(
    'is not cut while %s, and is cut after that',
    ([, { reason, begin, end }], context) =>
      run(context, async (vehicle) => {
        const { expect } = context;
        // The motion input must be quiet after a movement for longer than the units stay awake.
        vehicle.world.truck()?.setFaults({ isKeptAwake: true });
        await begin(vehicle);
        await leave(vehicle);
        const order = await cut(vehicle);
        await waitUntil('the command to be armed', () => wasArmed(vehicle, order));
        await pass(vehicle, limits.watch);
        expect(vehicle.world.board.orders.filter(({ isEnergising }) => isEnergising)).toEqual([]);
        const reasons = entriesSince(vehicle, order).map(({ pendingReason }) => pendingReason);
        expect(reasons.join('\n')).toContain(reason);
        await end(vehicle);
        // After a movement the motion input must be quiet first.
        const most = limits.quiet + limits.cut;
        expect(await epochsOfCut(vehicle, order, most), 'epochs until it is cut').toEqual(expect.any(Number));
      }),
  );
});
