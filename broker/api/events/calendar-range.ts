// Periods as people name them: from a month or a day to another, as clock and calendar of a time zone count. October has an hour
// more than 31 times 24 in much of the world, and no caller has to know that.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { namedDates, withTimes } from '../../core/reports/due-times.ts';
import { findProfile } from '../../store/accounts/users.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';
import { needTimeZone, timeZone } from '../base/input-members.ts';

const instant = (wildcard: string, edge: string) =>
  Type.String({
    pattern: '^([0-9]{1,10}|[0-9]{4}-[0-9]{2}(-[0-9]{2})?)$',
    description: `Epoch seconds; 0 = ${wildcard}. Or a day (\`2026-10-31\`) or a month (\`2026-10\`), of which it is the ${edge}`,
  });

/** Path variables of a period. */
export const calendarParams = {
  startTime: instant('from the beginning', 'beginning'),
  endTime: instant('now', 'end'),
} as const;

export const calendarQuery = { timeZone: Type.Optional(timeZone) } as const;
const query = Type.Object(calendarQuery);

export const calendarText = `\`startTime\` and \`endTime\` may be days or months: \`.../2026-10/2026-10/authorization?timeZone=Europe/Berlin\` is October there, with its
745 hours. Without \`timeZone\` they are of the time zone of the calling user.`;

interface Range {
  readonly startTime: string;
  readonly endTime: string;
}

/**
 * The same period in epoch seconds.
 * @throws AppError `invalid_content`.
 */
export async function inSeconds<P extends Range>(
  services: Pick<ApiServices, 'db'>,
  caller: Pick<Caller, 'accountID' | 'userID'>,
  asked: { readonly params: P; readonly query: Static<typeof query> },
): Promise<P> {
  const { params } = asked;
  needTimeZone(asked.query.timeZone);
  if (!`${params.startTime}${params.endTime}`.includes('-')) return params;
  const zone = asked.query.timeZone ?? (await findProfile(services.db, caller))?.timeZone ?? 'UTC';
  const at = (name: keyof Range, edge: 'fromS' | 'toS'): string => {
    const text = params[name];
    if (!text.includes('-')) return text;
    const dates = namedDates(text);
    if (dates !== null) return String(Math.max(1, withTimes(zone, dates)[edge]));
    const pointer = `/${name}`;
    throw new AppError('invalid_content', `${name} names no day and no month`, {
      details: [{ pointer, message: 'must be a day as 2026-10-31 or a month as 2026-10' }],
    });
  };
  return { ...params, startTime: at('startTime', 'fromS'), endTime: at('endTime', 'toS') };
}
