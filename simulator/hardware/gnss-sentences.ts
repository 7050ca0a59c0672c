// NMEA 0183 sentences as a receiver writes them: RMC, GGA, GSA, VTG, and ZDA, GNS, GSV on demand. Written from the
// sentences' definitions and never from the agent's decoder, which is judged by them.

/** The truth that the receiver observes. */
export interface GnssTruth {
  readonly latitude: number;
  readonly longitude: number;
  readonly altitudeM: number;
  readonly speedKmh: number;
  readonly headingDeg: number;
}

export type OptionalSentence = 'ZDA' | 'GNS' | 'GSV';

/** Differences of real receivers' sentences; several can combine. */
export const receiverQuirks = {
  'status-d': 'RMC with status D, as Unicore UM98x with corrections',
  'vtg-only': 'GGA and VTG, no RMC',
  'gga-only': 'GGA, and no other sentence of place or speed',
  'no-speed': 'RMC without a speed, and no VTG',
  'rmc-9-of-10': 'every tenth RMC is lost, and no VTG',
  'rmc-1-of-3': 'two of three RMC are lost, and no VTG',
  'zda-between': 'ZDA with the time of sending between GGA and RMC, as Trimble',
  'rmc-beside': 'the time of RMC is 10 ms beside that of GGA',
  'dop-9999': 'HDOP 9999.0 without a fix, as Unicore',
  'no-zeros': 'coordinates without leading zeros',
  'gsv-decimals': 'signal strengths with decimals',
} as const;

export type ReceiverQuirk = keyof typeof receiverQuirks;
export const receiverQuirkNames = Object.keys(receiverQuirks) as readonly ReceiverQuirk[];

const geoidSeparationM = 47.2;
const knotsPerKmh = 1 / 1.852;
/** Below this speed receivers leave the course empty: it would be noise. */
const courseFromKmh = 2;

