// What a record and an hour cost the flash. Counts, never times: bytes written per record on the real files (goal G3 of
// the research), and commits of a whole agent in an hour parked and an hour of driving.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { standardProtection, standardSettings, standardUpdate, toAgentConfig } from '../../agent/config.ts';
import { openOutbox } from '../../agent/outbox.ts';
import { createCityRoute } from '../../simulator/city-route.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/random.ts';
import type { Route } from '../../simulator/routes.ts';
import { createVehicle } from '../../simulator/vehicle.ts';
import { createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import type { OpenMqttLink } from '../../src/ports.ts';
import { silentLog } from '../support/outbox-bench.ts';
import { requires } from '../support/requires.ts';
import { measureRecordCost } from '../support/storage-cost.ts';

const { missing } = requires({ commands: ['strace'], debian: ['strace'] });

describe.skipIf(missing !== null)(
  `bytes written per record${missing === null ? '' : ` [${missing}]`}`,
  () => {
    it.each([
      { name: 'an alarm, committed alone', plan: { commits: 600, size: 1, priority: 2 }, most: 2600 },
      { name: 'a position in a window of 6', plan: { commits: 200, size: 6, priority: 3 }, most: 900 },
      { name: 'a position in a window of 25', plan: { commits: 60, size: 25, priority: 3 }, most: 600 },
    ] as const)('$name: at most $most', async ({ name, plan, most }) => {
      const cost = await measureRecordCost(plan);
      console.info(name, cost);
      expect(cost.bytesPerRecord).toBeLessThanOrEqual(most);
      // One for the commit; deletions and checkpoints share theirs over many.
      expect(cost.fsyncsPerCommit).toBeLessThanOrEqual(plan.size === 1 ? 1.1 : 1.5);
    });
  },
);

const { publicKey } = generateSigningKey();

/** No network: every attempt fails a little later. */
const openNothing: OpenMqttLink = (_, handlers) => {
  const never = new Promise<never>(() => undefined);
  setImmediate(() => handlers.onDown('no network'));
  return {
    publish: () => never,
    subscribe: () => never,
    close: () => Promise.resolve(),
    destroy: () => undefined,
  };
};

async function configOf() {
  return toAgentConfig(
    {
      device: { account: 'demo', id: 'van-01' },
      broker: { url: 'mqtt://127.0.0.1:1', secretFile: '-', publicKey, keepaliveS: 60, connectSpreadS: 5 },
      storage: { path: ':memory:', maxMb: 16, windowS: 10 },
      board: { profile: 'waveshare-io-analog', port: 'board' },
      gnss: { port: 'gnss', baud: 9600, silenceS: 5 },
      network: {},
      protection: standardProtection,
      update: standardUpdate,
      ...standardSettings,
      local: { socket: '' },
      log: { level: 'info' },
    },
    { secret: 'x'.repeat(32), agentVersion: '0.0.0' },
  );
}

/** Stands at its start for ever, ignition off. */
const parked = (route: Route): Route => ({
  ...route,
  at: () => ({ ...route.at(0), speedKmh: 0, ignition: false, cabinDoor: false, cargoDoor: false }),
});

/** Commits and records of a whole agent within `seconds` after a minute of settling in. */
async function countCommits(isParked: boolean, seconds: number) {
  const clock = createVirtualClock(Date.UTC(2026, 10, 21, 8));
  const entropy = createSeededEntropy('wear');
  const centre = { latitude: 43.6511, longitude: -79.347 };
  const route = createCityRoute({ centre, entropy: entropy.stream('route'), restS: 120 });
  const counts = { commits: 0, records: 0 };
  const vehicle = await createVehicle({
    config: await configOf(),
    boardName: 'waveshare-io-analog',
    route: isParked ? parked(route) : route,
    startS: 120,
    clock,
    entropy,
    agentEntropy: entropy.stream('agent'),
    log: silentLog,
    verifier: createVerifier(publicKey),
    openMqttLink: openNothing,
    openOutbox: (ownClock, boot, bootMonoMs) =>
      openOutbox({
        path: ':memory:',
        maxBytes: 16 * 1024 * 1024,
        openDatabase: async (file) => {
          const database = openSqlite({ pageSize: 1024, ...file });
          return {
            ...database,
            write: (batch) => {
              counts.commits += 1;
              counts.records += batch.filter(({ sql }) => /^INSERT INTO p[0-3]/.test(sql)).length;
              return database.write(batch);
            },
          };
        },
        boot,
        bootMonoMs,
        clock: ownClock,
        entropy: entropy.stream('outbox'),
        log: silentLog,
      }),
  });
  const pass = async (span: number): Promise<void> => {
    for (let step = 0; step < span * 5; step += 1) {
      clock.advance(200);
      await turn();
    }
  };
  await pass(60);
  const before = { ...counts };
  await pass(seconds);
  const closed = vehicle.close().then(() => true);
  const during = { commits: counts.commits - before.commits, records: counts.records - before.records };
  for (let isClosed = false; !isClosed; ) {
    clock.advance(100);
    isClosed = await Promise.race([closed, turn(false)]);
  }
  return during;
}

describe('commits, each of them one fsync', () => {
  it('of a parked vehicle: at most one a minute', async () => {
    const hour = await countCommits(true, 3600);
    console.info('an hour parked', hour);
    expect(hour.commits).toBeGreaterThan(0);
    expect(hour.commits).toBeLessThanOrEqual(60);
  });

  it('of a vehicle that drives: at most one for each window of 10 s, and those for news', async () => {
    const { commits, records } = await countCommits(false, 1800);
    console.info('half an hour of driving', { commits, records });
    expect(commits).toBeLessThanOrEqual(180 + 60);
    expect(records).toBeGreaterThan(100);
  });
});
