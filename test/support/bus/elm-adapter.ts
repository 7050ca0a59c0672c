// A simulated ELM327 adapter in a simulated car: an ELM327 v1.4b, a clone that calls itself v2.1 and knows the commands of 1.2, and an STN.
// Written from the ELM327 data sheet (error messages, AT commands and their versions) and the STN1100 reference; it records every command.

/** What the car answers to a request without a count: frames as `7E8` and bytes; null: nothing. */
export type Car = (request: string) => readonly string[] | null;

export type ElmFault =
  | 'mute'
  | 'garbage'
  | 'unable'
  | 'no_data'
  | 'can_error'
  | 'buffer_full'
  | 'bus_init'
  | 'reset_while_asked';

export interface ElmAdapterOptions {
  readonly kind: 'elm327' | 'clone' | 'stn';
  readonly protocol?: number;
  readonly volts?: number;
  /** Commands of a real adapter that this one does not know. */
  readonly lacks?: readonly string[];
  readonly car: Car;
  send(text: string): void;
}

export interface ElmAdapter {
  receive(bytes: Uint8Array): void;
  /** Its supply was cut and is back. */
  restart(): void;
  fault: ElmFault | null;
  volts: number;
  readonly commands: string[];
}

const names = {
  elm327: 'ELM327 v1.4b',
  clone: 'ELM327 v2.1',
  stn: 'ELM327 v1.3a',
} as const;

const settings = /^AT(E[01]|L[01]|S[01]|H[01]|AT[012]|ST[0-9A-F]{2}|CAF[01]|SP[0-9A-C]|TP[0-9A-C])$/;
/** Since 1.1, 1.3, 1.4 and 2.0: none of the clones that were seen knows them all. */
const later = ['ATPPS', 'ATFE', 'ATSS', 'ATCSM1', 'ATAMC', 'ATCTM1'];
const known = { elm327: ['ATPPS', 'ATFE', 'ATSS', 'ATCSM1'], clone: [], stn: ['ATPPS', 'ATFE', 'ATSS'] };

/** Answers of the adapter itself; null: it does not know the command. */
function ownAnswer(kind: ElmAdapterOptions['kind'], command: string, volts: number): string | null {
  if (command === 'ATI') return names[kind];
  if (command === 'AT@1') return 'OBDII to RS232 Interpreter';
  if (command === 'STI') return kind === 'stn' ? 'STN1110 v4.0.4' : null;
  if (command === 'ATRV') return `${volts.toFixed(1)}V`;
  if (later.includes(command)) {
    if (!(known[kind] as readonly string[]).includes(command)) return null;
    return command === 'ATPPS' ? '00:FF F  01:FF F  02:FF F  03:32 F' : 'OK';
  }
  return settings.test(command) ? 'OK' : null;
}

/** An adapter that has just been plugged in. */
export function createElmAdapter(options: ElmAdapterOptions): ElmAdapter {
  const { kind, protocol = 6, lacks = [], car, send } = options;
  const commands: string[] = [];
  let pending = '';
  let hasEcho = true;
  let hasSpaces = true;
  let isFixed = false;
  let isConnected = false;
  const adapter: ElmAdapter = {
    fault: null,
    volts: options.volts ?? 12.6,
    commands,
    restart() {
      pending = '';
      hasEcho = true;
      hasSpaces = true;
      isFixed = false;
      isConnected = false;
    },
    receive(bytes) {
      const lines = `${pending}${String.fromCharCode(...bytes)}`.split('\r');
      pending = lines.pop() ?? '';
      for (const command of lines) answer(command);
    },
  };
  const framed = (frame: string): string => {
    if (!hasSpaces) return frame;
    const id = frame.slice(0, 3);
    return [id, ...(frame.slice(3).match(/../g) ?? [])].join(' ');
  };
  const faultText = (): string | null => {
    switch (adapter.fault) {
      case 'unable':
        return 'UNABLE TO CONNECT';
      case 'no_data':
        return 'NO DATA';
      case 'can_error':
        return 'CAN ERROR';
      case 'buffer_full':
        return '7E8064100\rBUFFER FULL';
      case 'bus_init':
        return 'BUS INIT: ...ERROR';
      case 'reset_while_asked':
        adapter.fault = null;
        adapter.restart();
        return 'LV RESET';
      default:
        return null;
    }
  };
  const carAnswer = (command: string): string | null => {
    // A digit at the end is the number of answers to wait for.
    const hasCount = command.length > 2 && command.length % 2 === 1;
    const isLong = command.length > 5;
    if (kind === 'clone' && (hasCount || isLong)) return null;
    const searching = isConnected || isFixed ? '' : 'SEARCHING...\r';
    const fault = faultText();
    if (fault !== null) return `${searching}${fault}`;
    const frames = car(hasCount ? command.slice(0, -1) : command);
    if (frames === null) return `${searching}NO DATA`;
    isConnected = true;
    return `${searching}${frames.map(framed).join('\r')}`;
  };
  const settle = (command: string): string | null => {
    if (command === 'ATE0' || command === 'ATE1') hasEcho = command === 'ATE1';
    if (command === 'ATS0' || command === 'ATS1') hasSpaces = command === 'ATS1';
    if (command.startsWith('ATSP')) {
      isFixed = command !== 'ATSP0';
      isConnected = false;
    }
    if (command === 'ATDPN') return `${isFixed ? '' : 'A'}${protocol.toString(16).toUpperCase()}`;
    return lacks.includes(command) ? null : ownAnswer(kind, command, adapter.volts);
  };
  const answer = (command: string): void => {
    commands.push(command);
    if (adapter.fault === 'mute') return;
    if (adapter.fault === 'garbage') return send('\u0000\u00fcx7E8 06 ZZ\r>');
    const echo = hasEcho ? `${command}\r` : '';
    if (command === 'ATZ') {
      adapter.restart();
      // Clones add bytes that are none.
      return send(`${echo}\r\r${kind === 'clone' ? '\u00fc' : ''}${names[kind]}\r\r>`);
    }
    const isOwn = /^(AT|ST)/.test(command);
    const text = isOwn ? settle(command) : carAnswer(command);
    send(`${echo}${text ?? '?'}\r\r>`);
  };
  return adapter;
}

