// Checks of the GNSS receiver: its speed, its sentences and how often they come, and the quality of its sky. It only listens.
import { dayMs } from '../../src/core/durations.ts';
import type { AgentConfig } from '../config.ts';
import { closeSky, emptySky, recordSky, type SkyState } from '../core/alarms/sky.ts';
import { assembleEpochs, createEpochState, type Fix, flushEpoch } from '../core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../core/gnss/nmea.ts';
import type { Sentence } from '../core/gnss/nmea-sentences.ts';
import {
  noReceiverFacts,
  recordSentences,
  type Unusable,
  unusableLately,
} from '../core/gnss/receiver-facts.ts';
import {
  obstacleText,
  paceObstacle,
  type ReceiverObstacle,
  type ReceiverPace,
  unusableText,
} from '../core/status/receiver-text.ts';
import { usualBauds } from './board-search.ts';
import { type Capture, listen, openBus } from './bus.ts';
import { type Check, type Finding, fault, ok, warning } from './check.ts';
import type { DoctorPorts } from './ports.ts';
import type { Sightings } from './sightings.ts';

/** A receiver of 0.2 Hz is silent for up to 5 s, and its burst lasts a second at 4800 baud. A wrong speed shows bytes too, so a silent line is silent at each. */
const firstLookMs = { whole: 6500, silent: 1500, again: 11_000 } as const;
/** Two epochs of such a receiver; less where all that is needed was seen. */
const longLookMs = 12_500;
/** So many bytes without a sentence are none at this speed. */
const hopelessBytes = 1500;
/** The end of a burst: the gap inside one is at most 0.1 s. */
const burstEndMs = 200;

export interface GnssContext {
  readonly config: Pick<AgentConfig, 'gnssPort' | 'earliestUtcMs'>;
  readonly ports: DoctorPorts;
  /** Takes what the receiver shows of time, and what keeps it from proving standstill. */
  readonly sightings: Sightings;
  isStopped(): boolean;
}

interface ReceiverOutput {
  readonly sentences: number;
  readonly types: readonly string[];
  readonly talkers: readonly string[];
  readonly spoilt: number;
  readonly stray: number;
  /** Newest last. */
  readonly fixes: readonly Fix[];
  readonly voids: number;
  /** Seconds between two epochs, by their own times; null: fewer than two. */
  readonly everyS: number | null;
  readonly sky: SkyState;
  readonly unusable: Unusable | null;
}

/** Seconds between two moments of the sentences that carry one: the median; null when there are fewer than two. */
function intervalOf(sentences: readonly Sentence[]): number | null {
  const times = [
    ...new Set(
      sentences.flatMap((one) =>
        (one.type === 'RMC' || one.type === 'GGA' || one.type === 'GNS') && one.timeMs !== null
          ? [one.timeMs]
          : [],
      ),
    ),
  ];
  const steps = times.slice(1).map((timeMs, at) => (timeMs - (times[at] ?? 0) + dayMs) % dayMs);
  const middle = steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)];
  return middle === undefined ? null : middle / 1000;
}

/** Content of a stretch of bytes; each epoch is ended by the next one. */
function understand(bytes: Uint8Array, earliestUtcMs: number): ReceiverOutput {
  const { sentences, sky, rejected, ignored, strayBytes } = decodeNmea(createNmeaState(), bytes);
  let epochs = createEpochState({ earliestUtcMs });
  const fixes: Fix[] = [];
  let voids = 0;
  const recordReports = (reports: ReturnType<typeof flushEpoch>['reports']): void => {
    for (const report of reports) {
      if (report.kind === 'fix') fixes.push(report.fix);
      else voids += 1;
    }
  };
  // The bytes came within seconds; their own times separate the epochs.
  for (const sentence of sentences) {
    const step = assembleEpochs(epochs, sentence, 0);
    epochs = step.state;
    recordReports(step.reports);
  }
  recordReports(flushEpoch(epochs, 10_000).reports);
  return {
    sentences: sentences.length + sky.length + ignored,
    types: [
      ...new Set([...sentences, ...sky].map((one) => (one.type === 'unusable' ? one.of : one.type))),
    ].sort(),
    talkers: [
      ...new Set([...sentences, ...sky].flatMap((one) => ('talker' in one ? [one.talker] : []))),
    ].sort(),
    spoilt: Object.values(rejected).reduce((sum, count) => sum + count, 0),
    stray: strayBytes,
    fixes,
    voids,
    everyS: intervalOf(sentences),
    sky: closeSky(recordSky(emptySky, sky, 0), 0),
    unusable: unusableLately(recordSentences(noReceiverFacts, sentences, 0), 0),
  };
}

