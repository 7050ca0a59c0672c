// The reports in English: kinds, periods, columns, files.
import { decisions, reportColumns, reportKinds } from '../../../../src/core/words/reports/en.ts';
import type { Widened } from '../base/catalogue.ts';
import { counterOf, formatNumber } from '../base/format.ts';

const many = counterOf('en');
const n = (value: number): string => formatNumber(value, 'en');

export const reportTexts = {
  reports: {
    pages: { label: 'Pages of reports', report: 'Report', mail: 'By mail' },
    kind: 'Report',
    kinds: reportKinds,
    rows: (count: number) => many(count, 'row', 'rows'),
    asOf: (time: string) => `as of ${time}`,
    readAgain: 'Read again',
    print: 'Print',
    printed: (account: string) => `Account ${account}`,
    vehicles: 'Vehicles',
    fleet: 'Whole fleet',
    vehicleCount: (count: number) => many(count, 'vehicle', 'vehicles'),
    choose: 'Choose vehicles',
    chosen: (what: string) => `Vehicles: ${what}`,
    findVehicle: 'Find a vehicle',
    noVehicle: 'No vehicle matches',
    most: (count: number) => `A report names at most ${count} vehicles`,
    moreVehicles: (count: number) => `and ${n(count)} more: search for them`,
    from: 'From',
    to: 'To',
    apply: 'Show this period',
    between: (from: string, to: string) => `${from} to ${to}`,
    code: 'Kind of event',
    empty: {
      summary: 'No vehicle is in this report',
      trips: 'No trips began in this period',
      stops: 'No stops began in this period',
      alarms: 'No alarms were raised in this period',
      decisions: 'No cut asked for a second person in this period',
      events: 'No such event in this period',
    },
    emptyHint: 'Choose a longer period or other vehicles',
    reading: (done: number, all: number) => `${n(done)} of ${n(all)} vehicles read`,
    readingRows: (count: number) => `${many(count, 'row', 'rows')} read`,
    stop: 'Stop reading',
    stopped: 'Reading was stopped',
    stoppedHint: 'Nothing is shown, because not every vehicle was read',
    capped: (count: number) => `Only the first ${n(count)} rows were read`,
    cappedHint: 'Choose a shorter period or fewer vehicles to see all',
    tooLong: (days: number) => `The period is longer than ${days} days`,
    tooLongFleet: 'Choose a shorter period, or vehicles: then up to 366 days are read',
    tooLongNamed: 'Choose a shorter period',
    showMore: 'Show more rows',
    shown: (shown: number, all: number) => `${n(shown)} of ${n(all)} rows shown`,
    all: 'All',
    notes: {
      summary:
        'A trip or stop belongs to the period in which it begins, and is counted whole. Fuel is the level at the start of the first trip and at the end of the last one: what was filled in between is not seen, and without the size of the tank there are no litres. Columns of the bus are what the vehicle counts itself (J1939): to about 1 km, 1 L and 0.1 h',
      trips:
        'A trip belongs to the period in which it begins. Idling is the ignition on without moving, on the way. Columns of the bus are what the vehicle counts itself (J1939): to about 1 km, 1 L and 0.1 h',
      stops:
        'A stop belongs to the period in which it begins. Idling is the ignition on while the vehicle stood',
      alarms: 'By the time at which the service raised them. Closed alarms are kept for 90 days',
      decisions: 'Cuts that asked for a second person, by the time of the request',
      events: 'By the time of the vehicle. Late is how long after it the service stored the event',
    },
    columns: reportColumns,
    decisions,
    open: 'goes on',
    order: 'Order',
    upwards: (column: string) => `${column}, upwards`,
    downwards: (column: string) => `${column}, downwards`,
    plot: {
      summary:
        'Distance and driving time of the vehicles, in the order of the table; the table holds the values',
      trips: 'Distance and driving time of each day; the table holds the values',
      stops: 'Standing and idling of each day; the table holds the values',
      alarms: 'Alarms of each day; the table holds them',
      decisions: 'Requests of each day; the table holds them',
      events: 'Events of each day; the table holds them',
    },
    perDay: 'Rows of a day',
    save: 'Save as file',
    saveTable: 'CSV, this table',
    saveSemicolons: 'CSV with semicolons, this table',
    saveTracks: 'Records of the vehicles, a file for each',
    formats: { gpx: 'GPX, the way', csv: 'CSV, every record', geojson: 'GeoJSON, every record' },
    saveMost: (count: number) => `Choose up to ${count} vehicles to save their records`,
    saving: (vehicle: string, file: number, files: number) =>
      `Saving ${vehicle}, file ${n(file)} of ${n(files)}`,
    received: (mebibytes: string) => `${mebibytes} MiB received`,
    saved: (files: number) => many(files, 'file was saved', 'files were saved'),
    cancelled: 'Saving was cancelled',
    notSaved: (vehicle: string) => `${vehicle} was not saved`,
    tooLarge: (mebibytes: number) => `The file is larger than ${n(mebibytes)} MiB. Choose a shorter period`,
  },
};

export type ReportTexts = Widened<typeof reportTexts>;