export interface CarState {
  speed: number;
  rpm: number;
  odometerKm: number;
  lamp: boolean;
  codes: readonly string[];
  vin: string;
  /** It answers nothing: it sleeps. */
  isAsleep: boolean;
  /** Requests that reached it. */
  readonly requests: string[];
}

const hex = (value: number, bytes: number): string =>
  Math.round(value)
    .toString(16)
    .toUpperCase()
    .padStart(2 * bytes, '0');

/** Frames of ISO 15765-2 from `7E8`. */
export function canFrames(payload: string, id = '7E8'): readonly string[] {
  const length = payload.length / 2;
  if (length <= 7) return [`${id}${hex(length, 1)}${payload}`];
  const frames = [`${id}1${length.toString(16).toUpperCase().padStart(3, '0')}${payload.slice(0, 12)}`];
  for (let at = 12, n = 1; at < payload.length; at += 14, n += 1)
    frames.push(`${id}2${(n & 15).toString(16).toUpperCase()}${payload.slice(at, at + 14).padEnd(14, '0')}`);
  return frames;
}

/** A car with one control unit on CAN that offers what is read, and a second one that offers little. */
export function createCar(given: Partial<CarState> = {}): { readonly state: CarState; readonly car: Car } {
  const state: CarState = {
    speed: 0,
    rpm: 0,
    odometerKm: 12_345.6,
    lamp: false,
    codes: [],
    vin: '1D4GP00R55B123456',
    isAsleep: false,
    requests: [],
    ...given,
  };
  const bitmap = (base: number, pids: readonly number[]): string => {
    const bytes = [0, 0, 0, 0];
    for (const pid of pids) {
      const bit = pid - base - 1;
      bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (0x80 >>> (bit & 7));
    }
    return bytes.map((byte) => hex(byte, 1)).join('');
  };
  const values: Readonly<Record<string, () => string>> = {
    '01': () => `${hex((state.lamp ? 0x80 : 0) + state.codes.length, 1)}07E500`,
    '05': () => hex(90 + 40, 1),
    '0C': () => hex(state.rpm * 4, 2),
    '0D': () => hex(state.speed, 1),
    '1F': () => hex(600, 2),
    '2F': () => hex(0x80, 1),
    '42': () => hex(14_100, 2),
    '5E': () => hex(20 * 3.5, 2),
    A6: () => hex(state.odometerKm * 10, 4),
  };
  const bitmaps: Readonly<Record<string, readonly string[]>> = {
    '0100': [
      ...canFrames(`4100${bitmap(0, [0x01, 0x05, 0x0c, 0x0d, 0x1f, 0x20])}`),
      ...canFrames(`4100${bitmap(0, [0x01])}`, '7EA'),
    ],
    '0120': canFrames(`4120${bitmap(0x20, [0x2f, 0x40])}`),
    '0140': canFrames(`4140${bitmap(0x40, [0x42, 0x5e, 0x60])}`),
    '0160': canFrames(`4160${bitmap(0x60, [0x80])}`),
    '0180': canFrames(`4180${bitmap(0x80, [0xa0])}`),
    '01A0': canFrames(`41A0${bitmap(0xa0, [0xa6])}`),
    '0900': canFrames(`4900${bitmap(0, [0x02])}`),
  };
  const car: Car = (request) => {
    state.requests.push(request);
    if (state.isAsleep) return null;
    const known = bitmaps[request];
    if (known !== undefined) return known;
    if (request === '0902') {
      const text = state.vin
        .split('')
        .map((letter) => hex(letter.charCodeAt(0), 1))
        .join('');
      return canFrames(`490201${text}`);
    }
    if (request === '03') return canFrames(`43${hex(state.codes.length, 1)}${state.codes.join('')}`);
    if (request === '07') return canFrames('4700');
    if (!request.startsWith('01')) return null;
    const pids = request.slice(2).match(/../g) ?? [];
    const data = pids.map((pid) => (values[pid] === undefined ? '' : `${pid}${values[pid]()}`)).join('');
    // The second control unit has no codes.
    const second = request === '0101' ? canFrames('41010007E500', '7EA') : [];
    return data === '' ? null : [...canFrames(`41${data}`), ...second];
  };
  return { state, car };
}