/** The first usual speed at which sentences come; null when none. */
async function findBaud({
  config,
  ports,
  isStopped,
}: GnssContext): Promise<{ baud: number | null; bytes: number }> {
  const { gnssPort, earliestUtcMs } = config;
  const has = (bytes: Uint8Array): boolean => understand(bytes, earliestUtcMs).sentences > 0;
  const isDecided = ({ bytes, bursts, quietMs }: Capture): boolean =>
    bytes.length > hopelessBytes || (bursts > 1 && quietMs >= burstEndMs) || (bytes.length > 0 && has(bytes));
  const look = async (baudRate: number, forMs: number): Promise<Uint8Array> =>
    (await listen({ ...gnssPort, baudRate }, forMs, ports, isDecided)).bytes;
  const { whole, silent, again } = firstLookMs;
  const first = await look(gnssPort.baudRate, whole);
  if (has(first)) return { baud: gnssPort.baudRate, bytes: first.length };
  let bytes = first.length;
  for (const baud of usualBauds.filter((one) => one !== gnssPort.baudRate)) {
    if (isStopped()) break;
    const more = await look(baud, bytes === 0 ? silent : whole);
    bytes += more.length;
    if (has(more)) return { baud, bytes };
  }
  // It was silent only for as long as the first look took.
  const isSeldom = first.length === 0 && bytes > 0 && has(await look(gnssPort.baudRate, again));
  return { baud: isSeldom ? gnssPort.baudRate : null, bytes };
}

const hasQuality = ({ hdop }: Fix): boolean => hdop !== null;
const hasSpeed = ({ rmcValid, speedKmh }: Fix): boolean => rmcValid && speedKmh !== null;

/** Positions with speed and quality were seen often enough to know the interval, or the receiver says itself that it has none. */
function isWhole({ fixes, voids, everyS }: ReceiverOutput): boolean {
  if (fixes.length === 0) return voids >= 3;
  const whole = fixes.filter((fix) => hasQuality(fix) && hasSpeed(fix)).length;
  return everyS !== null && whole >= (everyS > 2 ? 2 : 3);
}

/** How often it sends what; what came in one of three epochs comes three times as seldom. */
function paceOf({ fixes, everyS }: ReceiverOutput): ReceiverPace {
  const share = (has: (fix: Fix) => boolean): number | null => {
    const count = fixes.filter(has).length;
    return everyS === null || count === 0 ? null : (everyS * fixes.length) / count;
  };
  return {
    positionS: fixes.length === 0 ? null : (everyS ?? longLookMs / 1000),
    qualityS: share(hasQuality),
    speedS: share(hasSpeed),
  };
}

/** Whether a Modbus unit sits at this port: then the two are swapped. */
async function isBoard({ config, ports }: GnssContext): Promise<boolean> {
  for (const baudRate of [9600, 38_400, 19_200, 115_200]) {
    const bus = await openBus({ ...config.gnssPort, baudRate }, ports);
    try {
      for (const unit of [1, 2]) {
        const { kind } = await bus.ask({ kind: 'readBits', unit, function: 1, first: 0, count: 1 });
        if (kind === 'ok' || kind === 'exception') return true;
      }
    } finally {
      await bus.close();
    }
  }
  return false;
}

async function nothingReceived(context: GnssContext, bytes: number): Promise<Finding> {
  const { path } = context.config.gnssPort;
  if (bytes > 0)
    return fault(
      `${bytes} bytes came on ${path}, and no sentence at any usual speed`,
      'The receiver may talk a binary protocol: set it to NMEA 0183, RMC and GGA once a second.',
    );
  return (await isBoard(context))
    ? fault(
        `an I/O board answers on ${path}: the two ports are swapped`,
        'Exchange board.port and gnss.port.',
      )
    : fault(`the receiver at ${path} is silent`, 'Check its supply and the wire from its TX to our RX.');
}

