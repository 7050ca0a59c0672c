// Reports by mail. The broker of a run has no mail server: the schedule says so, and mails nothing.
import { area, type Bench, createOwnDevice, mustRefuse, mustShow, type UserName } from './bench.ts';

const scheduleID = 'operations-report';

async function readSchedule(bench: Bench, as: UserName): Promise<object | undefined> {
  interface Answer {
    readonly schedules: readonly { readonly scheduleID: string; readonly lastResult: object | null }[];
  }
  const { schedules } = await bench.read<Answer>('/report/schedules', as);
  return schedules.find((one) => one.scheduleID === scheduleID);
}

const bodyOf = (deviceID: string) => ({
  scheduleID,
  kind: 'trips',
  devices: [deviceID],
  period: 'lastWeek',
  every: 'week',
  weekday: 1,
  time: '06:30',
  timeZone: 'America/Toronto',
  recipients: ['yard@example.com'],
});

export const reports = area<string>(
  (bench) => createOwnDevice(bench, 'operations-reported'),
  [
    {
      operation: 'updateReportSchedule',
      async run(bench, deviceID) {
        const body = bodyOf(deviceID);
        await bench.call('updateReportSchedule', { body });
        bench.changed('reportschedule.update', scheduleID);
        const wanted = { kind: 'trips', devices: [deviceID], stopped: '', lastResult: null };
        mustShow(bench, 'a created report schedule', { shown: await readSchedule(bench, 'admin'), wanted });
        bench.look(
          (await readSchedule(bench, 'operator')) === undefined,
          'a report schedule of another user is listed',
        );
        await mustRefuse(bench, 'updateReportSchedule', { as: 'viewer', body, code: 'forbidden' });
        await mustRefuse(bench, 'updateReportSchedule', { as: 'operator', body, code: 'not_found' });
        const other = { ...body, scheduleID: 'operations-other' };
        // An operator mails to users of the account only.
        await mustRefuse(bench, 'updateReportSchedule', {
          as: 'operator',
          body: other,
          code: 'invalid_content',
        });
        const unknown = { ...other, devices: ['operations-none'] };
        await mustRefuse(bench, 'updateReportSchedule', { body: unknown, code: 'invalid_content' });
      },
    },
    {
      operation: 'sendReport',
      async run(bench) {
        await mustRefuse(bench, 'sendReport', { as: 'operator', body: { scheduleID }, code: 'not_found' });
        await bench.call('sendReport', { body: { scheduleID } });
        bench.changed('reportschedule.send', scheduleID);
        const isMade = await bench.eventually(async () => {
          const schedule = (await readSchedule(bench, 'admin')) as { readonly lastResult: object | null };
          return schedule.lastResult !== null;
        });
        bench.look(isMade, 'a report that was asked for has no result in time');
        const { lastResult } = (await readSchedule(bench, 'admin')) as { readonly lastResult: object };
        mustShow(bench, 'a report without a mail server', {
          shown: lastResult,
          wanted: { reason: 'no_mail_server' },
        });
      },
    },
    {
      operation: 'deleteReportSchedule',
      async run(bench) {
        const body = { scheduleID };
        await mustRefuse(bench, 'deleteReportSchedule', { as: 'operator', body, code: 'not_found' });
        await bench.call('deleteReportSchedule', { body });
        bench.changed('reportschedule.delete', scheduleID);
        bench.look((await readSchedule(bench, 'admin')) === undefined, 'a deleted report schedule is listed');
        await mustRefuse(bench, 'deleteReportSchedule', { body, code: 'not_found' });
        await mustRefuse(bench, 'sendReport', { body, code: 'not_found' });
      },
    },
  ],
);
