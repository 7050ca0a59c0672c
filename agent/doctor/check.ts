// A check of `fleetward-agent doctor`, and the run of all checks in order. A check returns what was found and what to
// do about it, and never throws; it changes nothing on the vehicle without a person's explicit consent.
import { hintFrom, messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';

/** `skipped`: not checked, with the reason. */
export type Verdict = 'ok' | 'warning' | 'fault' | 'skipped';

export interface Finding {
  readonly verdict: Verdict;
  /** What was seen. */
  readonly seen: string;
  /** What to do about it; '' when nothing. */
  readonly todo: string;
}

export interface Check {
  /** Stable identifier for programs. */
  readonly id: string;
  /** Title, a few words. */
  readonly title: string;
  /** Longest duration, in seconds; after it the check is a fault, and the next one starts. */
  readonly mostS: number;
  /** It sees by itself that it is to stop, and must come to its own end: relays are to be released. */
  readonly endsItself?: boolean;
  run(): Promise<readonly Finding[]>;
}

export interface CheckResult extends Finding {
  readonly id: string;
  readonly title: string;
}

export const ok = (seen: string): Finding => ({ verdict: 'ok', seen, todo: '' });
export const warning = (seen: string, todo: string): Finding => ({ verdict: 'warning', seen, todo });
export const fault = (seen: string, todo: string): Finding => ({ verdict: 'fault', seen, todo });
export const skipped = (seen: string, todo = ''): Finding => ({ verdict: 'skipped', seen, todo });

/** What was thrown, as a fault with its own hint. */
export function faultOf(thrown: unknown, todo = ''): Finding {
  const hint = hintFrom(thrown);
  return fault(messageOf(thrown), hint ?? todo);
}

interface RunOptions {
  readonly clock: Clock;
  onResult(result: CheckResult): void;
  /** A check takes longer than two seconds; again every ten. */
  onProgress(title: string, forS: number): void;
  /** True once a stop was requested: remaining checks are not started. */
  isStopped(): boolean;
  /** Resolves when a person asks to stop. */
  readonly stopped: Promise<void>;
}

async function runOne(check: Check, { clock, onProgress, stopped }: RunOptions): Promise<readonly Finding[]> {
  const startMs = clock.monoMs();
  let cancelProgress = (): void => undefined;
  const scheduleProgress = (delayMs: number): void => {
    cancelProgress = clock.after(delayMs, () => {
      onProgress(check.title, Math.round((clock.monoMs() - startMs) / 1000));
      scheduleProgress(10_000);
    });
  };
  scheduleProgress(2000);
  let cancelLimit = (): void => undefined;
  const limit = new Promise<readonly Finding[]>((resolve) => {
    const late = fault(
      `no result within ${check.mostS} s`,
      'Run it again; if it stays so, the driver or the network hangs.',
    );
    cancelLimit = clock.after(check.mostS * 1000, () => resolve([late]));
  });
  const ends = check.endsItself === true ? [] : [stopped.then(() => [skipped('stopped')])];
  try {
    return await Promise.race([check.run(), limit, ...ends]);
  } catch (thrown) {
    return [faultOf(thrown)];
  } finally {
    cancelProgress();
    cancelLimit();
  }
}

/** Runs one check after the other; gives every result, in order. */
export async function runChecks(
  checks: readonly Check[],
  options: RunOptions,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    if (options.isStopped()) break;
    for (const finding of await runOne(check, options)) {
      const result = { id: check.id, title: check.title, ...finding };
      results.push(result);
      options.onResult(result);
    }
  }
  return results;
}

/** 0 all good, 1 warnings only, 2 at least one fault. */
export function exitCodeOf(results: readonly Pick<Finding, 'verdict'>[]): 0 | 1 | 2 {
  if (results.some(({ verdict }) => verdict === 'fault')) return 2;
  return results.some(({ verdict }) => verdict === 'warning') ? 1 : 0;
}
