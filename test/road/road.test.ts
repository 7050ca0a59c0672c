// Real agents and brokers, each vehicle with sensors that fail on the road. Every relay order that a board receives is
// compared with the true speed: no engine is cut and no cargo opened in motion; a parked vehicle is still cut within 30 s. A handful
// of scenarios runs always; `npm run test:road` runs all.
import { rmSync } from 'node:fs';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, it, type TestContext, vi } from 'vitest';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerSetup, provision, startBroker } from '../support/programs/fleet-processes.ts';
import {
  commission,
  cutParked,
  orderOnRoad,
  type ParkedCut,
  park,
  restore,
  startDriving,
  wasArmed,
  watchMs,
} from '../support/road/road-drive.ts';
import { heldSeqs, missingSeqs, readStatus, storedSeqs, watchSession } from '../support/road/road-events.ts';
import type { Reception } from '../support/road/road-receiver.ts';
import { describeRoad, ordersInMotion } from '../support/road/road-report.ts';
import {
  type BrokerTemplate,
  copyForeignBroker,
  type Feature,
  type RoadVehicle,
  startRoadVehicle,
  type VehicleWiring,
} from '../support/road/road-vehicle.ts';
import { sleep } from '../support/serial/pty-bus.ts';

vi.setConfig({ maxConcurrency: 20, testTimeout: 420_000 });

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });
const why = missing ?? whyNotBuilt('agent') ?? whyNotBuilt('broker');

const runsAll = env['FLEETWARD_TEST_ROAD'] === 'all';

const noMotionInput: VehicleWiring = { motionAddress: null };
/** Nothing is connected to address 7: it always reads 0. */
const unwiredMotionInput: VehicleWiring = { motionAddress: 7 };

interface RoadScenario {
  readonly title: string;
  readonly wiring: VehicleWiring;
  /** One of the handful that runs always. */
  readonly isBrief?: true;
  readonly speedKmh?: number;
  readonly feature?: Feature;
  readonly mislead: (vehicle: RoadVehicle) => void;
  /** What happens after the order and before the wait of 90 s. */
  readonly meanwhile?: (vehicle: RoadVehicle) => Promise<void>;
}

/** Sensors lose the truth: reception, and an ignition wire that reads 0 from now on. */
const lose =
  (reception: Reception) =>
  ({ world }: RoadVehicle): void => {
    world.receiver.reception = reception;
    world.board.wires.ignition = 'open';
  };

async function restartInTunnel(vehicle: RoadVehicle): Promise<void> {
  await sleep(8000);
  await vehicle.stopAgent('SIGKILL');
  await sleep(2000);
  vehicle.startAgent();
}

async function replugBoard({ world }: RoadVehicle): Promise<void> {
  await sleep(5000);
  await world.unplugBoard();
  world.board.wires.ignition = 'open';
  await sleep(8000);
  await world.plugBoard();
}

const inTunnel = ({ world }: RoadVehicle): void => {
  world.receiver.reception = 'tunnel';
};

const scenarios: readonly RoadScenario[] = [
  {
    title: 'an unwired motion input, a broken ignition wire and a tunnel',
    isBrief: true,
    wiring: unwiredMotionInput,
    mislead: lose('tunnel'),
  },
  {
    title: 'an unwired motion input, a broken ignition wire, a jammer and an agent that restarts',
    wiring: unwiredMotionInput,
    mislead: lose('jammed'),
    meanwhile: restartInTunnel,
  },
  {
    title: 'a board that is plugged back in a tunnel and reads ignition 0',
    wiring: unwiredMotionInput,
    mislead: inTunnel,
    meanwhile: replugBoard,
  },
  {
    title: 'a broken common of all inputs and a tunnel',
    isBrief: true,
    wiring: {},
    mislead({ world }) {
      world.receiver.reception = 'tunnel';
      world.board.hasInputCommon = false;
    },
  },
  {
    title: 'a motion input that pulses 1 s in 25, a broken ignition wire and a tunnel',
    wiring: { hasSparseMotion: true },
    mislead: lose('tunnel'),
  },
  {
    title: 'an ignition wire that chatters and then reads 0, without a motion input in a tunnel',
    wiring: unwiredMotionInput,
    mislead({ world }) {
      world.receiver.reception = 'tunnel';
      world.board.wires.ignition = 'chatter';
    },
    async meanwhile({ world }) {
      await sleep(10_000);
      world.board.wires.ignition = 'open';
    },
  },
  {
    title: 'a frozen receiver, a broken ignition wire and a supply voltage of 14.2 V',
    isBrief: true,
    wiring: { ...noMotionInput, profile: 'generic' },
    mislead: lose('frozen'),
  },
  {
    title: 'a position that moves with Doppler speed 0, and a broken ignition wire',
    wiring: noMotionInput,
    speedKmh: 8.6,
    mislead: lose('doppler-zero'),
  },
  {
    title: 'HDOP 4.9 with a Doppler speed of 2.9 km/h, and a broken ignition wire',
    wiring: noMotionInput,
    speedKmh: 8.6,
    mislead: lose('coarse'),
  },
  {
    title: 'a cargo unlock without a fix, with ignition on and then a broken ignition wire',
    wiring: unwiredMotionInput,
    feature: 'cargoaccess',
    mislead: inTunnel,
    async meanwhile({ world }) {
      await sleep(10_000);
      world.board.wires.ignition = 'open';
    },
  },
];

