// A whole agent on simulated hardware and a virtual clock without a network: an hour of a vehicle's life in seconds, its
// events kept in a real outbox. Nothing of the product is left out but the network.
import { setImmediate as turn } from 'node:timers/promises';
import { standardProtection, standardSettings, toAgentConfig } from '../../../agent/config.ts';
import { type Outbox, openOutbox } from '../../../agent/outbox.ts';
import { createVirtualClock } from '../../../simulator/clock.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import { fittedOverrides } from '../../../simulator/hardware/board-maps.ts';
import { simulatedBus } from '../../../simulator/hardware/bus-hardware.ts';
import { createVehicle } from '../../../simulator/vehicle.ts';
import { createCityRoute } from '../../../simulator/world/city-route.ts';
import type { Route } from '../../../simulator/world/routes.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createVerifier, generateSigningKey } from '../../../src/adapters/signing.ts';
import type { Database, OpenMqttLink } from '../../../src/ports.ts';
import { openNoNetwork } from '../mqtt/no-network.ts';
import { silentLog } from '../storage/outbox-bench.ts';

const boardName = 'waveshare-io-analog';
const { publicKey } = generateSigningKey();

export interface VirtualVehicleOptions {
  readonly seed: string;
  /** A drive through a city from the seed unless given. */
  readonly route?: Route;
  readonly isParked?: boolean;
  /** It is a truck with a bus. */
  readonly hasBus?: boolean;
  /** Of the outbox; in memory unless given. */
  readonly path?: string;
  readonly maxMb?: number;
  readonly windowS?: number;
  readonly reporting?: Partial<typeof standardSettings.reporting>;
  readonly clockErrors?: { readonly offsetMs: number; readonly driftPpm: number };
  /** Called with the events that were stored. */
  onStored?(events: Awaited<ReturnType<Outbox['append']>>): void;
  /** Stands before the outbox's database. */
  readonly watch?: (database: Database) => Database;
  /** What it connects to, with the key of the broker there; unless given it finds no network. */
  readonly far?: { readonly openMqttLink: OpenMqttLink; readonly publicKey: string };
}

function configOf({ maxMb = 16, windowS = 10, reporting = {} }: VirtualVehicleOptions) {
  return toAgentConfig(
    {
      device: { account: 'demo', id: 'van-01' },
      broker: { url: 'mqtt://127.0.0.1:1', secretFile: '-', publicKey, keepaliveS: 60, connectSpreadS: 5 },
      storage: { path: ':memory:', maxMb, windowS },
      board: { profile: boardName, port: 'board', overrides: fittedOverrides(boardName) },
      gnss: { port: 'gnss', baud: 9600, silenceS: 5 },
      protection: standardProtection,
      local: { socket: '' },
      ...standardSettings,
      reporting: { ...standardSettings.reporting, ...reporting },
      log: { level: 'info' },
    },
    { secret: 'x'.repeat(32), agentVersion: '0.0.0', hardwareID: '' },
  );
}

/** Stands at the route's start for ever, ignition off. */
const parkedAt = (route: Route): Route => ({
  ...route,
  at: () => ({ ...route.at(0), speedKmh: 0, ignition: false, cabinDoor: false, cargoDoor: false }),
});

const centre = { latitude: 43.6511, longitude: -79.347 };

/** Starts it with standard settings; `close` must be called. */
export async function startVirtualVehicle(options: VirtualVehicleOptions) {
  const { seed, path = ':memory:', maxMb = 16, clockErrors, watch = (database) => database } = options;
  const clock = createVirtualClock(Date.UTC(2026, 10, 21, 8));
  const entropy = createSeededEntropy(seed);
  const route = options.route ?? createCityRoute({ centre, entropy: entropy.stream('route'), restS: 120 });
  let outbox: Outbox | null = null;
  const vehicle = await createVehicle({
    config: { ...(await configOf(options)), ...(options.hasBus === true ? { bus: simulatedBus } : {}) },
    boardName,
    route: options.isParked === true ? parkedAt(route) : route,
    startS: 120,
    clock,
    ...(clockErrors === undefined ? {} : { clockErrors }),
    entropy,
    agentEntropy: entropy.stream('agent'),
    log: silentLog,
    verifier: createVerifier(options.far?.publicKey ?? publicKey),
    openMqttLink: options.far?.openMqttLink ?? openNoNetwork,
    async openOutbox(ownClock, boot, bootMonoMs) {
      outbox = await openOutbox({
        path,
        maxBytes: maxMb * 1024 * 1024,
        openDatabase: async (file) => watch(openSqlite(file)),
        boot,
        bootMonoMs,
        clock: ownClock,
        entropy: entropy.stream('outbox'),
        log: silentLog,
      });
      const { onStored } = options;
      if (onStored === undefined) return outbox;
      const stored = outbox;
      return {
        ...stored,
        async append(...given) {
          const events = await stored.append(...given);
          onStored(events);
          return events;
        },
      };
    },
  });
  if (outbox === null) throw new Error('the vehicle opened no outbox');
  const opened: Outbox = outbox;
  return {
    vehicle,
    outbox: opened,
    /** Lets it live for so many seconds, in steps; between them what was promised is done. */
    async pass(seconds: number): Promise<void> {
      for (let step = 0; step < seconds * 5; step += 1) {
        clock.advance(200);
        await turn();
      }
    },
    async close(): Promise<void> {
      const closed = vehicle.close().then(() => true);
      for (let isClosed = false; !isClosed; ) {
        clock.advance(100);
        isClosed = await Promise.race([closed, turn(false)]);
      }
    },
  };
}
