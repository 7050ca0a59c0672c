// Chooses the release to run by a decision table over the packaged, staged and remembered releases. Any doubt selects the
// packaged release; a release on trial must never get more starts than are counted beforehand.

import { compareVersions, higherVersion, isVersion } from '../../../src/core/releases/version.ts';
import { isObject } from '../../../src/core/wire/wire-checks.ts';
import type { Arch, Manifest } from './manifest.ts';

/** A release that was staged and asked for, but did not prove itself yet. */
export interface Trial {
  readonly version: string;
  /** Starts so far; counted before the start, so a crash cannot lose one. */
  readonly attempts: number;
  /** From each start, how long it has to be confirmed; then it is stopped, which counts as failed. Seconds. */
  readonly confirmWithinS: number;
}

export interface Rejection {
  readonly version: string;
  readonly reason: string;
}

/** State kept over starts: `releases/state.json`. */
export interface ReleaseState {
  /** No staged release below this runs; the highest `floor` of all confirmed releases. */
  readonly floor: string;
  /** The staged release that proved itself; null: the packaged one. */
  readonly confirmed: string | null;
  readonly trial: Trial | null;
  /** Releases that were given up, newest last; for the agent to report. */
  readonly rejected: readonly Rejection[];
}

export interface Installed {
  readonly version: string;
  readonly arch: Arch;
  readonly nodeAbi: string;
}

export interface LaunchFacts {
  /** The packaged release, which is always there. */
  readonly packaged: Installed;
  readonly state: ReleaseState;
  /** Staged releases with a good signature that were not found damaged. */
  readonly staged: readonly Omit<Manifest, 'files'>[];
}

export type Choice =
  | { readonly kind: 'packaged' }
  | { readonly kind: 'staged'; readonly version: string }
  | { readonly kind: 'trial'; readonly version: string; readonly confirmWithinS: number };

export interface Plan {
  readonly choice: Choice;
  /** To be on disk before a trial starts. */
  readonly state: ReleaseState;
  /** Why another release than the requested one runs. */
  readonly notes: readonly string[];
}

export const planLimits = {
  /** Starts that a release on trial gets. */
  attempts: 3,
  rejections: 16,
  confirmLeastS: 10,
  confirmMostS: 7 * 86_400,
  reasonCharacters: 200,
} as const;

export const emptyState: ReleaseState = { floor: '0.0.0', confirmed: null, trial: null, rejected: [] };

/** Adds to the list, newest last, each version once. */
export function withRejection(state: ReleaseState, rejection: Rejection): ReleaseState {
  const others = state.rejected.filter(({ version }) => version !== rejection.version);
  const kept = others.slice(-(planLimits.rejections - 1));
  const reason = rejection.reason.slice(0, planLimits.reasonCharacters);
  return { ...state, rejected: [...kept, { version: rejection.version, reason }] };
}

/** Null when `version` may run, else why not. */
function objectionTo(version: string, { packaged, state, staged }: LaunchFacts): string | null {
  const release = staged.find((candidate) => candidate.version === version);
  if (release === undefined) return 'it is not staged whole with a good signature';
  if (release.arch !== packaged.arch) return `it is for ${release.arch}, this machine is ${packaged.arch}`;
  if (release.nodeAbi !== packaged.nodeAbi)
    return `it is for Node ABI ${release.nodeAbi}, the packaged Node has ${packaged.nodeAbi}`;
  if (compareVersions(version, packaged.version) <= 0)
    return `it is not newer than the packaged release ${packaged.version}`;
  if (compareVersions(version, state.floor) < 0) return `it is below the floor ${state.floor}`;
  return null;
}

/** Decides what runs now. Pure; `state` of the plan is what to remember, and equals that of the facts unless a trial changed. */
export function planLaunch(facts: LaunchFacts): Plan {
  const notes: string[] = [];
  let { state } = facts;
  const { trial, confirmed } = state;
  if (trial !== null) {
    const reason =
      objectionTo(trial.version, facts) ??
      (trial.attempts >= planLimits.attempts
        ? `it was started ${trial.attempts} times and never confirmed`
        : null);
    if (reason === null) {
      const { version, confirmWithinS } = trial;
      const counted = { ...state, trial: { ...trial, attempts: trial.attempts + 1 } };
      return { choice: { kind: 'trial', version, confirmWithinS }, state: counted, notes };
    }
    notes.push(`release ${trial.version} is given up: ${reason}`);
    state = { ...withRejection(state, { version: trial.version, reason }), trial: null };
  }
  if (confirmed !== null) {
    const reason = objectionTo(confirmed, facts);
    if (reason === null) return { choice: { kind: 'staged', version: confirmed }, state, notes };
    notes.push(`release ${confirmed} does not run: ${reason}`);
  }
  return { choice: { kind: 'packaged' }, state, notes };
}

/** State with `version` on trial from the next start on; an earlier rejection of it is removed. */
export function withTrial(state: ReleaseState, asked: Omit<Trial, 'attempts'>): ReleaseState {
  const rejected = state.rejected.filter(({ version }) => version !== asked.version);
  return { ...state, rejected, trial: { ...asked, attempts: 0 } };
}

/** State after the release on trial proved itself; unchanged when another one, or none, is on trial. */
export function withConfirmed(
  state: ReleaseState,
  release: Pick<Manifest, 'version' | 'floor'>,
): ReleaseState {
  if (state.trial?.version !== release.version) return state;
  const floor = higherVersion(state.floor, release.floor);
  return { ...state, floor, confirmed: release.version, trial: null };
}

const isVersionText = (value: unknown): value is string => typeof value === 'string' && isVersion(value);

function parseTrial(value: unknown): Trial | null {
  if (!isObject(value)) return null;
  const { version, attempts, confirmWithinS } = value;
  if (!isVersionText(version) || !Number.isSafeInteger(attempts) || !Number.isSafeInteger(confirmWithinS))
    return null;
  const withinS = Number(confirmWithinS);
  if (Number(attempts) < 0 || withinS < planLimits.confirmLeastS || withinS > planLimits.confirmMostS)
    return null;
  return { version, attempts: Number(attempts), confirmWithinS: withinS };
}

function parseRejection(value: unknown): Rejection | null {
  if (!isObject(value)) return null;
  const { version, reason } = value;
  if (!isVersionText(version) || typeof reason !== 'string' || reason.length > planLimits.reasonCharacters)
    return null;
  return { version, reason };
}

/** The state from the text of its file; null when it is invalid. */
export function parseState(text: string): ReleaseState | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const { floor, confirmed, trial, rejected } = value;
  if (!isVersionText(floor) || (confirmed !== null && !isVersionText(confirmed))) return null;
  if (!Array.isArray(rejected) || rejected.length > planLimits.rejections) return null;
  const rejections = rejected.map(parseRejection).filter((one) => one !== null);
  const parsedTrial = trial === null ? null : parseTrial(trial);
  if (rejections.length < rejected.length || (trial !== null && parsedTrial === null)) return null;
  return { floor, confirmed, trial: parsedTrial, rejected: rejections };
}

/** The text of the state's file. */
export function formatState(state: ReleaseState): string {
  return `${JSON.stringify(state, null, 1)}\n`;
}