describe.skipIf(why !== null).concurrent(why === null ? 'on the road' : `on the road [${why}]`, () => {
  const setup = createBrokerSetup('road');
  let template: BrokerTemplate;
  /** Two vehicles start at the same time. */
  const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
  let count = 0;

  beforeAll(() => {
    template = { ...setup, ...provision(setup, 'truck-1') };
  });

  afterAll(() => {
    rmSync(setup.folder, { recursive: true, force: true });
  });

  /** Starts a vehicle, runs the scenario, prints its report and judges its orders. */
  async function run(
    { task, expect }: TestContext,
    wiring: VehicleWiring,
    scenario: (vehicle: RoadVehicle, cuts: ParkedCut[]) => Promise<void>,
  ): Promise<void> {
    count += 1;
    const folder = `${setup.folder}-${count}`;
    const lane = count % lanes.length;
    const start = Promise.resolve(lanes[lane]).then(() => startRoadVehicle(template, folder, wiring));
    lanes[lane] = start.catch(() => undefined);
    const vehicle = await start;
    const cuts: ParkedCut[] = [];
    try {
      await scenario(vehicle, cuts);
    } finally {
      console.log(`${task.name}\n${describeRoad(vehicle, cuts)}`);
      await vehicle.close();
    }
    expect.soft(ordersInMotion(vehicle), 'orders in motion').toEqual([]);
    expect
      .soft(
        cuts.filter(({ confirmedS }) => confirmedS === null),
        'parked cuts that failed',
      )
      .toEqual([]);
  }

  /** The commissioning drive, the cut of the parked vehicle and its restore. */
  async function prepare(vehicle: RoadVehicle, cuts: ParkedCut[]): Promise<void> {
    await commission(vehicle);
    cuts.push(await cutParked(vehicle));
    await restore(vehicle);
  }

  it('deletes no event on the acknowledgement of a broker with another signing key', (context) =>
    run(context, {}, async (vehicle) => {
      const { folder, broker } = vehicle;
      await sleep(5000);
      await startDriving(vehicle, 50);
      await sleep(15_000);
      await vehicle.stopBroker();
      await sleep(25_000);
      const held = heldSeqs(folder);
      const before = await readStatus(folder);
      const foreign = copyForeignBroker(template, `${folder}/foreign`, broker.mqttPort);
      const program = await startBroker(foreign, ['--new-fleet']);
      await watchSession(folder, 30_000).finally(() => program.signal('SIGTERM'));
      await program.ended();
      const after = await readStatus(folder);
      const kept = new Set(heldSeqs(folder));
      const lastSeq = Math.max(...kept);
      const missing = (): readonly number[] => missingSeqs(storedSeqs(folder), lastSeq);
      await vehicle.startBroker();
      await park(vehicle);
      await waitUntil('every event at the broker', () => missing().length === 0, {
        everyMs: 2000,
        seen: () => missing().join(' '),
      });
      const stored = storedSeqs(foreign.folder).length;
      const connects = after.connects - before.connects;
      console.log(
        `foreign broker: ${connects} sessions, ${stored} events stored, ${after.acknowledged - before.acknowledged} taken as acknowledged`,
      );
      const { expect } = context;
      expect.soft(after.acknowledged, 'acknowledged events').toBe(before.acknowledged);
      expect
        .soft(
          held.filter((seq) => !kept.has(seq)),
          'deleted events',
        )
        .toEqual([]);
    }));

  for (const gnssPeriodMs of runsAll ? [2000, 1000] : [2000]) {
    it(`cuts a parked vehicle within 30 s with a receiver that reports every ${gnssPeriodMs} ms`, (context) =>
      run(context, { gnssPeriodMs }, async (vehicle, cuts) => {
        await prepare(vehicle, cuts);
        await startDriving(vehicle, 60);
        await sleep(15_000);
        await park(vehicle);
        cuts.push(await cutParked(vehicle));
      }));
  }

  for (const scenario of scenarios.filter(({ isBrief }) => runsAll || isBrief === true)) {
    const { title, wiring, speedKmh = 60, feature = 'enginecutoff', mislead, meanwhile } = scenario;
    it(`moves no relay at ${speedKmh} km/h with ${title}`, (context) =>
      run(context, wiring, async (vehicle, cuts) => {
        await prepare(vehicle, cuts);
        await startDriving(vehicle, speedKmh);
        await sleep(5000);
        mislead(vehicle);
        await sleep(2000);
        const order = await orderOnRoad(vehicle, feature);
        await meanwhile?.(vehicle);
        await sleep(watchMs);
        context.expect.soft(wasArmed(vehicle, order), 'the agent held the command').toBe(true);
      }));
  }

  it('applies no cut again to a vehicle that was towed away while its board had no power', (context) =>
    run(context, unwiredMotionInput, async (vehicle, cuts) => {
      const { world } = vehicle;
      await commission(vehicle);
      cuts.push(await cutParked(vehicle));
      world.receiver.reception = 'tunnel';
      world.board.setPower(false);
      await Promise.all([sleep(30_000), world.drive(60)]);
      world.board.setPower(true);
      await sleep(75_000);
    }));

  it('carries out no expired cut after an offline restart with a receiver an hour behind', (context) =>
    run(context, {}, async (vehicle) => {
      const { world } = vehicle;
      // No relay moves before: a recent change alone would hold the cut back.
      await commission(vehicle);
      world.isIgnitionOn = true;
      await sleep(3000);
      const order = await vehicle.order('enginecutoff', '1', 60);
      await sleep(4000);
      context.expect.soft(wasArmed(vehicle, order), 'the agent held the command').toBe(true);
      await vehicle.stopAgent('SIGKILL');
      await vehicle.stopBroker();
      world.isIgnitionOn = false;
      world.receiver.clockOffsetMs = -3_600_000;
      await sleep(45_000);
      vehicle.startAgent();
      await sleep(45_000);
      // The command lives 60 s; 1 s more for the request.
      const late = world.board.orders.filter((seen) => seen.isEnergising && seen.atMs > order.atMs + 61_000);
      context.expect.soft(late, 'orders after the expiry').toEqual([]);
    }));
});
