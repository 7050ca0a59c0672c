// The lines of receiver and evidence in the status. Pure. Both come from one set of facts, so that neither denies the other.
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';
import { clockText } from '../clock-verdict.ts';
import type { StatusLine } from '../kernel/module.ts';
import { countProven } from '../protection/witness-rules.ts';
import type { AgentFacts } from './agent-facts.ts';
import {
  faultText,
  obstacleText,
  proofAdvice,
  type ReceiverObstacle,
  receiverObstacle,
  unusableText,
} from './receiver-text.ts';
import type { VehicleStatus } from './status.ts';
import { formatSpan, isStarting, portLine, starting } from './status-line.ts';

/** Obstacle to a receiver's proof of standstill; null: none known. */
export const obstacleOf = ({ gnss, clock }: Pick<VehicleStatus, 'gnss' | 'clock'>): ReceiverObstacle | null =>
  receiverObstacle(gnss, clock.verdict);

function noFixLine(name: string, { upS, vehicle: { gnss } }: AgentFacts, details: string): StatusLine {
  if (isStarting({ upS }) && gnss.fixAgeS === null) return starting(name, `no position yet${details}`);
  const unusable = gnss.unusable === null ? null : unusableText(gnss.unusable);
  const last = gnss.fixAgeS === null ? 'none since the start' : `the last ${formatSpan(gnss.fixAgeS)} ago`;
  return {
    level: 'note',
    name,
    words: `no position, ${last}${details}${unusable === null ? '' : `; ${unusable.words}`}`,
    todo:
      unusable?.todo ??
      'A first position takes minutes under open sky; a roof or a metal lid over the antenna stops it.',
  };
}

/** Text on the receiver's view of movement, with a remedy where it has none. */
function motionOf({ gnss }: VehicleStatus, obstacle: ReceiverObstacle | null) {
  if (gnss.motion === 'moving') return { words: `moving at ${String(gnss.speedKmh)} km/h`, todo: '' };
  if (gnss.motion === 'still') return { words: `standing for ${formatSpan(gnss.standingS)}`, todo: '' };
  const { words, todo } = obstacle === null ? faultText(gnss) : obstacleText(obstacle);
  return { words: `standstill not proven: ${words}`, todo };
}

export function gnssLine(facts: AgentFacts): StatusLine {
  const name = 'GNSS';
  const { vehicle, upS } = facts;
  const { gnss, clock } = vehicle;
  if (gnss.state !== 'open') return portLine(name, gnss, upS);
  const isAntennaBad = gnss.antenna === 'open' || gnss.antenna === 'short';
  const received = Object.values(gnss.tracked).reduce((sum, count) => sum + count, 0);
  const sky = Object.keys(gnss.tracked).length === 0 ? '' : `, ${received} satellites received`;
  if (!gnss.hasFix && isAntennaBad && !isStarting({ upS }))
    return {
      level: 'fault',
      name,
      words: `no position; the receiver reports its antenna as ${gnss.antenna}`,
      todo: 'Check plug and cable.',
    };
  if (!gnss.hasFix) return noFixLine(name, facts, sky);
  const obstacle = obstacleOf(vehicle);
  const motion = motionOf(vehicle, obstacle);
  const date =
    obstacle?.kind === 'date' ? undefined : clock.verdict.find(({ kind }) => kind.startsWith('receiver_'));
  const wrongDate = date === undefined ? null : clockText(date);
  const unusable = gnss.unusable === null ? null : unusableText(gnss.unusable);
  const words = [
    `position ${formatSpan(gnss.fixAgeS)} old, ${gnss.satellites ?? '?'} satellites, HDOP ${gnss.hdop ?? '?'}, ${motion.words}`,
    ...(gnss.isSuspect ? ['lately doubtful'] : []),
    // A passive antenna and a splitter draw no current: beside a position the report means no more than that.
    ...(isAntennaBad
      ? [`the receiver reports its antenna as ${gnss.antenna}, as with a passive one or a splitter`]
      : []),
    ...(wrongDate === null ? [] : [wrongDate.words]),
    ...(unusable === null ? [] : [unusable.words]),
  ].join('; ');
  const isNote =
    gnss.isSuspect ||
    obstacle !== null ||
    wrongDate !== null ||
    unusable !== null ||
    gnss.fault === 'fix_late';
  return {
    level: isNote ? 'note' : 'ok',
    name,
    words,
    todo: [isNote ? motion.todo : '', wrongDate?.todo ?? '', unusable?.todo ?? '']
      .filter((one) => one !== '')
      .join(' '),
  };
}

const driveWords = { driving: 'driving', standing: 'standing', unknown: 'not known' } as const;

/** Driving or standing; a standstill of before the start, or one that the receiver does not show now, is named as such. */
function driveText({ evidence: { drive, by, forS }, gnss }: VehicleStatus): string {
  if (drive === 'standing' && by === 'gnss' && gnss.motion !== 'still')
    return 'last known as standing, by gnss; not proven at this moment';
  if (drive === 'unknown' && gnss.motion === 'still') return 'standing, not for long enough yet';
  const shown = drive === 'unknown' || by === null ? driveWords[drive] : `${driveWords[drive]} by ${by}`;
  return `${shown} for ${formatSpan(forS)}`;
}

/** Fault to repair before a drive can prove anything; null: none. */
function blockerOf({ board, gnss, evidence: { witnesses } }: VehicleStatus): string | null {
  if (board.state !== 'open' || board.polledAgoS === null || board.polledAgoS > 15)
    return 'the I/O board must answer';
  return gnss.state !== 'open' && witnesses.gnss !== 'proven' ? 'the receiver must be connected' : null;
}

function evidenceAdvice(vehicle: VehicleStatus, fitted: readonly WitnessName[]): string {
  const { witnesses } = vehicle.evidence;
  const blocker = blockerOf(vehicle);
  const count = (...states: readonly string[]): number =>
    countProven((name) => states.includes(witnesses[name]));
  if (blocker === null && count('proven', 'suspended') >= 2)
    return 'Sensors that are suspended count once they were seen active: switch the ignition on and off, or drive.';
  const obstacle = witnesses.gnss === 'proven' ? null : obstacleOf(vehicle);
  return proofAdvice({ fitted, obstacle, blocker });
}

export function evidenceLine({ vehicle, upS }: AgentFacts): StatusLine {
  const { witnesses } = vehicle.evidence;
  const fitted = witnessNames.filter((name) => witnesses[name] !== 'absent');
  const states = fitted.map((name) => `${name} ${witnesses[name]}`).join(', ');
  const proven = countProven((name) => witnesses[name] === 'proven');
  const words = `${driveText(vehicle)}; ${states}`;
  if (proven >= 2) return { level: 'ok', name: 'Evidence', words, todo: '' };
  if (isStarting({ upS }) && (blockerOf(vehicle) !== null || !vehicle.gnss.hasFix))
    return starting('Evidence', words);
  return { level: 'note', name: 'Evidence', words, todo: evidenceAdvice(vehicle, fitted) };
}
