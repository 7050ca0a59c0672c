// The kinds of reports and their columns, as data: form, sum and chart of each value. Pure.

export const reportKinds = ['summary', 'trips', 'stops', 'alarms', 'decisions', 'events'] as const;
export type ReportKind = (typeof reportKinds)[number];

/** Kind of a value, which decides its format. Times are epoch seconds, spans seconds, shares fractions. */
export type Form =
  | 'vehicle'
  | 'time'
  | 'span'
  | 'km'
  | 'speed'
  | 'share'
  | 'litres'
  | 'hours'
  | 'count'
  | 'code'
  | 'priority'
  | 'alarmState'
  | 'closeReason'
  | 'decision'
  | 'reason'
  | 'user'
  | 'place'
  | 'zone';

const forms = {
  vehicle: 'vehicle',
  start: 'time',
  end: 'time',
  trips: 'count',
  stops: 'count',
  distance: 'km',
  driving: 'span',
  standing: 'span',
  idle: 'span',
  average: 'speed',
  highest: 'speed',
  fuelStart: 'share',
  fuelEnd: 'share',
  busDistance: 'km',
  busFuel: 'litres',
  busHours: 'hours',
  place: 'place',
  code: 'code',
  priority: 'priority',
  state: 'alarmState',
  count: 'count',
  untaken: 'span',
  owner: 'user',
  closed: 'time',
  closeReason: 'closeReason',
  driver: 'user',
  askedBy: 'user',
  reason: 'reason',
  decision: 'decision',
  decidedBy: 'user',
  decided: 'time',
  waited: 'span',
  note: 'reason',
  zone: 'zone',
  speed: 'speed',
  late: 'span',
} as const satisfies Readonly<Record<string, Form>>;

export type ColumnID = keyof typeof forms;
export const columnIDs = Object.keys(forms) as readonly ColumnID[];
export const formOf = (column: ColumnID): Form => forms[column];

export const columnsOf = {
  summary: [
    'vehicle',
    'trips',
    'distance',
    'driving',
    'highest',
    'stops',
    'standing',
    'idle',
    'fuelStart',
    'fuelEnd',
    'busDistance',
    'busFuel',
    'busHours',
  ],
  trips: [
    'start',
    'vehicle',
    'driver',
    'end',
    'driving',
    'distance',
    'average',
    'highest',
    'idle',
    'fuelStart',
    'fuelEnd',
    'busDistance',
    'busFuel',
    'busHours',
  ],
  stops: ['start', 'vehicle', 'end', 'standing', 'idle', 'place'],
  alarms: [
    'start',
    'vehicle',
    'code',
    'priority',
    'count',
    'state',
    'untaken',
    'owner',
    'closed',
    'closeReason',
  ],
  decisions: ['start', 'vehicle', 'askedBy', 'reason', 'decision', 'decidedBy', 'waited', 'note'],
  events: ['start', 'vehicle', 'code', 'zone', 'speed', 'late', 'place'],
} as const satisfies Readonly<Record<ReportKind, readonly ColumnID[]>>;

const numeric: ReadonlySet<Form> = new Set(['span', 'km', 'speed', 'share', 'litres', 'hours', 'count']);

/** Numbers stand at the end edge. */
export const isNumeric = (column: ColumnID): boolean => numeric.has(forms[column]);

const summed: ReadonlySet<ColumnID> = new Set([
  'trips',
  'stops',
  'distance',
  'driving',
  'standing',
  'idle',
  'busDistance',
  'busFuel',
  'busHours',
]);
export const isSummed = (column: ColumnID): boolean => summed.has(column);

const ifKnown: ReadonlySet<ColumnID> = new Set(['busDistance', 'busFuel', 'busHours', 'driver']);
/** What only some vehicles have: counters of a bus, a reader of drivers' keys. */
export const isIfKnown = (column: ColumnID): boolean => ifKnown.has(column);

/** Columns that the plot of a report draws; without one it counts the rows. */
export const drawnOf: Readonly<Record<ReportKind, readonly ColumnID[]>> = {
  summary: ['distance', 'driving'],
  trips: ['distance', 'driving'],
  stops: ['standing', 'idle'],
  alarms: [],
  decisions: [],
  events: [],
};

/** Order of a report whose address names none: the summary by distance, the others by time, each the highest first. */
export const firstSort = (kind: ReportKind): Sort => (kind === 'summary' ? '-distance' : '-start');

/** A column, upwards, or with `-` downwards. */
export type Sort = ColumnID | `-${ColumnID}`;
export const sorts: readonly Sort[] = columnIDs.flatMap((id) => [id, `-${id}` as const]);

export const columnOfSort = (sort: Sort): ColumnID => sort.replace(/^-/, '') as ColumnID;
export const isDownwards = (sort: Sort): boolean => sort.startsWith('-');
