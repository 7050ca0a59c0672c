// One message in place of many: what a vehicle reports late, as after a dead zone, reaches each recipient as a digest. Pure.
import { statusText } from '../../../src/core/events/status-codes.ts';
import { type Mail, type Notice, nameOf, oneLine, pushBody, when } from './notice.ts';

/**
 * Late notices to one recipient wait so long for others, in ms: they are 15 min old at least, and a vehicle that comes back sends all it
 * has within seconds. What is not late never waits.
 */
export const lateGatherMs = 60_000;

/** Notices that a digest shows by themselves. */
export const digestNewest = 5;

/** Two late notices or more, to one recipient. */
export interface Digest {
  /** Named by the delivery that leads it, so that a repeat has the same. */
  readonly digestNo: number;
  readonly kinds: readonly { readonly statusCode: number; readonly count: number }[];
  readonly devices: number;
  /** Event times. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly ruleIDs: readonly string[];
  /** At most `digestNewest`, the newest first. */
  readonly newest: readonly Notice[];
}

const countOf = ({ kinds }: Digest): number => kinds.reduce((sum, { count }) => sum + count, 0);

/** The device when all notices are about it; else how many there are. */
function aboutOf({ devices, newest: [first] }: Digest): string {
  return devices > 1 || first === undefined ? `${devices} vehicles` : nameOf(first);
}

/** A mail in plain text. @param consoleUrl empty: not known, then there is no link. */
export function digestMail(digest: Digest, consoleUrl: string): Mail {
  const { kinds, fromMs, toMs, newest, ruleIDs } = digest;
  const what = `${countOf(digest)} events of ${aboutOf(digest)}`;
  const most = Math.max(...kinds.map(({ count }) => String(count).length));
  const accountID = newest[0]?.accountID ?? '';
  const rules = ruleIDs.map(oneLine).join(', ');
  const lines = [
    `${what} arrived late`,
    '',
    `Happened: ${when(fromMs)} to ${when(toMs)}`,
    '',
    ...kinds.map(
      ({ statusCode, count }) => `${String(count).padStart(most)}  ${statusText(statusCode)} (${statusCode})`,
    ),
    '',
    'The newest:',
    ...newest.map(
      (notice) => `${when(notice.timestampMs)}  ${statusText(notice.statusCode)}: ${nameOf(notice)}`,
    ),
    '',
    ...(consoleUrl === '' ? [] : [`All of them: ${consoleUrl}inbox`, '']),
    `You get this by the ${ruleIDs.length === 1 ? 'rule' : 'rules'} ${rules} of the account ${accountID}.`,
  ];
  return { subject: `[late] ${what}`, text: `${lines.join('\n')}\n` };
}

/** The message to a service worker: that of the newest notice, and how many it stands for. */
export function digestPush(digest: Digest): string {
  const [newest] = digest.newest;
  if (newest === undefined) return '{}';
  const body = JSON.parse(pushBody(newest)) as object;
  const name = digest.devices > 1 ? { deviceID: '', deviceDisplayName: '' } : {};
  return JSON.stringify({ ...body, ...name, count: countOf(digest) });
}
