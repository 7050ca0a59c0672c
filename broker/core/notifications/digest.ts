// One message in place of many: what a vehicle reports late, as after a dead zone, reaches each recipient as a digest. Pure.
import { mailWords } from '../../../build/words/mail.ts';
import { type Notice, pushBody } from './notice.ts';
import { codeName, type Mail, type MailForm, nameOf, oneLine, when } from './notice-mail.ts';

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

/** A mail in plain text. @param consoleUrl empty: not known, then there is no link. */
export function digestMail(digest: Digest, { language, timeZone }: MailForm, consoleUrl: string): Mail {
  const { kinds, devices, fromMs, toMs, newest, ruleIDs } = digest;
  const { notice: texts, colon } = mailWords[language];
  const [first] = newest;
  // The device when all notices are about it; else how many there are.
  const about = devices > 1 || first === undefined ? texts.vehicles({ count: devices }) : nameOf(first);
  const what = texts.events({ count: countOf(digest), about });
  const most = Math.max(...kinds.map(({ count }) => String(count).length));
  const rules = ruleIDs.map(oneLine).join(', ');
  const [from, to] = [when(fromMs, timeZone), when(toMs, timeZone)];
  const lines = [
    texts.arrivedLate({ what }),
    '',
    `${texts.happened}${colon}${texts.span({ from, to })}`,
    '',
    ...kinds.map(
      ({ statusCode, count }) =>
        `${String(count).padStart(most)}  ${codeName(statusCode, language)} (${statusCode})`,
    ),
    '',
    texts.newest,
    ...newest.map(
      (notice) =>
        `${when(notice.timestampMs, timeZone)}  ${codeName(notice.statusCode, language)}${colon}${nameOf(notice)}`,
    ),
    '',
    ...(consoleUrl === '' ? [] : [texts.all({ url: `${consoleUrl}inbox` }), '']),
    texts.whyRules({ count: ruleIDs.length, rules, account: first?.accountID ?? '' }),
  ];
  return { subject: `[${texts.late}] ${what}`, text: `${lines.join('\n')}\n` };
}

/** The message to a service worker: that of the newest notice, and how many it stands for. */
export function digestPush(digest: Digest): string {
  const [newest] = digest.newest;
  if (newest === undefined) return '{}';
  const body = JSON.parse(pushBody(newest)) as object;
  const name = digest.devices > 1 ? { deviceID: '', deviceDisplayName: '' } : {};
  return JSON.stringify({ ...body, ...name, count: countOf(digest) });
}
