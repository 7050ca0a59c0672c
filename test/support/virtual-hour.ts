// A whole agent on simulated hardware and a virtual clock without a network: an hour of a vehicle's life in seconds, its
// events kept in a real outbox. For counting what an hour stores; nothing of the product is left out but the network.
import { setImmediate as turn } from 'node:timers/promises';
import { standardProtection, standardSettings, standardUpdate, toAgentConfig } from '../../agent/config.ts';
import { type Outbox, openOutbox } from '../../agent/outbox.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/random.ts';
import type { Route } from '../../simulator/routes.ts';
import { createVehicle } from '../../simulator/vehicle.ts';
import { createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import type { OpenMqttLink } from '../../src/ports.ts';
import { silentLog } from './outbox-bench.ts';

/** Every attempt to connect fails a little later. */
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

async function standardConfig(publicKey: string) {
  return toAgentConfig(
    {
      device: { account: 'demo', id: 'van-01' },
      broker: { url: 'mqtt://127.0.0.1:1', secretFile: '-', publicKey, keepaliveS: 60, connectSpreadS: 5 },
      storage: { path: ':memory:', maxMb: 64, windowS: 10 },
      board: { profile: 'waveshare-io-analog', port: 'board' },
      gnss: { port: 'gnss', baud: 9600, silenceS: 5 },
      network: {},
      protection: standardProtection,
      update: standardUpdate,
      local: { socket: '' },
      ...standardSettings,
      log: { level: 'info' },
    },
    { secret: 'x'.repeat(32), agentVersion: '0.0.0' },
  );
}

/** Stands at the route's start for ever, ignition off. */
export const parkedAt = (route: Route): Route => ({
  ...route,
  at: () => ({ ...route.at(0), speedKmh: 0, ignition: false, cabinDoor: false, cargoDoor: false }),
});

export interface VirtualHour {
  /** Lets the vehicle live for so many seconds. */
  pass(seconds: number): Promise<void>;
  readonly outbox: Outbox;
  close(): Promise<void>;
}

/** Starts a vehicle with standard settings on `route`; its outbox is the file `path`, or `:memory:`. */
export async function startVirtualHour(route: Route, path: string): Promise<VirtualHour> {
  const clock = createVirtualClock(Date.UTC(2026, 10, 21, 8));
  const entropy = createSeededEntropy('hour');
  const { publicKey } = generateSigningKey();
  let outbox: Outbox | null = null;
  const vehicle = await createVehicle({
    config: await standardConfig(publicKey),
    boardName: 'waveshare-io-analog',
    route,
    startS: 120,
    clock,
    entropy,
    agentEntropy: entropy.stream('agent'),
    log: silentLog,
    verifier: createVerifier(publicKey),
    openMqttLink: openNothing,
    async openOutbox(ownClock, boot, bootMonoMs) {
      outbox = await openOutbox({
        path,
        maxBytes: 64 * 1024 * 1024,
        openDatabase: async (file) => openSqlite({ pageSize: 1024, ...file }),
        boot,
        bootMonoMs,
        clock: ownClock,
        entropy: entropy.stream('outbox'),
        log: silentLog,
      });
      return outbox;
    },
  });
  if (outbox === null) throw new Error('the vehicle opened no outbox');
  return {
    outbox,
    async pass(seconds) {
      for (let step = 0; step < seconds * 5; step += 1) {
        clock.advance(200);
        await turn();
      }
    },
    async close() {
      const closed = vehicle.close().then(() => true);
      for (let isClosed = false; !isClosed; ) {
        clock.advance(100);
        isClosed = await Promise.race([closed, turn(false)]);
      }
    },
  };
}
