// The interlock's verdict as rows that always stand in the same order. Pure: the words are made by the screen.
import type { FeatureName } from '../../../src/core/events/event.ts';
import type { Finding, Verdict } from '../api/operations.ts';

export const evidenceRows = [
  'ignition',
  'standstill',
  'position',
  'movement',
  'witnesses',
  'time',
  'relay',
  'other',
] as const;
export type EvidenceRow = (typeof evidenceRows)[number];

const rowsOfRules: ReadonlyMap<string, EvidenceRow> = new Map([
  ['ignition_off', 'ignition'],
  ['ignition_off_s', 'ignition'],
  ['speed_kmh', 'standstill'],
  ['standstill', 'standstill'],
  ['standstill_s', 'standstill'],
  ['no_position_allowed', 'standstill'],
  ['position_trusted_s', 'position'],
  ['fix_age_ms', 'position'],
  ['rising_kmh', 'position'],
  ['input_age_ms', 'movement'],
  ['no_movement', 'movement'],
  ['engine_at_rest', 'movement'],
  ['witnesses', 'witnesses'],
  ['common_cause', 'witnesses'],
  ['time_known', 'time'],
  ['board_alive', 'relay'],
  ['relay_follows', 'relay'],
  ['storage', 'relay'],
  ['change_interval_s', 'relay'],
  ['changes_per_hour', 'relay'],
]);

const witnessPrefix = 'witness_';

/** A rule of a newer vehicle stands in the last row: none is left out. */
function rowOf(rule: string): EvidenceRow {
  return rowsOfRules.get(rule) ?? (rule.startsWith(witnessPrefix) ? 'witnesses' : 'other');
}

export interface Evidence {
  readonly row: EvidenceRow;
  readonly result: 'met' | 'unmet' | 'unknown';
  /** Findings of the row, those that are not met first. */
  readonly findings: readonly Finding[];
}

/** The vehicle used its position to prove standstill, so it trusts it: the interlock takes no doubtful one. */
const trustsPosition = ({ rules }: Verdict): boolean =>
  rules.some(({ rule, isMet, value }) => rule === 'standstill' && isMet && value === 'gnss');

/**
 * @param verdict null: nothing was judged, so all is unknown.
 * @param relay a cut always needs the key off; of the cargo the vehicle judges the key only where it needs it.
 */
export function evidenceOf(verdict: Verdict | null, relay: FeatureName): readonly Evidence[] {
  return evidenceRows.flatMap((row): readonly Evidence[] => {
    const own = (verdict?.rules ?? []).filter(({ rule }) => rowOf(rule) === row);
    const findings = [...own.filter(({ isMet }) => !isMet), ...own.filter(({ isMet }) => isMet)];
    if (findings.length === 0) {
      if (row === 'other') return [];
      if (row === 'ignition' && relay === 'cargoaccess' && verdict !== null) return [];
      const isTrusted = row === 'position' && verdict !== null && trustsPosition(verdict);
      return [{ row, result: isTrusted ? 'met' : 'unknown', findings }];
    }
    return [{ row, result: findings.every(({ isMet }) => isMet) ? 'met' : 'unmet', findings }];
  });
}

/** Rows that are proven, and all that stand in the table. */
export function metOf(verdict: Verdict, relay: FeatureName): { readonly met: number; readonly all: number } {
  const rows = evidenceOf(verdict, relay);
  return { met: rows.filter(({ result }) => result === 'met').length, all: rows.length };
}

/** The rule that the vehicle names first, and the others that are not met; a speed says more than that it moves. */
export function unmetOf({ code, rules }: Verdict): readonly Finding[] {
  const isSpeedShown = rules.some(({ rule, isMet }) => rule === 'speed_kmh' && !isMet);
  const unmet = rules.filter(
    ({ rule, isMet, value }) => !isMet && !(isSpeedShown && rule === 'standstill' && value === 'moving'),
  );
  return [...unmet.filter(({ rule }) => rule === code), ...unmet.filter(({ rule }) => rule !== code)];
}

/** A needed number of seconds, by the name of its rule; null while the vehicle has not said it. */
export function neededOf(verdict: Verdict | null, rule: string): number | null {
  const needed = verdict?.rules.find((finding) => finding.rule === rule)?.needed;
  return typeof needed === 'number' ? needed : null;
}
