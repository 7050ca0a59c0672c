// What a notice says on each way: JSON for machines and push, plain text for mail. Pure. Texts that people or vehicles
// entered are data: no markup is ever made of them, and nothing of them can end a header.
import { statusText } from '../../src/core/status-codes.ts';
import { isUrgent } from './status-episodes.ts';

/** What an event in the inbox says. */
export interface InboxEntry {
  readonly notificationNo: number;
  readonly deviceID: string;
  readonly deviceName: string;
  readonly statusCode: number;
  readonly timestampMs: number;
  readonly receivedMs: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly geozoneID: string;
  readonly commandID: string | null;
  readonly commandState: string | null;
  readonly isLate: boolean;
}

/** An entry that a rule tells. */
export interface Notice extends InboxEntry {
  readonly accountID: string;
  readonly ruleID: string;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** An entry as programs read it, from the inbox and from a webhook. Members are only ever added. */
export function viewEntry(entry: InboxEntry) {
  return {
    notificationID: String(entry.notificationNo),
    deviceID: entry.deviceID,
    deviceDisplayName: entry.deviceName,
    statusCode: entry.statusCode,
    statusDescription: statusText(entry.statusCode),
    timestamp: seconds(entry.timestampMs),
    creationTime: seconds(entry.receivedMs),
    latitude: entry.latitude ?? 0,
    longitude: entry.longitude ?? 0,
    isPositionValid: entry.latitude !== null && entry.longitude !== null,
    geozoneID: entry.geozoneID,
    commandID: entry.commandID,
    commandState: entry.commandState,
    late: entry.isLate,
  };
}

/** The body of a webhook. */
export function webhookBody(notice: Notice): string {
  return JSON.stringify({ ...viewEntry(notice), ruleID: notice.ruleID, accountID: notice.accountID });
}

/** Longest name in a message; a push message must fit one record of 4096 bytes. */
const pushNameMost = 128;

/** Cut between characters, never inside of a surrogate pair. */
const shorten = (text: string): string => Array.from(text).slice(0, pushNameMost).join('');

/** The message to a service worker. No position: it shows on locked screens. */
export function pushBody(notice: Notice): string {
  return JSON.stringify({
    notificationID: String(notice.notificationNo),
    deviceID: notice.deviceID,
    deviceDisplayName: shorten(notice.deviceName),
    statusCode: notice.statusCode,
    statusDescription: statusText(notice.statusCode),
    timestamp: seconds(notice.timestampMs),
    urgent: isUrgent(notice.statusCode),
    late: notice.isLate,
  });
}

/** One line: control characters, line and direction marks become spaces. */
const oneLine = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();

const moment = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Put together from its parts: how a language writes a date changes with the platform. */
function when(ms: number): string {
  const part = new Map(moment.formatToParts(ms).map(({ type, value }) => [type, value]));
  const day = `${part.get('year')}-${part.get('month')}-${part.get('day')}`;
  return `${day} ${part.get('hour')}:${part.get('minute')}:${part.get('second')} UTC`;
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** A mail in plain text. */
export function mailOf(notice: Notice): Mail {
  const name = shorten(oneLine(notice.deviceName)) || notice.deviceID;
  const what = statusText(notice.statusCode);
  const position =
    notice.latitude === null || notice.longitude === null
      ? 'unknown'
      : `${notice.latitude.toFixed(5)}, ${notice.longitude.toFixed(5)}`;
  const lines = [
    `${what} on ${name}`,
    '',
    `Device:   ${notice.deviceID}`,
    `Event:    ${what} (${notice.statusCode})`,
    `Happened: ${when(notice.timestampMs)}`,
    `Received: ${when(notice.receivedMs)}${notice.isLate ? ' (late)' : ''}`,
    `Position: ${position}`,
    ...(notice.geozoneID === '' ? [] : [`Geozone:  ${oneLine(notice.geozoneID)}`]),
    ...(notice.commandID === null
      ? []
      : [`Command:  ${notice.commandID} ${notice.commandState ?? ''}`.trimEnd()]),
    '',
    `You get this by the rule ${notice.ruleID} of the account ${notice.accountID}.`,
  ];
  return { subject: `${notice.isLate ? '[late] ' : ''}${what}: ${name}`, text: `${lines.join('\n')}\n` };
}
