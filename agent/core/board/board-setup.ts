// Asserts the set-up registers of a profile: read, write where different, read again. Pure. A register that already holds its value is never written,
// because it is in flash. A failure is always reported: in the wrong control mode an input switches a relay inside the board, without the agent.
import type { Static } from 'typebox';
import type { boardProfileSchema } from './board-profile.ts';
import { formatException, formatRequest, type ModbusRequest } from './modbus-frame.ts';
import type { RtuResult } from './rtu-types.ts';

type SetupRule = Static<typeof boardProfileSchema>['setup'][number];

export interface SetupProgress {
  /** Monotonic time of the next request, ms; null: the unit is not up, or all is well. */
  readonly dueAtMs: number | null;
  readonly isPending: boolean;
  readonly tries: number;
  /** Register to write next; null: read. */
  readonly write: number | null;
}

export const idleSetup: SetupProgress = { dueAtMs: null, isPending: false, tries: 0, write: null };

const againMs = 60_000;
const illegalAddress = 2;

export function setupRequest(rule: SetupRule, unit: number, progress: SetupProgress): ModbusRequest {
  return progress.write === null
    ? { kind: 'readRegisters', unit, function: 3, first: rule.first, count: rule.count }
    : { kind: 'writeRegister', unit, address: progress.write, value: rule.value };
}

interface SetupVerdict {
  readonly progress: SetupProgress;
  /** Text: could not be set. Null: set. Undefined: undecided. */
  readonly problem?: string | null;
}

/** Handles the result of `request`. After a few failed tries it reports the failure, and tries again a minute later. */
export function afterSetup(
  rule: SetupRule,
  progress: SetupProgress,
  seen: { readonly request: ModbusRequest; readonly result: RtuResult; readonly atMs: number },
): SetupVerdict {
  const { request, result, atMs } = seen;
  const tries = progress.tries + 1;
  const where = formatRequest(request);
  const fail = (reason: string): SetupVerdict => ({
    progress: { ...idleSetup, dueAtMs: atMs + againMs },
    problem: `${where}: ${reason}; wanted ${rule.value} (${rule.meaning})`,
  });
  const again = (write: number | null): SetupVerdict => ({
    progress: { dueAtMs: atMs, isPending: false, tries, write },
  });
  const isRead = progress.write === null;
  if (result.kind === 'exception') {
    if (isRead && rule.optional && result.code === illegalAddress)
      return { progress: idleSetup, problem: null };
    return fail(formatException(result.code));
  }
  const isLast = tries > rule.count * 2 + 6;
  if (result.kind !== 'ok') return isLast ? fail('no good answer') : again(null);
  if (!isRead) return again(null);
  const differs = result.values.findIndex((value) => value !== rule.value);
  if (differs < 0) return { progress: idleSetup, problem: null };
  return isLast ? fail(`reads ${result.values.join(' ')}`) : again(rule.first + differs);
}
