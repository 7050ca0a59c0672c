// Checks of the GNSS receiver: its speed, its sentences, the quality of its sky, and the difference of its time to
// this machine's. It only listens.
import type { AgentConfig } from '../config.ts';
import { closeSky, emptySky, recordSky, type SkyState } from '../core/alarms/sky.ts';
import { assembleEpochs, createEpochState, type Fix, flushEpoch } from '../core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../core/gnss/nmea.ts';
import {
  noReceiverFacts,
  type ReceiverFinding,
  receiverFindings,
  recordReport,
  recordSentences,
} from '../core/gnss/receiver-facts.ts';
import { receiverText } from '../core/status/receiver-text.ts';
import { usualBauds } from './board-search.ts';
import { listen, openBus } from './bus.ts';
import { type Check, type Finding, fault, ok, warning } from './check.ts';
import type { DoctorPorts } from './ports.ts';

const firstLookMs = 1500;
/** Three epochs at one a second, and the constellations of each. */
const longLookMs = 4000;

export interface GnssContext {
  readonly config: Pick<AgentConfig, 'gnssPort' | 'earliestUtcMs'>;
  readonly ports: DoctorPorts;
  isStopped(): boolean;
}

interface ReceiverOutput {
  readonly sentences: number;
  readonly types: readonly string[];
  readonly talkers: readonly string[];
  readonly spoilt: number;
  readonly stray: number;
  readonly fix: Fix | null;
  readonly voids: number;
  readonly sky: SkyState;
  readonly findings: readonly ReceiverFinding[];
}

/** Content of a stretch of bytes; each epoch is ended by the next one. */
function understand(bytes: Uint8Array, earliestUtcMs: number): ReceiverOutput {
  const { sentences, sky, rejected, ignored, strayBytes } = decodeNmea(createNmeaState(), bytes);
  let epochs = createEpochState({ earliestUtcMs });
  let fix: Fix | null = null;
  let voids = 0;
  let facts = recordSentences(noReceiverFacts, sentences, 0);
  const recordReports = (reports: ReturnType<typeof flushEpoch>['reports']): void => {
    for (const report of reports) {
      facts = recordReport(facts, report);
      if (report.kind === 'fix') fix = report.fix;
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
    fix,
    voids,
    sky: closeSky(recordSky(emptySky, sky, 0), 0),
    findings: receiverFindings(facts, { fix, epochs, nowMs: 0 }),
  };
}

/** The first usual speed at which sentences come; null when none. */
async function findBaud({
  config,
  ports,
  isStopped,
}: GnssContext): Promise<{ baud: number | null; bytes: number }> {
  const { gnssPort } = config;
  let bytes = 0;
  for (const baud of [gnssPort.baudRate, ...usualBauds.filter((one) => one !== gnssPort.baudRate)]) {
    if (isStopped()) break;
    const received = await listen({ ...gnssPort, baudRate: baud }, firstLookMs, ports);
    bytes += received.length;
    if (understand(received, config.earliestUtcMs).sentences > 0) return { baud, bytes };
  }
  return { baud: null, bytes };
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
      'The receiver may talk a binary protocol: set it to NMEA 0183.',
    );
  return (await isBoard(context))
    ? fault(
        `an I/O board answers on ${path}: the two ports are swapped`,
        'Exchange board.port and gnss.port.',
      )
    : fault(`the receiver at ${path} is silent`, 'Check its supply and the wire from its TX to our RX.');
}

function positionFindings({ fix, voids, sky, findings: about }: ReceiverOutput): readonly Finding[] {
  const counts = Object.entries(sky.constellations).map(
    ([talker, { tracked, strong }]) => `${talker} ${tracked} (${strong} strong)`,
  );
  const skyWords =
    counts.length === 0 ? 'it reports no satellites' : `satellites received: ${counts.join(', ')}`;
  const antenna = sky.antenna;
  const findings: Finding[] = [];
  if (antenna === 'open' || antenna === 'short')
    findings.push(fault(`the receiver reports its antenna as ${antenna}`, 'Check plug and cable.'));
  const unusable = about.filter(({ kind }) => kind === 'unusable').map(receiverText);
  for (const { words, todo } of unusable) findings.push(warning(words, todo));
  if (fix === null && unusable.length > 0) return [...findings, warning(`no position; ${skyWords}`, '')];
  if (fix === null)
    return [
      ...findings,
      warning(
        `no position${voids > 0 ? ', the receiver says so itself' : ''}; ${skyWords}`,
        'Under open sky a first position takes up to a few minutes. Few satellites there: look at the antenna.',
      ),
    ];
  const words = `position with ${fix.satellites ?? '?'} satellites, HDOP ${fix.hdop ?? '?'}; ${skyWords}`;
  const isPoor = fix.hdop === null || fix.hdop > 5;
  findings.push(
    isPoor
      ? warning(
          words,
          'HDOP above 5, or not reported, proves no standstill: a better place for the antenna, and GGA or GSA switched on.',
        )
      : ok(words),
  );
  for (const finding of about) {
    const { words: wrong, todo } = receiverText(finding);
    if (finding.kind !== 'unusable') findings.push(fault(wrong, todo));
  }
  const doubts = fix.doubts.filter((doubt) => doubt !== 'date-before-build');
  if (doubts.length > 0)
    findings.push(warning(`the position is doubtful: ${doubts.join(', ')}`, 'Spoofing: go outside.'));
  return findings;
}

const clockMostS = 2;

/** How far the receiver's time is from this machine's, where it has one. */
function clockFinding({ fix }: ReceiverOutput, utcMs: number): readonly Finding[] {
  if (fix === null || fix.utcMs === null || fix.doubts.includes('date-before-build')) return [];
  const apartS = Math.round((utcMs - fix.utcMs) / 1000);
  const words = `this machine's clock is ${Math.abs(apartS)} s ${apartS < 0 ? 'behind' : 'ahead of'} GNSS`;
  // The check ends up to four seconds after the fix.
  return [
    Math.abs(apartS) > clockMostS + longLookMs / 1000
      ? warning(words, 'Set the clock (timedatectl): with a wrong one mqtts:// refuses certificates.')
      : ok('this machine and GNSS agree on the time'),
  ];
}

export function gnssCheck(context: GnssContext): Check {
  const { config, ports } = context;
  return {
    id: 'gnss',
    title: 'GNSS receiver',
    mostS: 60,
    async run() {
      const { gnssPort, earliestUtcMs } = config;
      const { baud, bytes } = await findBaud(context);
      if (baud === null) return [await nothingReceived(context, bytes)];
      const received = understand(
        await listen({ ...gnssPort, baudRate: baud }, longLookMs, ports),
        earliestUtcMs,
      );
      const words = `${received.types.join(', ') || 'no useful sentence'} from ${received.talkers.join(', ') || 'no talker'} at ${baud} baud`;
      const spoilt = received.spoilt > 1 ? `, ${received.spoilt} spoilt` : '';
      return [
        baud === gnssPort.baudRate
          ? ok(`${words}${spoilt}`)
          : fault(`${words}${spoilt}; agent.toml says ${gnssPort.baudRate}`, `Set gnss.baud = ${baud}.`),
        ...positionFindings(received),
        ...clockFinding(received, ports.clock.utcMs()),
      ];
    },
  };
}
