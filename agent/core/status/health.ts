// Health of the agent for `/healthz`, and its faults for `status`. Pure. Being offline is healthy: a vehicle in a garage
// protects itself. A condition without a recent observation must never count as healthy.
import type { VehicleStatus } from './status.ts';

const healthLimits = {
  /**
   * The board is polled many times a second; a read-back older than this does not count as an answer (edge-agents 2.3 rule
   * 10).
   */
  pollS: 15,
  /** Research "edge-agents" 1d: commit probe below 2 s, loop lag below 500 ms. */
  commitMs: 2000,
  lagMs: 500,
  /** Time alone makes a step twice a second. */
  idleMs: 5000,
  /** The session is this late for its own next move. */
  overdueS: 5,
} as const;

/** The observed facts. */
export interface HealthFacts {
  readonly vehicle: Pick<VehicleStatus, 'board' | 'connection'>;
  /** Since the last step of the loop. */
  readonly idleMs: number;
  /** Of the commit in progress. */
  readonly hangingMs: number;
  readonly commits: { readonly waiting: number; readonly failing: string | null };
  /** The longest delay of a timer lately. */
  readonly lagMs: number;
}

export interface Condition {
  readonly name: 'io' | 'commit' | 'loop' | 'sync';
  readonly isGood: boolean;
  /** The observed value, as text. */
  readonly seen: string;
}

const second = (value: number): string => `${value} s`;

function ioCondition({ board }: HealthFacts['vehicle']): Condition {
  const { polledAgoS, state, reason } = board;
  if (polledAgoS === null || state !== 'open')
    return {
      name: 'io',
      isGood: false,
      seen: `the I/O board does not answer${reason === '' ? '' : `: ${reason}`}`,
    };
  const isGood = polledAgoS < healthLimits.pollS;
  return { name: 'io', isGood, seen: `the I/O board answered ${second(polledAgoS)} ago` };
}

function commitCondition({ commits, hangingMs }: HealthFacts): Condition {
  if (commits.failing !== null)
    return { name: 'commit', isGood: false, seen: `the disk does not take events: ${commits.failing}` };
  const isGood = hangingMs < healthLimits.commitMs;
  return {
    name: 'commit',
    isGood,
    seen: isGood ? 'commits go through' : `a commit has taken ${hangingMs} ms so far`,
  };
}

/** The four conditions, in a fixed order; healthy when all are good. */
export function conditionsOf(facts: HealthFacts): readonly Condition[] {
  const { idleMs, lagMs, vehicle } = facts;
  const { overdueS, state } = vehicle.connection;
  return [
    ioCondition(vehicle),
    commitCondition(facts),
    {
      name: 'loop',
      isGood: lagMs < healthLimits.lagMs && idleMs < healthLimits.idleMs,
      seen: `timers were up to ${Math.round(lagMs)} ms late, the last step was ${Math.round(idleMs)} ms ago`,
    },
    {
      name: 'sync',
      isGood: overdueS < healthLimits.overdueS,
      seen:
        overdueS < healthLimits.overdueS
          ? `the session is ${state}`
          : `the session is ${state} and ${second(overdueS)} late for its next move`,
    },
  ];
}
