// Report schedules: reports that are mailed daily, weekly or monthly. Operators and administrators have their own; what one contains is what its
// owner may see when it is made. Administrators see, send and delete those of others and change none, because a change would mail their own view.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import type { Caller } from '../../api/base/caller.ts';
import { needKnown, needTimeZone } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { nextDue } from '../../core/reports/due-times.ts';
import { type ScheduleDefinition, scheduleLimits } from './core/report-schedule.ts';
import { mailedReports } from './mailed-reports.ts';
import { deleteSchedule, deliveriesOfMails } from './report-mails.ts';
import {
  askSchedule,
  findSchedule,
  isOwned,
  listSchedules,
  mayPut,
  putSchedule,
  type ScheduleKey,
  type ScheduleRow,
} from './report-schedules.ts';
import { mailboxesOfUsers, selectVehicles } from './report-sight.ts';
import {
  definitionOf,
  exampleBody,
  exampleSchedule,
  scheduleBody,
  scheduleRecord,
  viewSchedule,
} from './schedule-shapes.ts';

/** Reports that one account asks to be mailed now: 5 at once, then one a minute. */
const requestLimit = {
  burst: 5,
  perS: 1 / 60,
  refusal: 'The account asks for reports by mail too often',
} as const;

const keyBody = Type.Object(
  { scheduleID: Type.String({ pattern: idPatternSource, description: 'The schedule' }) },
  { additionalProperties: false },
);

async function viewAll({ db }: ApiServices, rows: readonly ScheduleRow[]) {
  const mailNos = rows.flatMap(({ lastMailNo }) => (lastMailNo === null ? [] : [lastMailNo]));
  const deliveries = await deliveriesOfMails(db, mailNos);
  return rows.map((row) =>
    viewSchedule(
      row,
      deliveries.filter(({ mailNo }) => mailNo === row.lastMailNo),
    ),
  );
}

const notThere = (scheduleID: string): AppError =>
  new AppError('not_found', `There is no report schedule ${JSON.stringify(scheduleID)}`);

/** Of which owners the caller reaches schedules; null: of all. */
const reachOf = ({ role, userID }: Caller): string | null => (role === 'admin' ? null : userID);

/** A schedule that the caller may replace; null: there is none of that id. @throws AppError `not_found`, `conflict` for that of another user. */
async function findOwn(
  services: ApiServices,
  caller: Caller,
  scheduleID: string,
): Promise<ScheduleRow | null> {
  const row = await findSchedule(services.db, { accountID: caller.accountID, scheduleID });
  if (row === null || row.owner === caller.userID) return row;
  if (caller.role !== 'admin') throw notThere(scheduleID);
  throw new AppError('conflict', `The report schedule ${scheduleID} belongs to ${row.owner}`, {
    hint: 'Only its owner changes it. Delete it, and make one of your own.',
  });
}

