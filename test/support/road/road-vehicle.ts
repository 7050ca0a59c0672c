// A vehicle of the road tests: its world, the agent as a process and a broker of its own, operated over HTTP. Records what
// the broker shows of each command; it must never decide whether an order was safe.
import { appendFileSync, cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Api,
  type BrokerSetup,
  openApi,
  type Program,
  startBroker,
  startProgram,
  writeAgentConfig,
} from '../programs/fleet-processes.ts';
import { sleep } from '../serial/pty-bus.ts';
import type { RelayOrder } from './road-board.ts';
import { createRoadWorld, type RoadWorld } from './road-world.ts';

export type Feature = RelayOrder['relay'];

/** What differs from a `waveshare-relay-d` with every default input wired and a receiver at 1 Hz. */
export interface VehicleWiring {
  readonly profile?: 'waveshare-relay-d' | 'generic';
  /** Where the motion input is mapped to: the wired terminal 6 unless said; null = none is fitted. */
  readonly motionAddress?: number | null;
  /** The motion input shows the truth for 1 s in 25. */
  readonly hasSparseMotion?: boolean;
  readonly gnssPeriodMs?: number;
}

/** Provisioned broker files that every vehicle copies, with the identity in them. */
export interface BrokerTemplate extends BrokerSetup {
  readonly secret: string;
  readonly publicKey: string;
}

/** What the broker shows of a command; one entry for each change. */
export interface CommandEntry {
  readonly atMs: number;
  readonly feature: Feature;
  readonly state: string;
  readonly pendingState: string | null;
  readonly commandState: string | null;
  readonly pendingReason: string | null;
}

/** A command as the test asked for it; `atMs` is before the request. */
export interface IssuedOrder {
  readonly feature: Feature;
  readonly atMs: number;
  readonly trueSpeedKmh: number;
}

export interface RoadVehicle {
  readonly folder: string;
  readonly world: RoadWorld;
  readonly broker: BrokerSetup;
  readonly issued: readonly IssuedOrder[];
  readonly entries: readonly CommandEntry[];
  order(feature: Feature, state: '0' | '1', ttlS?: number): Promise<IssuedOrder>;
  startAgent(): void;
  /** Resolves when the process is gone. */
  stopAgent(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  startBroker(): Promise<void>;
  stopBroker(): Promise<void>;
  close(): Promise<void>;
}

const deviceID = 'truck-1';
const pollMs = 500;

/** A broker on a copy of the template, at free ports. */
export function copyBroker(template: BrokerTemplate, folder: string): BrokerSetup {
  cpSync(template.folder, folder, { recursive: true });
  return { folder, password: template.password, httpPort: 0, mqttPort: 0 };
}

/** A copy that knows the device's secret but makes another signing key when it starts. */
export function copyForeignBroker(template: BrokerTemplate, folder: string, mqttPort: number): BrokerSetup {
  const setup = copyBroker(template, folder);
  for (const name of readdirSync(folder)) if (name.endsWith('.signing-key.pem')) rmSync(join(folder, name));
  return { ...setup, mqttPort };
}

type ShownEntry = Omit<CommandEntry, 'atMs' | 'feature'>;

interface ShownDevice {
  readonly state: Readonly<Record<string, ShownEntry>>;
}

/** Reads the device every half second and keeps each change of its commands, while the broker answers. */
function watchCommands(get: () => Promise<ShownDevice>, entries: CommandEntry[]): () => void {
  const stopping = new AbortController();
  const last = new Map<Feature, string>();
  const read = async (): Promise<void> => {
    const { state } = await get();
    for (const feature of ['enginecutoff', 'cargoaccess'] as const) {
      const shown = state[feature];
      if (shown === undefined) continue;
      const { pendingState, commandState, pendingReason } = shown;
      const entry = { state: shown.state, pendingState, commandState, pendingReason };
      const text = JSON.stringify(entry);
      if (last.get(feature) !== text) entries.push({ atMs: performance.now(), feature, ...entry });
      last.set(feature, text);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // A stopped broker is part of some scenarios.
      await read().catch(() => undefined);
      await sleep(pollMs);
    }
  };
  void run();
  return () => stopping.abort();
}

async function endProgram(program: Program | null, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  program?.signal(signal);
  await program?.ended();
}

function writeConfig(
  template: BrokerTemplate,
  vehicle: { broker: BrokerSetup; world: RoadWorld },
  wiring: VehicleWiring,
) {
  const { broker, world } = vehicle;
  const config = writeAgentConfig({
    folder: broker.folder,
    secret: template.secret,
    publicKey: template.publicKey,
    mqttPort: broker.mqttPort,
    profile: wiring.profile ?? 'waveshare-relay-d',
    boardPort: world.boardPort,
    gnssPort: world.gnssPort,
  });
  appendFileSync(config, `[local]\nsocket = "${broker.folder}/agent.sock"\n`);
  const { motionAddress = 6 } = wiring;
  if (motionAddress !== null)
    appendFileSync(
      config,
      `[board.overrides.inputs]\nmotion = { poll = "inputs", address = ${motionAddress}, invert = false, debounceMs = 200 }\n`,
    );
  return config;
}

export async function startRoadVehicle(
  template: BrokerTemplate,
  folder: string,
  wiring: VehicleWiring,
): Promise<RoadVehicle> {
  const broker = copyBroker(template, folder);
  const { gnssPeriodMs = 1000 } = wiring;
  const world = await createRoadWorld({ folder, seed: folder, gnssPeriodMs });
  if (wiring.hasSparseMotion === true) world.board.wires.motion = 'sparse';
  let brokerProgram: Program | null = await startBroker(broker);
  let agent: Program | null = null;
  const api: Api = await openApi(broker);
  const config = writeConfig(template, { broker, world }, wiring);
  const entries: CommandEntry[] = [];
  const issued: IssuedOrder[] = [];
  const stopWatch = watchCommands(() => api.get(`/device/getdevice/${deviceID}/authorization`), entries);
  const vehicle: RoadVehicle = {
    folder,
    world,
    broker,
    issued,
    entries,
    async order(feature, state, ttlS) {
      const body = { deviceID, feature, state, ...(ttlS === undefined ? {} : { ttl: ttlS }) };
      const order = { feature, atMs: performance.now(), trueSpeedKmh: world.speedKmh() };
      await api.post('/command/feature/authorization', body);
      if (state === '1') issued.push(order);
      return order;
    },
    startAgent() {
      agent = startProgram('agent', ['start', '--config', config]);
    },
    async stopAgent(signal) {
      await endProgram(agent, signal);
    },
    async startBroker() {
      brokerProgram = await startBroker(broker);
    },
    async stopBroker() {
      await endProgram(brokerProgram, 'SIGTERM');
      brokerProgram = null;
    },
    async close() {
      stopWatch();
      await Promise.all([endProgram(agent, 'SIGKILL'), endProgram(brokerProgram, 'SIGKILL'), world.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  vehicle.startAgent();
  return vehicle;
}
