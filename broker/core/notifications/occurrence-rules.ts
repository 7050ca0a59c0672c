// Decides which rules notify of an occurrence: as of events by device and group, once within the silence of a rule, outside of quiet
// hours. Pure. Nothing of it is late or urgent: the service knows it at once.
import {
  type Circumstances,
  type Episode,
  episodeKey,
  type Firing,
  isOfDevice,
  isOutsideSilence,
  nothingSent,
  openChannels,
  type Rule,
  withTime,
} from './notification-rules.ts';
import { absenceKinds, endOf, type OccurrenceKind } from './occurrence-kinds.ts';

export interface RuleOccurrence {
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly kind: OccurrenceKind;
  /** Command, approval, code or certificate that it is about; '' for the device itself. */
  readonly object: string;
  /** Of an absence: the seconds after which it was noted, for rules that wait as long; else null. */
  readonly afterS: number | null;
  /** When the service noted it. */
  readonly atMs: number;
}

interface Decided {
  /** A rule is about it, so that it is in the inbox, be it in quiet hours. */
  readonly isAsked: boolean;
  readonly firings: readonly Firing[];
}

/** What identifies an episode besides device and rule. */
function subjectOf(kind: OccurrenceKind, object: string): string {
  return object === '' ? kind : `${kind} ${object}`;
}

/** The subjects of the episodes that an occurrence begins or ends. */
export function occurrenceSubjects({ kind, object }: RuleOccurrence): readonly string[] {
  const ended = endOf(kind);
  const own = subjectOf(kind, object);
  return ended === null ? [own] : [own, subjectOf(ended, object)];
}

/** True when the rule is about this occurrence of this device. */
function isAsked(rule: Rule, occurrence: RuleOccurrence, groups: readonly string[]): boolean {
  const { kind, afterS, deviceID } = occurrence;
  if (!rule.isActive || !rule.kinds.includes(kind)) return false;
  if (absenceKinds.includes(kind) && afterS !== rule.offlineAfterS) return false;
  return isOfDevice(rule, deviceID, groups);
}

/** What the rules make of an occurrence. Records in `episodes` what was sent and what has ended. */
export function decideOccurrence(
  rules: readonly Rule[],
  occurrence: RuleOccurrence,
  { groups, episodes, nowMs }: Circumstances,
): Decided {
  const { deviceNo, kind, object, atMs } = occurrence;
  const about = rules.filter((rule) => isAsked(rule, occurrence, groups));
  const keyOf = (rule: Rule, of: OccurrenceKind): string =>
    episodeKey({ ruleNo: rule.ruleNo, deviceNo, statusCode: 0, subject: subjectOf(of, object) });
  const known = (key: string): Episode => episodes.get(key) ?? nothingSent;
  const firings = about.flatMap((rule): readonly Firing[] => {
    const ended = endOf(kind);
    if (ended !== null) {
      const key = keyOf(rule, ended);
      episodes.set(key, { ...known(key), endedMs: withTime(known(key).endedMs, atMs) });
    }
    const key = keyOf(rule, kind);
    const channels = openChannels(rule, { statusCode: 0, isLate: false }, nowMs);
    if (channels.length === 0 || !isOutsideSilence(known(key), atMs, rule.silenceS * 1000)) return [];
    episodes.set(key, { ...known(key), firedMs: withTime(known(key).firedMs, atMs) });
    return [{ rule, channels }];
  });
  return { isAsked: about.length > 0, firings };
}