const getSchedules = operation({
  id: 'getReportSchedules',
  method: 'GET',
  path: '/report/schedules/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: false },
  tag: 'Reports',
  summary: 'Reports that are mailed on a schedule',
  description: `Our addition. The caller's report schedules, for administrators those of the whole account, in the order of their ids, each with its next due
time and what became of the last report. \`canMail\` is false while the service has no mail server: then nothing is mailed.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    schedules: Type.Array(scheduleRecord, { description: 'In the order of their ids' }),
    canMail: Type.Boolean({ description: 'The service has a mail server' }),
  }),
  errors: [],
  effects: false,
  examples: { result: { schedules: [exampleSchedule], canMail: true } },
  async run({ caller }, services) {
    const rows = await listSchedules(services.db, caller.accountID, reachOf(caller));
    const canMail = services.senders.email !== null;
    return { ...ok, schedules: await viewAll(services, rows), canMail };
  },
});

/** @throws AppError `invalid_content` when something is named that the caller does not see, or may not mail to. */
async function needPermitted(
  { db }: ApiServices,
  { accountID, role, scope }: Caller,
  definition: ScheduleDefinition,
): Promise<void> {
  const { devices, groups, recipients } = definition;
  const { missingDevices, missingGroups } = await selectVehicles(db, scope, definition);
  needKnown(devices, { unknown: missingDevices, member: 'devices', what: 'device' });
  needKnown(groups, { unknown: missingGroups, member: 'groups', what: 'group' });
  if (role === 'admin') return;
  const known = await mailboxesOfUsers(db, accountID, recipients);
  const unknown = recipients.filter((one) => !known.has(one.toLowerCase()));
  needKnown(recipients, { unknown, member: 'recipients', what: 'mailbox of a user of the account' });
}

const updateSchedule = operation({
  id: 'updateReportSchedule',
  method: 'POST',
  path: '/report/updateschedule/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Reports',
  summary: 'Create a report schedule, or replace it',
  description: `Our addition. Creates the schedule, which then belongs to the caller, or replaces the whole of the caller's one with that id: a member that is not
sent takes its default. One that the service stopped goes on. An account has at most ${scheduleLimits.ofAccount}. One of another user answers 422
\`conflict\` to administrators and 404 to others.

**What**: the report of the console with that \`kind\` as a mail with the first rows and the totals, and the whole table as a CSV file, the
same that the console saves. It is about \`devices\` and the devices in \`groups\`, or with neither about every vehicle that the **owner** sees *when it is made*. A report
of more than ${scheduleLimits.rows.toLocaleString('en')} rows or a file of more than ${scheduleLimits.fileBytes / 1024 / 1024} MiB is not cut: the mail says so, without the file, with the address of the report in
the console (\`notify.consoleUrl\` of the service).

**When**: \`every\` day, week (on \`weekday\`) or month (on \`monthDay\`) at \`time\` in \`timeZone\`, once for each date: a time that a change of the clock
leaves out is due as much later as the clock leaps, one that comes twice the first time. After an outage only the latest due time is made up for. \`period\` is
the day, week or month before the one of the due time.

**To whom**: at most ${scheduleLimits.recipients} mailboxes. An administrator may name any, as in a rule of notifications; an operator only
mailboxes that administrators gave to users of the account (\`userNotifyEmail\`).

**It stops**, and \`stopped\` says why, when its owner was deleted or suspended (\`owner_gone\`), is now a viewer (\`owner_role\`), no longer sees a device or group that
it names, or any at all (\`vehicles_gone\`), or may no longer mail to a recipient (\`recipients_gone\`). What the owner could see is
compared once more when the mail is delivered, at every attempt.

**Deliveries** are those of notifications: tried for 24 hours, listed by \`getDeliveries\`, at least once. Each due time has one mail for each recipient; a
repeat has the same \`Message-ID\`.`,
  params: Type.Object({}),
  body: scheduleBody,
  result: Type.Object({ ...scheduleRecord.properties, ...envelope }),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: exampleBody, result: exampleSchedule },
  async run({ body, caller, source }, services) {
    const { db, clock } = services;
    const { accountID, userID } = caller;
    const { scheduleID } = body;
    needTimeZone(body.timeZone);
    const key: ScheduleKey = { accountID, scheduleID };
    await findOwn(services, caller, scheduleID);
    const definition = definitionOf(body);
    await needPermitted(services, caller, definition);
    const owned = { ...key, owner: userID };
    const nowMs = Math.round(clock.utcMs());
    const nextMs = definition.isActive ? nextDue(definition.recurrence, nowMs) : null;
    const { kind, recipients } = definition;
    const audited = {
      action: 'reportschedule.update',
      object: scheduleID,
      detail: { kind, recipients },
      onlyIf: mayPut(owned),
    };
    const [, changed] = await db.write([
      auditEntry(services, { caller, source }, audited),
      putSchedule(owned, { definition, nextMs, nowMs }),
    ]);
    if (changed?.changes !== 1) {
      throw new AppError('conflict', `The account has ${scheduleLimits.ofAccount} report schedules already`, {
        hint: 'Delete one first, or let one schedule name more vehicles and recipients.',
      });
    }
    const row = await findOwn(services, caller, scheduleID);
    const [view] = await viewAll(services, row === null ? [] : [row]);
    if (view === undefined) throw notThere(scheduleID);
    return { ...view, ...ok };
  },
});

const removeSchedule = operation({
  id: 'deleteReportSchedule',
  method: 'POST',
  path: '/report/deleteschedule/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Reports',
  summary: 'Delete a report schedule',
  description: `Our addition. Deletes the caller's schedule; an administrator deletes any of the account. What it has not delivered yet is given up.`,
  params: Type.Object({}),
  body: keyBody,
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { scheduleID: 'weekly-trips' } },
  async run({ body, caller, source }, services) {
    const { accountID } = caller;
    const { scheduleID } = body;
    const onlyIf = isOwned({ accountID, scheduleID, owner: reachOf(caller) });
    const results = await services.db.write([
      auditEntry(
        services,
        { caller, source },
        { action: 'reportschedule.delete', object: scheduleID, onlyIf },
      ),
      ...deleteSchedule({ accountID, scheduleID }, { nowMs: Math.round(services.clock.utcMs()), onlyIf }),
    ]);
    if (results.at(-1)?.changes === 1) return ok;
    throw notThere(scheduleID);
  },
});

const sendSchedule = operation({
  id: 'sendReport',
  method: 'POST',
  path: '/report/sendschedule/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Reports',
  summary: 'Mail a report of a schedule now',
  description: `Our addition. Has the caller's schedule, or as an administrator any of the account, make its report for the period before now, whatever its state, and mail it to its recipients, with \`[Test]\` in
the subject. The answer comes at once; \`getReportSchedules\` shows \`isAsked\` until it is made, then \`lastResult\`. Its due times stay as they are. An account may ask 5 times,
then once a minute (503 \`throttled\`).`,
  params: Type.Object({}),
  body: keyBody,
  result: Type.Object(envelope),
  errors: ['not_found', 'throttled'],
  effects: true,
  examples: { body: { scheduleID: 'weekly-trips' } },
  async run({ body, caller, source }, services) {
    const { db, clock } = services;
    const { accountID } = caller;
    const { scheduleID } = body;
    const onlyIf = isOwned({ accountID, scheduleID, owner: reachOf(caller) });
    services.takeTurn(requestLimit, accountID);
    const results = await db.write([
      auditEntry(services, { caller, source }, { action: 'reportschedule.send', object: scheduleID, onlyIf }),
      askSchedule({ accountID, scheduleID }, { nowMs: Math.round(clock.utcMs()), onlyIf }),
    ]);
    if (results.at(-1)?.changes !== 1) throw notThere(scheduleID);
    services.of(mailedReports).wake();
    return ok;
  },
});

export const reportScheduleOperations = [getSchedules, updateSchedule, removeSchedule, sendSchedule] as const;
