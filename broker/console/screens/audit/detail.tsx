// What an entry of the audit log says in detail, in words: each member by its name, with its value before and after. Loaded with the first entry.
import { auditWords } from '../../../../build/words/audit.ts';
import { settingWords } from '../../../../build/words/setting.ts';
import { zoneWords } from '../../../../build/words/zone.ts';
import { amountText, codeText, spanText, timeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { type DetailItem, detailItems, fieldOf, kindOf } from '../../state/audit/entry-text.ts';
import { settingTables } from '../../state/device-view.ts';
import { type SettingValue, settingsOf } from '../../state/settings/settings-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { settingName, settingValue } from '../settings/setting-words.ts';

type DetailWords = WordsWith<[typeof auditWords, typeof settingWords, typeof zoneWords]>;
type Texts = Readonly<Record<string, string>>;

const settings = new Map(settingTables.flatMap(settingsOf).map((one) => [`${one.table}.${one.name}`, one]));

/** `geozoneArrivalEngineOff`, `geozoneAlertExit`: what a zone does. */
function zoneActText(name: string, { zones }: DetailWords): string | null {
  const [, moment = '', act = ''] = /^geozone(Arrival|Departure)(\w+)$/.exec(name) ?? [];
  const [, notice = '', side = ''] = /^geozone(Alert|Alarm)(Entry|Exit)$/.exec(name) ?? [];
  const does: Texts = zones.does;
  const text = does[act.replace('UnLock', 'Unlock') || notice];
  if (text === undefined) return null;
  return `${zones.moments[moment === 'Arrival' || side === 'Entry' ? 'arrival' : 'departure']}: ${text}`;
}

/** A member in words; one that has none keeps its name. */
function nameText(name: string, words: DetailWords): string {
  const { fields, point } = words.auditFields;
  const setting = settings.get(name);
  if (setting !== undefined) return settingName(setting, words);
  const [, corner] = /^geozonePoint(\d)/.exec(name) ?? [];
  if (corner !== undefined) return point({ number: corner });
  const known: Texts = fields;
  return known[fieldOf(name)] ?? zoneActText(name, words) ?? name;
}

function plainText(name: string, value: unknown, words: DetailWords): string {
  const { relays, zones, alarms, auditFields } = words;
  const known = (texts: Texts): string => texts[String(value)] ?? String(value);
  switch (fieldOf(name)) {
    case 'statusCode':
      return codeText(Number(value), words);
    case 'feature':
      return known({ enginecutoff: relays.enginecutoff.name, cargoaccess: relays.cargoaccess.name });
    case 'reason':
      return known(alarms.reasons);
    case 'role':
      return known(auditFields.roles);
    case 'shape':
      return known(zones.kinds);
    case 'radius':
      return amountText(Number(value), 'm', words);
    case 'members':
      return nameText(String(value), words);
    default:
      return String(value);
  }
}

function valueText(name: string, value: unknown, words: DetailWords): string {
  const { common } = words;
  const setting = settings.get(name);
  // Keys are recorded by their number.
  if (setting !== undefined && setting.textMost === null)
    return settingValue(setting, (value ?? undefined) as SettingValue | undefined, words);
  switch (kindOf(name, value)) {
    case 'none':
      return common.none;
    case 'time':
      return timeText(Number(value));
    case 'span':
      return spanText(Number(value), words);
    case 'switch':
      return value === true ? common.on : common.off;
    case 'list':
      return (value as readonly unknown[]).map((one) => plainText(name, one, words)).join(', ');
    case 'plain':
      return plainText(name, value, words);
  }
}

function itemText({ name, value, before }: DetailItem, words: DetailWords): string {
  const after = valueText(name, value, words);
  const text =
    before === undefined ? after : words.settings.becomes({ before: valueText(name, before, words), after });
  return words.auditFields.item({ name: nameText(name, words), text });
}

/** @param props.between what stands between two members. */
export function Detail({
  detail,
  between,
}: {
  readonly detail: Readonly<Record<string, unknown>>;
  readonly between: string;
}) {
  const words = useWords(auditWords, settingWords, zoneWords);
  return (
    <bdi>
      {detailItems(detail)
        .map((item) => itemText(item, words))
        .join(between)}
    </bdi>
  );
}