/** Beside a position the report says no more than that no current flows: a passive antenna, a splitter. */
function antennaFindings({ fixes, sky: { antenna } }: ReceiverOutput): readonly Finding[] {
  if (antenna !== 'open' && antenna !== 'short') return [];
  const words = `the receiver reports its antenna as ${antenna}`;
  return fixes.length === 0
    ? [fault(words, 'Check plug and cable.')]
    : [ok(`${words}, and has a position: so do passive antennas and splitters`)];
}

function positionFindings(received: ReceiverOutput, obstacle: ReceiverObstacle | null): readonly Finding[] {
  const { fixes, voids, sky } = received;
  const counts = Object.entries(sky.constellations).map(
    ([talker, { tracked, strong }]) => `${talker} ${tracked} (${strong} strong)`,
  );
  const skyWords =
    counts.length === 0 ? 'it reports no satellites' : `satellites received: ${counts.join(', ')}`;
  const findings: Finding[] = [...antennaFindings(received)];
  const unusable = received.unusable === null ? null : unusableText(received.unusable);
  if (unusable !== null) findings.push(warning(unusable.words, unusable.todo));
  const fix = fixes.findLast(hasQuality) ?? fixes.at(-1);
  if (fix === undefined && unusable !== null) return [...findings, warning(`no position; ${skyWords}`, '')];
  if (fix === undefined)
    return [
      ...findings,
      warning(
        `no position${voids > 0 ? ', the receiver says so itself' : ''}; ${skyWords}`,
        'Under open sky a first position takes up to a few minutes. Few satellites there: look at the antenna.',
      ),
    ];
  const words = `position with ${fix.satellites ?? '?'} satellites, HDOP ${fix.hdop ?? '?'}; ${skyWords}`;
  findings.push(
    fix.hdop !== null && fix.hdop > 5
      ? warning(words, 'HDOP above 5 proves no standstill: a better place for the antenna.')
      : ok(words),
  );
  if (obstacle !== null) {
    const { words: seen, todo } = obstacleText(obstacle);
    const finding = obstacle.kind === 'no_speed' ? fault : warning;
    findings.push(finding(`${seen}: it proves no standstill`, todo));
  }
  // A date that is wrong is named with the clocks, where the broker's is known too.
  const doubts = fix.doubts.filter((doubt) => doubt !== 'date-before-build');
  if (doubts.length > 0)
    findings.push(
      warning(
        `the position is doubtful: ${doubts.join(', ')}`,
        'Spoofing, or a receiver that fails: go outside.',
      ),
    );
  return findings;
}

/** How far its clock is ahead of this machine's, ms; null where it shows no time. */
function aheadMs({ fixes }: ReceiverOutput, quietMs: number, utcMs: number): number | null {
  const shownMs = fixes.findLast((fix) => fix.utcMs !== null)?.utcMs ?? null;
  return shownMs === null ? null : shownMs + quietMs - utcMs;
}

export function gnssCheck(context: GnssContext): Check {
  const { config, ports, sightings } = context;
  return {
    id: 'gnss',
    title: 'GNSS receiver',
    mostS: 100,
    async run() {
      const { gnssPort, earliestUtcMs } = config;
      const { baud, bytes } = await findBaud(context);
      if (baud === null) return [await nothingReceived(context, bytes)];
      const settings = { ...gnssPort, baudRate: baud };
      const capture = await listen(
        settings,
        longLookMs,
        ports,
        (so) =>
          context.isStopped() || (so.quietMs >= burstEndMs && isWhole(understand(so.bytes, earliestUtcMs))),
      );
      const received = understand(capture.bytes, earliestUtcMs);
      const obstacle = paceObstacle(paceOf(received));
      if (received.fixes.length > 0)
        sightings.receiver = {
          aheadMs: aheadMs(received, capture.quietMs, ports.clock.utcMs()),
          obstacle,
        };
      const words = `${received.types.join(', ') || 'no useful sentence'} from ${received.talkers.join(', ') || 'no talker'} at ${baud} baud`;
      const spoilt = received.spoilt > 1 ? `, ${received.spoilt} spoilt` : '';
      return [
        baud === gnssPort.baudRate
          ? ok(`${words}${spoilt}`)
          : fault(`${words}${spoilt}; agent.toml says ${gnssPort.baudRate}`, `Set gnss.baud = ${baud}.`),
        ...positionFindings(received, obstacle),
      ];
    },
  };
}
