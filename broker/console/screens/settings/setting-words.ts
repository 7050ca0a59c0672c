// A setting and its value in words.

import type { settingWords } from '../../../../build/words/setting.ts';
import { lengthText, numberText, withUnit } from '../../components/texts.tsx';
import {
  readerUnit,
  type Setting,
  type SettingUnit,
  type SettingValue,
  typedOf,
} from '../../state/settings/settings-view.ts';
import { measures } from '../../words/measures.ts';
import type { WordsWith } from '../../words/word-set.ts';

/** From here on seconds are also said as minutes, hours or days. */
const spanFromS = 120;

export function settingName(
  { table, name }: Setting,
  { settings: texts }: WordsWith<[typeof settingWords]>,
): string {
  const names: Readonly<Record<string, string>> = texts.names[table];
  return names[name] ?? name;
}

export function unitText(
  unit: SettingUnit,
  { settings: texts, units }: WordsWith<[typeof settingWords]>,
): string {
  return { ...units, ...texts.units, share: units.percent }[readerUnit(unit, measures.get().system)];
}

/** @param value undefined: nothing chosen. */
export function settingValue(
  setting: Setting,
  value: SettingValue | undefined,
  words: WordsWith<[typeof settingWords]>,
): string {
  const { settings: texts, common } = words;
  if (value === undefined) return texts.notChosen;
  if (typeof value === 'boolean') return value ? common.on : common.off;
  // Ids of keys are personal data: how many there are is shown, not which.
  if (typeof value === 'string')
    return texts.keyCount({ count: value.split(/[\s,]+/).filter(Boolean).length });
  const unit = setting.number?.unit ?? 'people';
  const typed = Number(typedOf(setting, value, measures.get().system));
  const text = withUnit(numberText(typed, 3), unitText(unit, words));
  return unit === 's' && value >= spanFromS ? `${text} (${lengthText(value, words)})` : text;
}
