// Mails with reports: in every language, with texts of people that cannot leave their line, and never cut without saying so.
import { describe, expect, it } from 'vitest';
import { periodBefore } from '../../broker/core/reports/due-times.ts';
import { mailOfReport, type ReadReport } from '../../broker/features/reports/core/report-mail.ts';
import {
  mailedKinds,
  type ScheduleDefinition,
  scheduleLimits,
} from '../../broker/features/reports/core/report-schedule.ts';
import { reportWords } from '../../broker/features/reports/core/report-words.ts';
import { decisionRow, type ReportRow, tripRow } from '../../src/core/reports/rows.ts';
import { type Language, languages } from '../../src/core/words/languages.ts';

const all = Object.keys(languages) as Language[];
const at = Date.UTC(2026, 10, 26, 6);
const period = periodBefore('yesterday', 'Europe/Berlin', at);

const definition: ScheduleDefinition = {
  displayName: 'Vans',
  isActive: true,
  kind: 'trips',
  devices: [],
  groups: [],
  period: 'yesterday',
  recurrence: { every: 'day', weekday: 1, monthDay: 1, time: '06:00', timeZone: 'Europe/Berlin' },
  language: 'en',
  recipients: ['ops@example.com'],
};

const trip = (changes: Partial<Parameters<typeof tripRow>[0]> = {}): ReportRow =>
  tripRow({
    deviceID: 'van-1',
    startTime: period.fromS + 3600,
    endTime: period.fromS + 7200,
    drivingTime: 3600,
    distance: 21.4,
    averageSpeed: 21,
    maximumSpeed: 87,
    idleTime: 240,
    startFuelLevel: 0.62,
    endFuelLevel: null,
    busDistance: null,
    busFuelUsed: null,
    busEngineHours: null,
    isOpen: false,
    ...changes,
  });

function mail(
  rows: readonly ReportRow[],
  changes: Partial<ScheduleDefinition> = {},
  of: Partial<ReadReport> = {},
) {
  return mailOfReport({
    accountID: 'acme',
    scheduleID: 's1',
    owner: 'olga',
    definition: { ...definition, ...changes },
    period,
    report: { rows, isCapped: false, names: new Map([['van-1', 'Van 1']]), ...of },
    isAsked: false,
    readMs: at,
    consoleUrl: 'https://fleet.example.com/console/',
  });
}

describe('a mail with a report', () => {
  it('has a table of the first rows in the local time of the schedule, totals, and what stands in the file', () => {
    const rows = [trip(), trip({ startTime: period.fromS + 9000, distance: 3.2, idleTime: 60 })];
    const { subject, text, csv, cut } = mail(rows);
    expect(subject).toBe('Trips: Vans, 2026-11-25');
    expect(text).toBe(`Trips: Vans

Account: acme
Period: 2026-11-25 (Europe/Berlin)
Vehicles: all that olga sees (1)
Rows: 2
Read: 2026-11-26 07:00

Start             Vehicle  Driving (h:min)  Distance (km)  Idling (h:min)
2026-11-25 02:30  Van 1               1:00            3.2            0:01
2026-11-25 01:00  Van 1               1:00           21.4            0:04

Total:
  Driving (h:min): 2:00
  Distance (km): 24.6
  Idling (h:min): 0:05

Attached: trips_2026-11-25_2026-11-25.csv. Times in the file are UTC

You get this mail by the report schedule s1 of olga in the account acme. To end it, ask that person or an administrator of the account
`);
    expect(cut).toBe('');
    expect(csv.split('\r\n')[0]).toBe(
      '\ufeffdeviceID,Start (UTC),Vehicle,End (UTC),Driving (s),Distance (km),Average (km/h),Highest (km/h),Idling (s),Fuel at start (%),Fuel at end (%)',
    );
    expect(csv.split('\r\n')[2]).toBe(
      'van-1,2026-11-25T00:00:00.000Z,Van 1,2026-11-25T01:00:00.000Z,3600,21.4,21,87,240,62,',
    );
  });

  it('shows 20 rows and says how many further ones the file has', () => {
    const rows = Array.from({ length: 33 }, (_, index) => trip({ startTime: period.fromS + index * 60 }));
    const { text, csv } = mail(rows);
    expect(text).toContain('and 13 further rows');
    expect(text.match(/Van 1/g)).toHaveLength(20);
    expect(csv.split('\r\n')).toHaveLength(35);
  });

  it('of too many rows has no file and no totals, and says where the whole report is', () => {
    const { text, csv, cut } = mail([trip(), trip()], {}, { isCapped: true });
    expect([csv, cut]).toEqual(['', 'rows']);
    expect(text).toContain('more than 10,000 rows');
    expect(text).toContain(
      `https://fleet.example.com/console/reports?kind=trips&from=${period.fromS}&to=${period.toS}\n`,
    );
    expect(text).not.toContain('Total');
    expect(text).not.toContain('Attached');
  });

  it('whose file would be too large has its totals, and says so', () => {
    const note = 'x'.repeat(1000);
    const rows = Array.from({ length: 5000 }, (_, index) =>
      decisionRow({
        approvalID: `a${index}`,
        deviceID: 'van-1',
        approvalState: 'refused',
        requestedBy: 'olga',
        requested: period.fromS,
        reason: `stolen: ${note}`,
        decidedBy: 'otto',
        decided: period.fromS + 5,
        decidedReason: '',
      }),
    );
    const { text, csv, cut, rows: count } = mail(rows, { kind: 'decisions' });
    expect([csv, cut, count]).toEqual(['', 'bytes', 5000]);
    expect(text).toContain(`larger than ${scheduleLimits.fileBytes / 1024 / 1024} MiB`);
    expect(text).toContain('https://fleet.example.com/console/reports?kind=decisions');
  });

  it('keeps each text of people in its line, and none of them in the name of the file', () => {
    const evil = 'x\r\nBcc: thief@example.com\r\n\r\n\u2028y';
    const { subject, text, fileName } = mail(
      [trip()],
      { displayName: evil },
      { names: new Map([['van-1', evil]]) },
    );
    expect(subject).not.toMatch(/[\r\n\u2028]/);
    expect(text).not.toMatch(/^Bcc:/m);
    expect(fileName).toBe('trips_2026-11-25_2026-11-25.csv');
  });

  it('makes text of what a spreadsheet would take for a formula', () => {
    const { csv } = mail([trip()], {}, { names: new Map([['van-1', '=cmd|calc!A0']]) });
    expect(csv).toContain(",'=cmd|calc!A0,");
  });

  it.each(all)('says all of it in the language %s, for every kind', (language) => {
    const { mail: words, kinds, table } = reportWords[language];
    for (const kind of mailedKinds) {
      const { subject, text } = mail([], { kind, language });
      expect(subject).toContain(kinds[kind]);
      expect(text).toContain(words.empty);
      expect(text).not.toContain('undefined');
    }
    const { text } = mail([trip()], { language });
    expect(text).toContain(table.columns.distance);
    if (language === 'en') return;
    const english = Object.entries(reportWords.en.mail);
    const same = english.filter(
      ([name, value]) =>
        typeof value === 'string' && value === words[name as keyof typeof words] && value.length > 5,
    );
    expect(same).toEqual([]);
  });
});
