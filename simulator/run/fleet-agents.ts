// Vehicles of a run that are the real agent on simulated hardware. What a vehicle is like is drawn from the seed and its number
// alone, so that one more vehicle changes nothing for another.
import { readFile } from 'node:fs/promises';
import {
  type AgentConfig,
  standardProtection,
  standardSettings,
  standardUpdate,
  toAgentConfig,
} from '../../agent/config.ts';
import { type Deed, planDeeds, startMsOf } from '../core/deeds.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import { fittedOverrides } from '../hardware/board-maps.ts';
import type { SeededEntropy } from '../random.ts';
import { createCityRoute } from '../world/city-route.ts';
import type { Route } from '../world/routes.ts';
import { createTrackRoute } from '../world/track-route.ts';
import { createDeedActor } from './deed-actor.ts';
import type { FleetDevice, FleetOptions, Made, Maker } from './fleet.ts';
import { startFleetVehicle } from './fleet-vehicle.ts';

/** What all vehicles have in common. */
function configOf({ scenario, accountID, publicKey, version }: FleetOptions): Promise<AgentConfig> {
  const { fleet, reporting } = scenario;
  const { windowS, ...positions } = reporting;
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
      overrides: { ...fittedOverrides(fleet.board), polls: { inputs: { periodMs: fleet.inputsMs } } },
    },
    gnss: { port: 'simulated gnss', baud: 9600, silenceS: 5 },
    network: {},
    protection: standardProtection,
    update: standardUpdate,
    ...standardSettings,
    reporting: { ...standardSettings.reporting, ...positions },
    local: { socket: '' },
    log: { level: 'info' as const },
  };
  return toAgentConfig(file, { secret: 'set for each vehicle', agentVersion: version });
}

/** Recorded tracks, read once; a vehicle may share its road with others. */
async function readTracks(files: readonly string[]): Promise<readonly Route[]> {
  const tracks: Route[] = [];
  for (const file of files) tracks.push(createTrackRoute(await readFile(file, 'utf8'), file));
  return tracks;
}

function routeOf(
  options: FleetOptions,
  of: { index: number; entropy: SeededEntropy; tracks: readonly Route[] },
): Route {
  const { latitude, longitude, restS } = options.scenario.route;
  const track = of.tracks[of.index % Math.max(1, of.tracks.length)];
  if (track !== undefined) return track;
  return createCityRoute({ centre: { latitude, longitude }, entropy: of.entropy.stream('route'), restS });
}

/** The same with deeds so many times as often. */
function busier(scenario: Scenario, factor: number): Scenario {
  return { ...scenario, phases: scenario.phases.map((phase) => ({ ...phase, rate: phase.rate * factor })) };
}

async function make(
  options: FleetOptions,
  of: { readonly device: FleetDevice; readonly common: AgentConfig; readonly tracks: readonly Route[] },
): Promise<Made> {
  const { scenario, time, ledger, ports } = options;
  const { device, common } = of;
  const { index, deviceID, secret } = device;
  const entropy = options.entropy.stream(`vehicle ${index}`);
  const route = routeOf(options, { index, entropy, tracks: of.tracks });
  const chance = entropy.stream('start');
  const { clockOffsetS, clockDriftPpm } = scenario.fleet;
  const either = (most: number): number => (chance.fraction() * 2 - 1) * most;
  const url = options.network.urlOf(index);
  const broker = { ...common.broker, url, secret, ...(options.ca === null ? {} : { ca: options.ca }) };
  const target = await startFleetVehicle({
    ports,
    time,
    ledger,
    config: { ...common, deviceID, broker },
    boardName: scenario.fleet.board,
    route,
    startS: chance.fraction() * route.roundS,
    clockErrors: { offsetMs: either(clockOffsetS * 1000), driftPpm: either(clockDriftPpm) },
    entropy,
    verifier: options.verifier,
    folder: options.folder,
    onAcknowledged: (notes, nowMs) => options.onAcknowledged(deviceID, notes, nowMs),
  });
  const fromMs = startMsOf(scenario, index) ?? 0;
  const plan = (stream: string, from: { fromMs: number; factor: number }): readonly Deed[] =>
    planDeeds(from.factor === 1 ? scenario : busier(scenario, from.factor), {
      draw: entropy.stream(stream),
      fromMs: from.fromMs,
    });
  let plans = 0;
  const actor = createDeedActor({
    clock: ports.clock,
    target,
    deeds: plan('deeds', { fromMs: fromMs + scenario.fleet.connectSpreadS * 1000, factor: 1 }),
    nowMs: time.nowMs,
    note: (kind) => void ledger.fact(deviceID, kind, time.nowMs()),
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
      actor.plan(plan(`deeds ${plans}`, { fromMs: time.nowMs(), factor }));
    },
    rest: actor.close,
    async close() {
      actor.close();
      await target.close();
    },
  };
}

/** Reads what all vehicles share. Rejects with AppError `config` when the settings or a track are wrong. */
export async function createAgentMaker(options: FleetOptions): Promise<Maker> {
  const common = await configOf(options);
  const tracks = await readTracks(options.scenario.route.files);
  return (device) => make(options, { device, common, tracks });
}
