// Vehicles of the latency bench, a process of its own: the real agent with its outbox on disk, on a simulated board and receiver
// at the line speed of real ones, parked with ignition off. It tells of every command that comes and every contact that
// moves, and gives no agent anything that a vehicle would not have.
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadSettings, readAgentConfig } from '../../agent/cli/settings-file.ts';
import { openOutbox } from '../../agent/outbox.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createVehicle, type Vehicle } from '../../simulator/vehicle.ts';
import { createRoute, type Route } from '../../simulator/world/routes.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import type { Log, OpenMqttLink } from '../../src/ports.ts';
import { type FleetNews, type FleetStart, machineMs, type VehicleOrder } from './latency-types.ts';

const clock = createSystemClock();
const entropy = createSystemEntropy();
const resolutionMs = 5;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });

const tell = (news: FleetNews): void => void process.send?.(news);

/** Stands in a yard in Toronto for ever, ignition off. */
function parkedRoute(): Route {
  const place = { latitude: 43.6532, longitude: -79.3832 };
  const still = { sM: 0, speedMps: 0, accelerationMps2: 0, jerkMps3: 0 };
  return createRoute({
    label: 'parked',
    path: [place, place],
    knots: [
      { tS: 0, ...still },
      { tS: 3600, ...still },
    ],
    phases: [{ tS: 0, ignition: false, cabinDoor: false, cargoDoor: false }],
  });
}

const complain = (event: string, fields: object = {}): void =>
  void process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
const quiet = (): void => undefined;
const log: Log = { debug: quiet, info: quiet, warn: complain, error: complain, with: () => log };

/** The link, which tells when something for the vehicle came. */
function watchedLink(deviceID: string, onUp: () => void): OpenMqttLink {
  return (options, handlers) =>
    openMqttLink(options, {
      ...handlers,
      onUp() {
        onUp();
        handlers.onUp();
      },
      onMessage(message, acknowledge) {
        if (message.topic.endsWith('/commands')) tell({ kind: 'message', deviceID, atMs: machineMs() });
        handlers.onMessage(message, acknowledge);
      },
    });
}

async function startOne({ deviceID, file }: VehicleOrder, onUp: () => void): Promise<Vehicle> {
  const settings = loadSettings({ config: file });
  const config = await readAgentConfig(settings.value);
  return createVehicle({
    config,
    boardName: 'waveshare-io-analog',
    route: parkedRoute(),
    startS: 0,
    clock,
    entropy: createSeededEntropy(deviceID),
    agentEntropy: entropy,
    log,
    verifier: createVerifier(settings.value.broker.publicKey),
    openMqttLink: watchedLink(deviceID, onUp),
    onContact({ feature, energised }) {
      if (feature !== null) tell({ kind: 'contact', deviceID, feature, energised, atMs: machineMs() });
    },
    openOutbox: (ownClock, boot, bootMonoMs) =>
      openOutbox({
        path: join(file, '..', 'outbox.db'),
        maxBytes: 16 * 1024 * 1024,
        openDatabase: openSqlite,
        boot,
        bootMonoMs,
        clock: ownClock,
        entropy,
        log,
      }),
  });
}

const vehicles: Vehicle[] = [];

async function start({ vehicles: orders }: FleetStart): Promise<void> {
  const up = new Set<string>();
  for (const order of orders) {
    const onUp = (): void => {
      up.add(order.deviceID);
      if (up.size === orders.length) tell({ kind: 'up' });
    };
    vehicles.push(await startOne(order, onUp));
  }
}

async function end(): Promise<void> {
  const cutWhileMoving = vehicles.reduce((sum, vehicle) => sum + vehicle.truth().cutWhileMoving, 0);
  const lagMostMs = Math.max(0, delay.max / 1e6 - resolutionMs);
  tell({ kind: 'truth', cutWhileMoving, lagMostMs });
  await Promise.all(vehicles.map((vehicle) => vehicle.close()));
  process.exit(0);
}

process.on('message', (order: FleetStart | 'look' | 'end') => {
  // What the starts took is no part of what is measured.
  if (order === 'look') {
    delay.enable();
    delay.reset();
  } else if (order === 'end') void end();
  else void start(order);
});
process.once('disconnect', () => process.exit(0));
