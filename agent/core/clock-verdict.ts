// What the clocks of this machine, the broker and the receiver say together: one decision from all that are known, so that no advice
// contradicts another. Pure. A clock that agrees with the broker's must never be named as the wrong one.

import { weekMs } from '../../src/core/durations.ts';

/** GPS sends the number of the week modulo this. */
const rollOverWeeks = 1024;
/** A rolled-over date is whole weeks off; the clock that it is compared with may itself be days off. */
const rollOverMostMs = 2 * 86_400_000;

/** UTC ms of one moment by each clock; null where it is not known. */
export interface ClockReadings {
  readonly machineMs: number | null;
  readonly brokerMs: number | null;
  readonly receiverMs: number | null;
}

export interface ClockLimits {
  /** No real clock shows an earlier time. */
  readonly earliestMs: number;
  /** Clocks that differ by less agree: the broker's, and the receiver's, ms. */
  readonly brokerMs: number;
  readonly receiverMs: number;
}

/** Differences are those of the clock that is named, positive where it is ahead, ms. */
export type ClockFinding =
  | { readonly kind: 'agree'; readonly clocks: readonly ('machine' | 'broker' | 'receiver')[] }
  /** The machine shows a time from before this release was made. */
  | { readonly kind: 'machine_early' }
  | { readonly kind: 'machine_off'; readonly byMs: number }
  | { readonly kind: 'broker_off'; readonly byMs: number }
  | { readonly kind: 'receiver_off'; readonly byMs: number }
  | { readonly kind: 'receiver_rolled_over'; readonly weeks: number }
  /** Machine and receiver differ, and no third clock says which is wrong. */
  | { readonly kind: 'machine_or_receiver'; readonly byMs: number };

/** Whole roll-overs of the week number in a difference, in weeks; 0: it is none. */
function rolledWeeks(byMs: number): number {
  const times = Math.round(byMs / (rollOverWeeks * weekMs));
  return Math.abs(byMs - times * rollOverWeeks * weekMs) <= rollOverMostMs ? times * rollOverWeeks : 0;
}

const differ = (a: number | null, b: number | null, mostMs: number): boolean =>
  a !== null && b !== null && Math.abs(a - b) > mostMs;

function receiverFindings(
  { machineMs, brokerMs, receiverMs }: ClockReadings,
  { earliestMs, ...most }: ClockLimits,
): readonly ClockFinding[] {
  const trueMs = brokerMs ?? (machineMs !== null && machineMs >= earliestMs ? machineMs : null);
  if (receiverMs === null || trueMs === null || !differ(receiverMs, trueMs, most.receiverMs)) return [];
  const byMs = receiverMs - trueMs;
  const weeks = rolledWeeks(byMs);
  if (weeks !== 0) return [{ kind: 'receiver_rolled_over', weeks }];
  if (receiverMs < earliestMs) return [{ kind: 'receiver_off', byMs }];
  // A broker of which two others say that it is wrong does not judge the receiver.
  if (brokerMs !== null)
    return differ(machineMs, receiverMs, most.receiverMs) ? [{ kind: 'receiver_off', byMs }] : [];
  return [{ kind: 'machine_or_receiver', byMs: -byMs }];
}

function machineFindings(
  { machineMs, brokerMs, receiverMs }: ClockReadings,
  { earliestMs, ...most }: ClockLimits,
): readonly ClockFinding[] {
  if (machineMs === null) return [];
  if (machineMs < earliestMs) return [{ kind: 'machine_early' }];
  if (brokerMs === null || !differ(machineMs, brokerMs, most.brokerMs)) return [];
  const isBrokerAlone = receiverMs !== null && !differ(machineMs, receiverMs, most.receiverMs);
  return [
    isBrokerAlone
      ? { kind: 'broker_off', byMs: brokerMs - machineMs }
      : { kind: 'machine_off', byMs: machineMs - brokerMs },
  ];
}

/** Every clock that is wrong, and those that agree. */
export function judgeClocks(readings: ClockReadings, limits: ClockLimits): readonly ClockFinding[] {
  const wrong = [...machineFindings(readings, limits), ...receiverFindings(readings, limits)];
  const isWrong = (kind: string): boolean => wrong.some((one) => one.kind.startsWith(kind));
  const clocks = (['machine', 'broker', 'receiver'] as const).filter(
    (name) =>
      readings[`${name}Ms`] !== null && !isWrong(name) && !(name === 'receiver' && isWrong('machine_or_')),
  );
  return clocks.length < 2 ? wrong : [...wrong, { kind: 'agree', clocks }];
}

const units = [
  [2 * 86_400_000, 86_400_000, 'days'],
  [2 * 3_600_000, 3_600_000, 'h'],
  [120_000, 60_000, 'min'],
] as const;

/** How far a clock is off: `300 days ahead`, `7 s behind`. */
export function formatClockDifference(byMs: number): string {
  const [, unitMs, unit] = units.find(([fromMs]) => Math.abs(byMs) >= fromMs) ?? [0, 1000, 's'];
  return `${Math.round(Math.abs(byMs) / unitMs)} ${unit} ${byMs < 0 ? 'behind' : 'ahead'}`;
}

const clockNames = { machine: 'this machine', broker: 'the broker', receiver: 'GNSS' } as const;

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** A finding in words, and what to do about it; '' when nothing. */
export function clockText(finding: ClockFinding): { readonly words: string; readonly todo: string } {
  switch (finding.kind) {
    case 'agree':
      return {
        words: `${listed(finding.clocks.map((name) => clockNames[name]))} agree on the time`,
        todo: '',
      };
    case 'machine_early':
      return {
        words: "this machine's clock is before the date of this release",
        todo: 'Set it (timedatectl), or let the network set it: mqtts:// refuses certificates until then.',
      };
    case 'machine_off':
      return {
        words: `this machine's clock is ${formatClockDifference(finding.byMs)}, by the broker's`,
        todo: 'Set the clock (timedatectl): with a wrong one mqtts:// refuses certificates.',
      };
    case 'broker_off':
      return {
        words: `the broker's clock is ${formatClockDifference(finding.byMs)}, by this machine and GNSS`,
        todo: 'Ask its operator to set it; this machine is right.',
      };
    case 'receiver_off':
      return {
        words: `the date of the receiver is ${formatClockDifference(finding.byMs)}`,
        todo: 'Its time is wrong, not that of this machine: restart the receiver under open sky (cold start), update its firmware, or change it.',
      };
    case 'receiver_rolled_over': {
      const { weeks } = finding;
      const count = Math.abs(weeks).toLocaleString('en');
      return {
        words: `the date of the receiver is ${count} weeks ${weeks < 0 ? 'behind' : 'ahead'}: a roll-over of its GPS week number`,
        todo: 'Update the firmware of the receiver, or change it; leave the clock of this machine as it is.',
      };
    }
    case 'machine_or_receiver':
      return {
        words: `this machine's clock is ${formatClockDifference(finding.byMs)}, by GNSS`,
        todo: 'Compare both with a watch. Set the clock (timedatectl) only if it is the wrong one: with a wrong one mqtts:// refuses certificates.',
      };
    default:
      return finding satisfies never;
  }
}
