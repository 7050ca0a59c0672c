// What an event costs on the wire: the events of a whole agent that drives a recorded track for a while, encoded alone and
// together, beside the same events as JSON and a record of Teltonika's Codec 8. Counts, no times.
import { readFileSync } from 'node:fs';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createCityRoute } from '../../simulator/world/city-route.ts';
import type { Route } from '../../simulator/world/routes.ts';
import { createTrackRoute } from '../../simulator/world/track-route.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { encodeProtobuf } from '../../src/core/events/event-protobuf.ts';
import { sharedData } from '../support/machine/shared-data.ts';
import { createAnsweringNetwork, type EventPacket } from '../support/mqtt/answering-network.ts';
import { drain } from '../support/storage/outbox-bench.ts';
import { startVirtualVehicle } from '../support/virtual/virtual-vehicle.ts';
import { type Figure, percentile, type Say } from './agent-figures.ts';

const track = 'routes/munich-car-1hz.csv';
const driveS = 3600;
const batches = [1, 10, 25, 100] as const;
/** Codec 8 with our set of inputs and measures, and the envelope of a packet (research "edge-agents", T1 and T2). */
const codec8 = { recordBytes: 52, envelopeBytes: 15 } as const;
/** Goal G2 of the research. */
const goals: Readonly<Partial<Record<number, number>>> = { 1: 60, 25: 20, 100: 20 };

/** A recorded drive where it is there, else generated streets. */
export function benchRoute(): Route {
  const recorded = sharedData(track);
  return recorded === null ? townRoute() : createTrackRoute(readFileSync(recorded, 'utf8'), track);
}

const townRoute = (): Route =>
  createCityRoute({
    centre: { latitude: 43.6511, longitude: -79.347 },
    entropy: createSeededEntropy('bench').stream('route'),
    restS: 120,
  });

const home = { accountID: 'demo', deviceID: 'van-01' };
const liveGoal = 28;

interface Sent {
  readonly packets: number;
  readonly events: number;
  readonly bytes: number;
}

/** What a whole agent sends in an hour of town traffic, with MQTT headers and without TLS; the start does not count. */
async function sendLive(offersShort: boolean): Promise<Sent> {
  const route = townRoute();
  const packets: EventPacket[] = [];
  const far = createAnsweringNetwork(home, offersShort, (packet) => void packets.push(packet));
  const hour = await startVirtualVehicle({ seed: 'hour', route, maxMb: 64, windowS: 60, far });
  await hour.pass(60);
  packets.length = 0;
  await hour.pass(driveS);
  await hour.close();
  return {
    packets: packets.length,
    events: packets.reduce((sum, { events }) => sum + events.length, 0),
    bytes: packets.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

async function liveFigures(say: Say): Promise<readonly Figure[]> {
  say('wire: an hour in a town to a broker in memory, with the short topic and without');
  const [short, long] = [await sendLive(true), await sendLive(false)];
  const perPacket = short.events / short.packets;
  return [
    {
      section: 'wire',
      name: 'live, with headers',
      unit: 'B/event',
      value: short.bytes / short.events,
      baseline: { name: 'the same to a broker without the short topic', value: long.bytes / long.events },
      goal: liveGoal,
    },
    { section: 'wire', name: 'live, events in a packet', unit: 'events', value: perPacket },
  ];
}

interface Drive {
  readonly boot: string;
  readonly positions: readonly FleetEvent[];
  readonly others: readonly FleetEvent[];
}

async function drive(route: Route): Promise<Drive> {
  const hour = await startVirtualVehicle({ seed: 'hour', route, maxMb: 64 });
  await hour.pass(driveS);
  const found = await drain(hour.outbox);
  await hour.close();
  const of = (isPosition: boolean): FleetEvent[] =>
    found.filter(({ priority }) => (priority === 3) === isPosition).flatMap(({ events }) => events);
  return { boot: found[0]?.boot ?? '', positions: of(true), others: of(false) };
}

/** Bytes an event over all whole groups of `size`. */
function perEvent(
  events: readonly FleetEvent[],
  size: number,
  encode: (group: readonly FleetEvent[]) => number,
): number {
  let [bytes, count] = [0, 0];
  for (let from = 0; from + size <= events.length; from += size) {
    bytes += encode(events.slice(from, from + size));
    count += size;
  }
  return count === 0 ? Number.NaN : bytes / count;
}

/** Measures the wire; takes about as long as a virtual hour does. */
export async function benchWire(say: Say): Promise<readonly Figure[]> {
  const route = benchRoute();
  say(`wire: an hour of a whole agent along ${route.label}`);
  const { boot, positions, others } = await drive(route);
  say(`wire: ${positions.length} positions and samples, ${others.length} other events`);
  const ours = (group: readonly FleetEvent[]): number => {
    const { payload, count } = encodeProtobuf(boot, group);
    if (count !== group.length) throw new Error(`only ${count} of ${group.length} events fit a payload`);
    return payload.length;
  };
  const json = (group: readonly FleetEvent[]): number =>
    new TextEncoder().encode(JSON.stringify({ boot, events: group })).length;
  const figures = batches.flatMap((size): Figure[] => {
    const value = perEvent(positions, size, ours);
    const common = { section: 'wire', unit: 'B/event', value };
    const goal = goals[size] === undefined ? {} : { goal: goals[size] };
    const asCodec8 = codec8.recordBytes + codec8.envelopeBytes / size;
    return [
      {
        ...common,
        name: `by ${size}`,
        baseline: { name: 'Codec 8 with its envelope', value: asCodec8 },
        ...goal,
      },
      {
        ...common,
        name: `by ${size}`,
        baseline: { name: 'the same as JSON', value: perEvent(positions, size, json) },
      },
    ];
  });
  const alone = positions.map((event) => ours([event]));
  const news = others.map((event) => ours([event]));
  return [
    ...figures,
    { section: 'wire', name: 'alone, the longest position', unit: 'B', value: Math.max(...alone), goal: 60 },
    { section: 'wire', name: 'alone, median of the others', unit: 'B', value: percentile(news, 0.5) },
    { section: 'wire', name: 'alone, the longest of the others', unit: 'B', value: Math.max(0, ...news) },
    ...(await liveFigures(say)),
  ];
}
