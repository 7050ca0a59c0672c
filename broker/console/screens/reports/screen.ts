// Reports, and those that are mailed.
import { reportKinds, sorts } from '../../../../src/core/reports/columns.ts';
import { address, screen } from '../../shell/screen.ts';
import { parseVehicles } from '../../state/reports/report-view.ts';
import { scheduleDialogs } from '../../state/reports/schedule-address.ts';
import { epoch, oneOf, parsedBy, text, whole } from '../../state/search.ts';
import { ranges } from '../../state/vehicle/vehicle-view.ts';
import { withWords } from '../../words/word-set.ts';

/** Ids with commas between them. */
const parseSome = (ids: string) => parseVehicles(ids)?.length;

const reports = address(
  '/reports',
  {
    kind: oneOf(reportKinds),
    vehicles: parsedBy(parseSome),
    group: text,
    range: oneOf(ranges),
    from: epoch,
    to: epoch,
    driver: text,
    code: whole(65_536),
    sort: oneOf(sorts),
    rows: epoch,
  },
  () => withWords(import('./reports.tsx')),
  'ReportsScreen',
);

const byMail = address(
  '/reports/mail',
  { schedule: text, open: oneOf(scheduleDialogs) },
  () => withWords(import('./by-mail.tsx')),
  'ReportsByMailScreen',
);

export const reportsScreen = screen({
  routes: [reports, byMail],
  links: [{ to: '/reports', icon: 'table', key: 'r' }],
});
