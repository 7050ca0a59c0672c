// The mail of a notification, in the language of its rule and by the clock of its account. Plain text: texts from users or vehicles are
// data, each in one line, so that they cannot end a header. Pure.
import { codesWords } from '../../../build/words/codes.ts';
import { kindsWords } from '../../../build/words/kinds.ts';
import { mailWords } from '../../../build/words/mail.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import type { Language } from '../../../src/core/words/languages.ts';
import { clockText, isTimeZone } from '../../../src/core/zoned-time.ts';
import { type Notice, shorten, userTopics } from './notice.ts';
import type { OccurrenceKind } from './occurrence-kinds.ts';

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** How a mail is written. */
export interface MailForm {
  readonly language: Language;
  /** IANA name; of one that the platform does not know the mail shows UTC. */
  readonly timeZone: string;
}

/** One line: control characters, line and direction marks become spaces. */
export const oneLine = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** `2026-11-21 09:05:07 Europe/Berlin`, in every language. */
export function when(ms: number, timeZone: string): string {
  const zone = isTimeZone(timeZone) ? timeZone : 'UTC';
  return `${clockText(zone, ms)} ${zone}`;
}

/** What an event of that code is called in a language. */
export function codeName(statusCode: number, language: Language): string {
  const names: Readonly<Record<string, string>> = codesWords[language];
  return names[statusCode] ?? statusText(statusCode);
}

export const nameOf = (notice: Notice): string => shorten(oneLine(notice.deviceName)) || notice.deviceID;

/** The mail of a notice of the account about one of its users; no rule names its language. */
function userMailOf(notice: Notice, what: string, timeZone: string): Mail {
  const lines = [
    `${what}: ${notice.userID}`,
    '',
    `Account:  ${notice.accountID}`,
    `Happened: ${when(notice.timestampMs, timeZone)}`,
    '',
    'You get this as an administrator of the account. If you do not know this person, ask the other administrators.',
  ];
  return { subject: `${what}: ${notice.userID}`, text: `${lines.join('\n')}\n` };
}

/** What an occurrence is about, where that is not the device itself. */
const objectLabels: Partial<Record<OccurrenceKind, 'approval' | 'code' | 'serial'>> = {
  approval_requested: 'approval',
  approval_granted: 'approval',
  approval_refused: 'approval',
  approval_expired: 'approval',
  device_enrolled: 'code',
  certificate_expiring: 'serial',
};

/** A vehicle's clock is ahead when something happened by it so long after it was received, ms. */
const clockFaultMs = 60_000;

type Label =
  | ('device' | 'event' | 'happened' | 'since' | 'noted' | 'received' | 'user' | 'approval')
  | ('code' | 'serial' | 'command' | 'ends' | 'position' | 'alarm' | 'geozone');
/** A line of a mail; null: there is nothing to say. */
type Fact = readonly [Label, string | null];

function positionOf({ latitude, longitude }: Notice, unknown: string): string {
  return latitude === null || longitude === null
    ? unknown
    : `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
}

function eventFacts(notice: Notice, { language, timeZone }: MailForm): readonly Fact[] {
  const texts = mailWords[language].notice;
  const { statusCode, timestampMs, receivedMs, geozoneID } = notice;
  const happened = when(timestampMs, timeZone);
  const received = when(receivedMs, timeZone);
  return [
    ['event', `${codeName(statusCode, language)} (${statusCode})`],
    ['happened', timestampMs > receivedMs + clockFaultMs ? texts.isAhead({ time: happened }) : happened],
    ['received', notice.isLate ? texts.isLate({ time: received }) : received],
    ['position', positionOf(notice, texts.unknown)],
    ['alarm', notice.escalation === 0 ? null : texts.noOwner],
    ['geozone', geozoneID === '' ? null : oneLine(geozoneID)],
    ['command', notice.commandID],
  ];
}

function occurrenceFacts(notice: Notice, kind: OccurrenceKind, form: MailForm): readonly Fact[] {
  const texts = mailWords[form.language].notice;
  const { timestampMs, receivedMs, userID, objectID, endsMs } = notice;
  const objectLabel = objectLabels[kind];
  return [
    [kind === 'device_offline' ? 'since' : 'happened', when(timestampMs, form.timeZone)],
    ['noted', receivedMs === timestampMs ? null : when(receivedMs, form.timeZone)],
    ['user', userID === '' ? null : oneLine(userID)],
    ...(objectLabel === undefined || objectID === '' ? [] : [[objectLabel, oneLine(objectID)] as const]),
    ['command', notice.commandID],
    ['ends', endsMs === null ? null : when(endsMs, form.timeZone)],
    ['position', texts.lastKnown({ position: positionOf(notice, texts.unknown) })],
  ];
}

/** A mail in plain text. */
export function mailOf(notice: Notice, form: MailForm): Mail {
  const { topic, kind, ruleID, accountID } = notice;
  if (topic !== null) return userMailOf(notice, userTopics[topic], form.timeZone);
  const isOfEvent = kind === null;
  const { notice: texts, colon } = mailWords[form.language];
  const name = nameOf(notice);
  const what = isOfEvent ? codeName(notice.statusCode, form.language) : kindsWords[form.language][kind];
  const subject = `${what}${colon}${name}`;
  const facts: readonly Fact[] = [
    ['device', notice.deviceID],
    ...(isOfEvent ? eventFacts(notice, form) : occurrenceFacts(notice, kind, form)),
  ];
  const shown = facts.flatMap(([label, value]) =>
    value === null ? [] : [{ label: `${texts[label]}${colon}`, value }],
  );
  const width = Math.max(...shown.map(({ label }) => label.length));
  const lines = [
    isOfEvent ? texts.onVehicle({ what, name }) : subject,
    '',
    ...shown.map(({ label, value }) => `${label.padEnd(width)}${value}`),
    '',
    texts.why({ rule: ruleID, account: accountID }),
  ];
  const marks = [notice.escalation > 0 && texts.notTaken, isOfEvent && notice.isLate && texts.late];
  const marked = marks.map((mark) => (mark === false ? '' : `[${mark}] `)).join('');
  return { subject: `${marked}${subject}`, text: `${lines.join('\n')}\n` };
}
