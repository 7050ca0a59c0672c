// A finding of the interlock, and the reason of an order, in words of the page's language.

import type { cutWords } from '../../../../build/words/cut.ts';
import { reasonName } from '../../../../src/core/reports/table.ts';
import type { Finding, Verdict } from '../../api/operations.ts';
import { unmetOf } from '../../state/evidence.ts';
import type { Relay } from '../../state/orders/cut-view.ts';
import { amountText } from '../../words/amounts.ts';
import type { WordsWith } from '../../words/word-set.ts';

const witnessPrefix = 'witness_';
const textOf = (value: Finding['value']): string => (value === null ? '?' : String(value));
const isNumber = (value: Finding['value']): value is number => typeof value === 'number';
/** A value from the vehicle as a key: a plain object has inherited names, such as `constructor`. */
const known = (texts: Readonly<Record<string, string>>, value: Finding['value']): string | undefined =>
  typeof value === 'string' && Object.hasOwn(texts, value) ? texts[value] : undefined;

function witnessText(
  { rule, value }: Finding,
  { order, vehicle, common }: WordsWith<[typeof cutWords]>,
): string {
  const name = rule.slice(witnessPrefix.length);
  const state =
    value === 'silent'
      ? order.witnessSilent
      : value === 'active'
        ? order.witnessActive
        : (known(vehicle.witnessStates, value) ?? common.unknown);
  return order.rules.witness({ sensor: known(vehicle.witness, name) ?? name, state });
}

function ignitionText(
  value: Finding['value'],
  rules: WordsWith<[typeof cutWords]>['order']['rules'],
): string {
  switch (value) {
    case 'on':
      return rules.ignition_on;
    case 'suspended':
      return rules.ignition_suspended;
    case 'unsteady':
      return rules.ignition_unsteady;
    case 'contradicted':
      return rules.ignition_contradicted;
    default:
      return rules.ignition_unknown;
  }
}

/** One rule that is not met, as a sentence without a full stop. */
export function unmetText(finding: Finding, words: WordsWith<[typeof cutWords]>): string {
  const { rules, standstill } = words.order;
  const { rule, value, needed } = finding;
  if (rule.startsWith(witnessPrefix)) return witnessText(finding, words);
  switch (rule) {
    case 'ignition_off':
      return ignitionText(value, rules);
    case 'common_cause':
      return value === 'board' ? rules.common_board : rules.common_contacts;
    case 'ignition_off_s':
      return isNumber(value)
        ? rules.ignition_off_s({ seconds: textOf(value), needed: textOf(needed) })
        : rules.ignition_off_short({ needed: textOf(needed) });
    case 'standstill_s':
      return isNumber(value)
        ? rules.standstill_s({ seconds: textOf(value), needed: textOf(needed) })
        : rules.standstill_short({ needed: textOf(needed) });
    case 'speed_kmh':
      return isNumber(value)
        ? rules.speed_kmh({ speed: amountText(value, 'kmh', words) })
        : rules.speed_unknown;
    case 'standstill':
      return known(standstill, value) ?? standstill.other;
    case 'witnesses':
      return rules.witnesses({ agree: textOf(value), needed: textOf(needed) });
    case 'change_interval_s':
      return rules.change_interval_s({ seconds: textOf(needed) });
    case 'warning_s':
      return rules.warning_s({ needed: textOf(needed) });
    case 'storage':
    case 'relay_follows':
    case 'board_alive':
    case 'time_known':
    case 'changes_per_hour':
    case 'automation_enabled':
    case 'panic_calm_s':
    case 'no_movement':
    case 'engine_at_rest':
    case 'no_position_allowed':
    case 'position_trusted_s':
    case 'fix_age_ms':
    case 'rising_kmh':
    case 'input_age_ms':
    case 'warning_output':
      return rules[rule];
    default:
      return rules.other({ rule });
  }
}

/** Sentences of one verdict; more would hide the one that matters. All rules stand in the table. */
const sentencesMost = 2;

/** Why it waits or was refused; '' when nothing is unmet. */
export function whyText(verdict: Verdict | null, words: WordsWith<[typeof cutWords]>): string {
  if (verdict === null) return '';
  return unmetOf(verdict)
    .slice(0, sentencesMost)
    .map((finding) => unmetText(finding, words))
    .join('; ');
}

/** A row whose rules are all met, by the one that says most. */
export function metText(
  row: string,
  findings: readonly Finding[],
  words: WordsWith<[typeof cutWords]>,
): string {
  const { order, common } = words;
  const of = (name: string): Finding | undefined => findings.find(({ rule }) => rule === name);
  const seconds = (name: string): string | null => {
    const value = of(name)?.value;
    return isNumber(value ?? null) ? order.forSeconds({ seconds: Number(value) }) : null;
  };
  switch (row) {
    case 'ignition':
      return [common.off, seconds('ignition_off_s')].filter((text) => text !== null).join(', ');
    case 'standstill': {
      const by = of('standstill')?.value === 'motion' ? order.byMotion : order.byGnss;
      return [by, seconds('standstill_s')].filter((text) => text !== null).join(', ');
    }
    case 'position':
      return seconds('position_trusted_s') ?? order.byGnss;
    case 'witnesses':
      return order.agree({ count: Number(of('witnesses')?.value ?? 0) });
    default:
      return order.fine;
  }
}

/** Code and note of a reason in the language of the page; what another client wrote stands as it is. */
export function reasonWords(
  text: string,
  relay: Relay,
  { orders, common }: WordsWith<[typeof cutWords]>,
): string {
  return reasonName(text, relay, orders[relay].reasons) || common.none;
}
