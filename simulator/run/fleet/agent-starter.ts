// Starts vehicles that are the real agent on simulated hardware. Everything random about a vehicle is drawn from the seed and its
// number alone, so that one more vehicle changes no other.
import { readFile } from 'node:fs/promises';
import {
  type AgentConfig,
  standardProtection,
  standardSettings,
  toAgentConfig,
} from '../../../agent/config.ts';
import type { SeededEntropy } from '../../core/random.ts';
import type { Scenario } from '../../core/scenario/scenario-schema.ts';
import { planActions, type ScriptedAction, startMsOf } from '../../core/scenario/scripted-actions.ts';
import { fittedOverrides } from '../../hardware/board-maps.ts';
import { simulatedBus } from '../../hardware/bus-hardware.ts';
import { createCityRoute } from '../../world/city-route.ts';
import type { Route } from '../../world/routes.ts';
import { createTrackRoute } from '../../world/track-route.ts';
import { createActionRunner } from './action-runner.ts';
import { startAgentVehicle } from './agent-vehicle.ts';
import type { FleetDevice, FleetOptions, StartedVehicle, VehicleStarter } from './fleet.ts';

/** The configuration that all vehicles share. */
function sharedConfig({ scenario, accountID, publicKey, version }: FleetOptions): Promise<AgentConfig> {
  const { fleet, reporting } = scenario;
  const { windowS, ...positions } = reporting;
  const overrides = fittedOverrides(fleet.board, fleet.wiring);
  const file = {
    device: { account: accountID, id: 'sim' },
    broker: {
      url: 'mqtt://127.0.0.1:1883',
      secretFile: 'simulated',
      publicKey,
      keepaliveS: 60,
      connectSpreadS: fleet.connectSpreadS,
    },
    storage: { path: ':memory:', maxMb: 16, windowS },
    board: {
      profile: fleet.board,
      port: 'simulated board',
      overrides: { ...overrides, polls: { ...overrides.polls, inputs: { periodMs: fleet.inputsMs } } },
    },
    gnss: { port: 'simulated gnss', baud: 9600, silenceS: 5 },
    network: {},
    protection: standardProtection,
    ...standardSettings,
    reporting: { ...standardSettings.reporting, ...positions },
    local: { socket: '' },
    log: { level: 'info' as const },
  };
  return toAgentConfig(file, { secret: 'set for each vehicle', agentVersion: version, hardwareID: '' });
}

/** Recorded tracks, read once; several vehicles may drive the same track. */
export async function readTracks(files: readonly string[]): Promise<readonly Route[]> {
  const tracks: Route[] = [];
  for (const file of files) tracks.push(createTrackRoute(await readFile(file, 'utf8'), file));
  return tracks;
}

function routeOf(
  { route: { latitude, longitude, restS } }: Scenario,
  of: { index: number; entropy: SeededEntropy; tracks: readonly Route[] },
): Route {
  const track = of.tracks[of.index % Math.max(1, of.tracks.length)];
  if (track !== undefined) return track;
  return createCityRoute({ centre: { latitude, longitude }, entropy: of.entropy.stream('route'), restS });
}

/** The numbers of everything random about a vehicle. */
export const entropyOf = (seed: SeededEntropy, index: number): SeededEntropy =>
  seed.stream(`vehicle ${index}`);

/** Route, start on the timetable and clock of a vehicle. */
export function drawVehicle(
  scenario: Scenario,
  of: { readonly index: number; readonly entropy: SeededEntropy; readonly tracks: readonly Route[] },
) {
  const route = routeOf(scenario, of);
  const chance = of.entropy.stream('start');
  const { clockOffsetS, clockDriftPpm } = scenario.fleet;
  const eitherSign = (most: number): number => (chance.fraction() * 2 - 1) * most;
  const startS = chance.fraction() * route.roundS;
  const clockErrors = { offsetMs: eitherSign(clockOffsetS * 1000), driftPpm: eitherSign(clockDriftPpm) };
  return { route, startS, clockErrors };
}

/** The actions of a vehicle as the scenario plans them. */
export function drawActions(
  scenario: Scenario,
  of: { readonly index: number; readonly entropy: SeededEntropy },
): readonly ScriptedAction[] {
  const fromMs = (startMsOf(scenario, of.index) ?? 0) + scenario.fleet.connectSpreadS * 1000;
  return planActions(scenario, { draw: of.entropy.stream('deeds'), fromMs });
}

function withActionRate(scenario: Scenario, factor: number): Scenario {
  return { ...scenario, phases: scenario.phases.map((phase) => ({ ...phase, rate: phase.rate * factor })) };
}

const hasBus = ({ fleet }: Scenario, index: number): boolean =>
  index < Math.round(fleet.busShare * fleet.devices);

async function start(
  options: FleetOptions,
  of: { readonly device: FleetDevice; readonly common: AgentConfig; readonly tracks: readonly Route[] },
): Promise<StartedVehicle> {
  const { scenario, time, ledger, ports } = options;
  const { device, common } = of;
  const { index, deviceID, secret } = device;
  const entropy = entropyOf(options.entropy, index);
  const drawn = drawVehicle(scenario, { index, entropy, tracks: of.tracks });
  const url = options.network.urlOf(index);
  const broker = { ...common.broker, url, secret, ...(options.ca === null ? {} : { ca: options.ca }) };
  const target = await startAgentVehicle({
    ports,
    time,
    ledger,
    config: { ...common, deviceID, broker, ...(hasBus(scenario, index) ? { bus: simulatedBus } : {}) },
    boardName: scenario.fleet.board,
    wiring: scenario.fleet.wiring,
    ...drawn,
    entropy,
    verifier: options.verifier,
    folder: options.folder,
    onAcknowledged: (notes, nowMs) => options.onAcknowledged(deviceID, notes, nowMs),
  });
  let plans = 0;
  const actor = createActionRunner({
    clock: ports.clock,
    target,
    actions: drawActions(scenario, { index, entropy }),
    nowMs: time.nowMs,
    record: (kind) => void ledger.fact(deviceID, kind, time.nowMs()),
  });
  return {
    member: {
      deviceID,
      isUp: target.isUp,
      cutLink: target.cutLink,
      agent: target,
    },
    setRate(factor) {
      plans += 1;
      const changed = factor === 1 ? scenario : withActionRate(scenario, factor);
      const draw = entropy.stream(`deeds ${plans}`);
      actor.plan(planActions(changed, { draw, fromMs: time.nowMs() }));
    },
    stopActivity: actor.close,
    async close() {
      actor.close();
      await target.close();
    },
  };
}

/** Reads the shared configuration and tracks. Rejects with AppError `config` when one is wrong. */
export async function createAgentStarter(options: FleetOptions): Promise<VehicleStarter> {
  const common = await sharedConfig(options);
  const tracks = await readTracks(options.scenario.route.files);
  return (device) => start(options, { device, common, tracks });
}
