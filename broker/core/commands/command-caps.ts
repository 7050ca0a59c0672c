// Limits of commands: per minute, engine cuts per hour, and when the account's breaker opens. Pure. Commands towards the
// safe state (engine enabled, cargo locked) are never limited.
import { AppError } from '../../../src/core/errors.ts';
import type { FeatureState } from '../../../src/core/events/event.ts';

export const capLimits = {
  /** Vehicles that one user gives commands that are not towards a safe state within a minute, and such commands to one of them. */
  userPerMinute: 10,
  accountPerMinute: 60,
  /** The account may cut so many times as often as one of its users. */
  accountFactor: 3,
  minuteMs: 60_000,
  hourMs: 3_600_000,
} as const;

export interface CappedOrder {
  readonly feature: string;
  readonly state: FeatureState;
}

/** True for what stops people from driving on. */
export function isCut({ feature, state }: CappedOrder): boolean {
  return feature === 'enginecutoff' && state === '1';
}

/** True for every command that is counted: the safe state of each feature is `0`. */
export function isLimited({ state }: CappedOrder): boolean {
  return state === '1';
}

/** Where an account and one of its users stand. A request that waits or waited for approval counts as a cut. */
export interface CapFacts {
  readonly needsApproval: boolean;
  /** Restrictive commands and approvals need the password again. */
  readonly needsPassword: boolean;
  /** Since when the breaker of the account, else that of the user, is open (epoch seconds), and who opened it; null: both are closed. */
  readonly breakerS: number | null;
  readonly breakerBy: string | null;
  /** False: only the user's own is open. */
  readonly isBreakerOfAccount: boolean;
  /** Most vehicles that one user may cut within an hour. */
  readonly cutsPerHour: number;
  readonly userCuts: number;
  readonly accountCuts: number;
  readonly userMinute: number;
  readonly accountMinute: number;
}

function rateRefusal(facts: CapFacts): AppError | null {
  const { userPerMinute, accountPerMinute } = capLimits;
  const spent =
    facts.userMinute >= userPerMinute
      ? `${userPerMinute} commands of one user`
      : facts.accountMinute >= accountPerMinute
        ? `${accountPerMinute} commands of the account`
        : null;
  if (spent === null) return null;
  return new AppError('throttled', `More than ${spent} within a minute; nothing was sent`, {
    retryAfterS: capLimits.minuteMs / 1000,
    hint: 'Commands that bring a vehicle into its safe state are not limited.',
  });
}

/** Why a command was not recorded; null when nothing here stands against it. */
export function refusalOf(facts: CapFacts, order: CappedOrder): AppError | null {
  if (!isLimited(order)) return null;
  if (isCut(order) && facts.breakerS !== null) {
    const message = facts.isBreakerOfAccount
      ? 'The account has asked for too many engine cuts: its breaker is open; nothing was sent'
      : 'You have asked for too many engine cuts: your breaker is open; nothing was sent';
    const other = JSON.stringify(facts.breakerBy ?? '');
    return new AppError('conflict', message, {
      hint: `An administrator other than ${other}, with role and password of at least a day, can reset it at /command/resetbreaker, or the operator of the service. Restores are still accepted.`,
    });
  }
  if (isCut(order) && facts.cutsPerHour === 0) {
    return new AppError(
      'conflict',
      'The account allows no engine cuts (cutsPerHour is 0); nothing was sent',
      {
        hint: 'An administrator can allow them at /auth/updateaccount.',
      },
    );
  }
  const rate = rateRefusal(facts);
  if (rate !== null) return rate;
  if (isCut(order) && facts.needsApproval) {
    return new AppError('conflict', 'An engine cut needs a second user in this account; nothing was sent', {
      hint: 'Send it again: it will wait for the approval of another user.',
    });
  }
  return null;
}