/** `$<body>*hh` with the XOR checksum, as NMEA 0183 5.3.1 has it. */
export function formatSentence(body: string): string {
  let sum = 0;
  for (let at = 0; at < body.length; at += 1) sum ^= body.charCodeAt(at);
  return `$${body}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** `ddmm.mmmmm,N`: 5 decimals of a minute are 2 cm; computed in whole units so that 60 minutes never show. */
function formatAngle(degrees: number, axis: { width: 2 | 3; letters: 'NS' | 'EW' }): string {
  const units = Math.round(Math.abs(degrees) * 60e5);
  const whole = Math.floor(units / 60e5);
  const minutes = units - whole * 60e5;
  const text = `${pad(whole, axis.width)}${pad(Math.floor(minutes / 1e5), 2)}.${pad(minutes % 1e5, 5)}`;
  return `${text},${degrees < 0 ? axis.letters[1] : axis.letters[0]}`;
}

export interface Observation extends GnssTruth {
  /** Null until the receiver has decoded the time: its sentences then carry neither time nor date. */
  readonly utcMs: number | null;
  readonly isValid: boolean;
  /** Used in the fix, and received at all. */
  readonly satellites: number;
  readonly satellitesInView: number;
  readonly hdop: number;
}

const noPosition = ',,,';

function formatTime(utcMs: number | null): string {
  if (utcMs === null) return '';
  const at = new Date(utcMs);
  const time = `${pad(at.getUTCHours(), 2)}${pad(at.getUTCMinutes(), 2)}${pad(at.getUTCSeconds(), 2)}`;
  return `${time}.${pad(Math.floor(at.getUTCMilliseconds() / 10), 2)}`;
}

function formatDate(utcMs: number | null): string {
  if (utcMs === null) return '';
  const at = new Date(utcMs);
  return `${pad(at.getUTCDate(), 2)}${pad(at.getUTCMonth() + 1, 2)}${pad(at.getUTCFullYear() % 100, 2)}`;
}

function formatPosition(seen: Observation): string {
  if (!seen.isValid) return noPosition;
  const latitude = formatAngle(seen.latitude, { width: 2, letters: 'NS' });
  return `${latitude},${formatAngle(seen.longitude, { width: 3, letters: 'EW' })}`;
}

function formatRmc(seen: Observation, talker: string): string {
  const status = seen.isValid ? 'A' : 'V';
  const speed = seen.isValid ? (seen.speedKmh * knotsPerKmh).toFixed(3) : '';
  const course = seen.isValid && seen.speedKmh >= courseFromKmh ? seen.headingDeg.toFixed(2) : '';
  const head = `${talker}RMC,${formatTime(seen.utcMs)},${status},${formatPosition(seen)}`;
  return formatSentence(`${head},${speed},${course},${formatDate(seen.utcMs)},,,${seen.isValid ? 'A' : 'N'}`);
}

function formatGga(seen: Observation, talker: string): string {
  const head = `${talker}GGA,${formatTime(seen.utcMs)},${formatPosition(seen)}`;
  if (!seen.isValid) return formatSentence(`${head},0,${pad(seen.satellites, 2)},99.99,,,,,,`);
  const height = `${seen.altitudeM.toFixed(1)},M,${geoidSeparationM.toFixed(1)},M`;
  return formatSentence(`${head},1,${pad(seen.satellites, 2)},${seen.hdop.toFixed(2)},${height},,`);
}

function formatGsa(seen: Observation, talker: string): string {
  const used = seen.isValid ? Math.min(12, seen.satellites) : 0;
  const slots = Array.from({ length: 12 }, (_, at) => (at < used ? pad(at * 2 + 3, 2) : '')).join(',');
  const vertical = seen.hdop * 1.4;
  const dilution = seen.isValid
    ? [Math.hypot(seen.hdop, vertical), seen.hdop, vertical].map((value) => value.toFixed(2)).join(',')
    : '99.99,99.99,99.99';
  return formatSentence(`${talker}GSA,A,${seen.isValid ? 3 : 1},${slots},${dilution}`);
}

function formatVtg(seen: Observation, talker: string): string {
  if (!seen.isValid) return formatSentence(`${talker}VTG,,T,,M,,N,,K,N`);
  const course = seen.speedKmh >= courseFromKmh ? seen.headingDeg.toFixed(2) : '';
  const knots = (seen.speedKmh * knotsPerKmh).toFixed(3);
  return formatSentence(`${talker}VTG,${course},T,,M,${knots},N,${seen.speedKmh.toFixed(3)},K,A`);
}

function formatZda(seen: Observation, talker: string): string {
  if (seen.utcMs === null) return formatSentence(`${talker}ZDA,,,,,,`);
  const at = new Date(seen.utcMs);
  const date = `${pad(at.getUTCDate(), 2)},${pad(at.getUTCMonth() + 1, 2)},${at.getUTCFullYear()}`;
  return formatSentence(`${talker}ZDA,${formatTime(seen.utcMs)},${date},00,00`);
}

function formatGns(seen: Observation, talker: string): string {
  const modes = seen.isValid ? 'AA' : 'NN';
  const head = `${talker}GNS,${formatTime(seen.utcMs)},${formatPosition(seen)},${modes}`;
  const height = seen.isValid ? `${seen.altitudeM.toFixed(1)},${geoidSeparationM.toFixed(1)}` : ',';
  const hdop = seen.isValid ? seen.hdop.toFixed(2) : '99.99';
  return formatSentence(`${head},${pad(seen.satellites, 2)},${hdop},${height},,`);
}

function formatGsv(seen: Observation): string {
  const total = Math.min(12, seen.satellitesInView);
  const messages = Math.max(1, Math.ceil(total / 4));
  const satellite = (at: number): string =>
    `${pad(at * 2 + 3, 2)},${pad(15 + at * 6, 2)},${pad((at * 53) % 360, 3)},${pad(28 + ((at * 7) % 17), 2)}`;
  const lines = Array.from({ length: messages }, (_, message) => {
    const from = message * 4;
    const inThis = Array.from({ length: Math.max(0, Math.min(4, total - from)) }, (_, at) =>
      satellite(from + at),
    );
    return formatSentence([`GPGSV,${messages},${message + 1},${pad(total, 2)}`, ...inThis].join(','));
  });
  return lines.join('');
}

type Format = (seen: Observation, talker: string) => string;

const lateMs = { zda: 30, rmc: 10 } as const;

const shifted =
  (format: Format, byMs: number): Format =>
  (seen, talker) =>
    format({ ...seen, utcMs: seen.utcMs === null ? null : seen.utcMs + byMs }, talker);

/** The fields of one sentence, changed; the checksum is computed again. */
const rewritten =
  (format: Format, change: (body: string) => string): Format =>
  (seen, talker) => {
    const body = format(seen, talker).slice(1, -5);
    return formatSentence(change(body));
  };

const withField = (body: string, at: number, value: string): string =>
  body
    .split(',')
    .map((field, index) => (index === at ? value : field))
    .join(',');

const speedField = 7;
const statusField = 2;

function rmcOf(quirks: ReadonlySet<ReceiverQuirk>): Format {
  if (quirks.size === 0) return formatRmc;
  const shift = quirks.has('rmc-beside') ? lateMs.rmc : 0;
  return rewritten(shifted(formatRmc, shift), (body) => {
    const status = quirks.has('status-d') && body.includes(',A,') ? withField(body, statusField, 'D') : body;
    return quirks.has('no-speed') ? withField(status, speedField, '') : status;
  });
}

/** As numbers and not as digits: 07921.0 becomes 7921.0. */
const withoutZeros = (body: string, quirks: ReadonlySet<ReceiverQuirk>): string =>
  quirks.has('no-zeros') ? body.replaceAll(/,0+(?=\d+\.\d+,[NSEW],)/g, ',') : body;

const withDecimals = (body: string, quirks: ReadonlySet<ReceiverQuirk>): string =>
  quirks.has('gsv-decimals') ? body.replaceAll(/(,\d\d,\d\d,\d{3},\d\d)/g, '$1.5') : body;

/** The sentences of this second, in their order. */
function formatsOf(
  quirks: ReadonlySet<ReceiverQuirk>,
  extra: readonly OptionalSentence[],
  second: number,
): readonly Format[] {
  const more = { ZDA: formatZda, GNS: formatGns, GSV: formatGsv } as const;
  const losesRmc =
    (quirks.has('rmc-9-of-10') && second % 10 === 0) || (quirks.has('rmc-1-of-3') && second % 3 !== 0);
  const hasRmc = !quirks.has('vtg-only') && !quirks.has('gga-only') && !losesRmc;
  const withoutVtg: readonly ReceiverQuirk[] = ['gga-only', 'no-speed', 'rmc-9-of-10', 'rmc-1-of-3'];
  const hasVtg = !withoutVtg.some((quirk) => quirks.has(quirk));
  const gga = quirks.has('dop-9999')
    ? rewritten(formatGga, (body) => body.replace(',99.99,', ',9999.0,'))
    : formatGga;
  const zda = quirks.has('zda-between') ? [shifted(formatZda, lateMs.zda)] : [];
  const rmc = hasRmc ? [rmcOf(quirks)] : [];
  const ggas = quirks.has('gga-only') ? [gga] : [gga, formatGsa];
  // RMC comes first, but where its time is another.
  const isGgaFirst = quirks.has('zda-between') || quirks.has('rmc-beside');
  return [
    ...(isGgaFirst ? [] : rmc),
    ...ggas,
    ...zda,
    ...(isGgaFirst ? rmc : []),
    ...(hasVtg ? [formatVtg] : []),
    ...extra.filter((kind) => kind !== 'ZDA' || zda.length === 0).map((kind) => more[kind]),
  ];
}

/** Everything that the receiver says about one second, RMC first; at 9600 baud it must stay below 900 bytes. */
export function formatBurst(
  seen: Observation,
  talker: string,
  extra: readonly OptionalSentence[],
  quirks: ReadonlySet<ReceiverQuirk> = new Set(),
): string {
  const second = Math.floor((seen.utcMs ?? 0) / 1000);
  const burst = formatsOf(quirks, extra, second)
    .map((format) => format(seen, talker))
    .join('');
  if (quirks.size === 0) return burst;
  const lines = burst.split(/(?<=\n)/);
  const written = lines.map((line) =>
    rewritten(
      () => line,
      (body) => withDecimals(withoutZeros(body, quirks), quirks),
    )(seen, talker),
  );
  return written.join('');
}
