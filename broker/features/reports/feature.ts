// Reports that are mailed again and again: their schedules, their mails.
import { reportOperations } from '../../api/events/reports.ts';
import { feature } from '../feature.ts';
import { mailedReports } from './mailed-reports.ts';
import { sendReport } from './report-sending.ts';
import { reportTables } from './report-tables.ts';
import { reportScheduleOperations } from './schedules.ts';

export const reports = feature({
  tables: reportTables,
  clearedTables: [
    ['report_mails', 'mail_no'],
    ['report_schedules', 'schedule_no'],
  ],
  operations: reportScheduleOperations,
  follows: reportOperations,
  slice: mailedReports,
  sendMail: sendReport,
});
