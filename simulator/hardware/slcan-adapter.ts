// A simulated SLCAN adapter: it answers commands in one of four dialects, and forwards frames of its bus while it is open at the
// bus's bit rate. It records every command and every frame to transmit.
import { type CanFrame, slcanLine } from './j1939-frames.ts';

/** `canable`, and `canable25` which acknowledges: listen after `M1`, `O`. `lawicel` and `usbtin`: after `L`. */
export type SlcanDialect = 'canable' | 'canable25' | 'usbtin' | 'lawicel';
/** Bit/s. */
export type BitRate = 125_000 | 250_000 | 500_000 | 1_000_000;

export interface SlcanAdapterOptions {
  readonly dialect: SlcanDialect;
  readonly busRate?: BitRate;
  /** False: `L` is refused, as by the first CAN232. */
  readonly canListen?: boolean;
  send(text: string): void;
}

export interface SlcanAdapter {
  receive(bytes: Uint8Array): void;
  /** A frame on the bus; what the adapter passes on. */
  frame(frame: CanFrame): void;
  /** Its supply was cut and is back. */
  restart(): void;
  readonly commands: readonly string[];
  /** Commands that would have written to the bus. */
  readonly transmissions: readonly string[];
  mode(): 'closed' | 'normal' | 'silent';
}

/** Longest command that is read, and how many are recorded of a unit that goes on and on. */
const commandCharacters = 64;
const recordedMost = 10_000;

const rates: Readonly<Record<string, BitRate>> = { S4: 125_000, S5: 250_000, S6: 500_000, S8: 1_000_000 };

/** As its source prints it (ElmueSoft, `Slcan/control.c`). */
const canable25Version = `${[
  '+Board: Multiboard',
  'MCU: STM32G431',
  'DevID: 1128',
  'Firmware: 2492419',
  'Slcan: 105',
  'Clock: 160',
  'Channels: 1',
  'Quartz: No',
  'Limits: 512,256,128,128,32,32,16,16',
  'HAL: 1.2.5',
  'Serial: 209F336F4E4D5018',
].join('\t')}\r`;

/** An adapter that has just been plugged in. */
export function createSlcanAdapter(options: SlcanAdapterOptions): SlcanAdapter {
  const { dialect, busRate = 250_000, canListen = true, send } = options;
  const commands: string[] = [];
  const transmissions: string[] = [];
  let pending = '';
  let mode: 'closed' | 'normal' | 'silent' = 'closed';
  let isSilentSet = false;
  let rate: BitRate | null = null;

  const canable = (command: string): string => {
    if (command === 'V') return '8ca5d39 git@github.com:normaldotcom/canable-fw.git\r';
    if (command === 'C') mode = 'closed';
    else if (command === 'O') mode = isSilentSet ? 'silent' : 'normal';
    else if (mode === 'closed' && command.startsWith('M')) isSilentSet = command === 'M1';
    else if (mode === 'closed' && command in rates) rate = rates[command] ?? null;
    return '';
  };
  const canable25 = (command: string): string => {
    if (command === 'V') return canable25Version;
    const isKnown = command === 'O' || /^M[01]$/.test(command) || command in rates;
    const answer = isKnown && mode === 'closed' && (command !== 'O' || rate !== null) ? '\r' : '\u0007';
    if (command !== 'C' && answer !== '\r') return answer;
    canable(command);
    if (command !== 'C') return answer;
    isSilentSet = false;
    return '';
  };
  const lawicel = (command: string): string => {
    const isOpen = mode !== 'closed';
    if (command === 'V') return 'V1013\r';
    if (command === 'v') return dialect === 'usbtin' ? 'v0107\r' : '\u0007';
    if (command === 'C') {
      mode = 'closed';
      return isOpen ? '\r' : '\u0007';
    }
    if (isOpen) return '\u0007';
    if (command in rates) {
      rate = rates[command] ?? null;
      return '\r';
    }
    if (rate === null || (command !== 'O' && command !== 'L') || (command === 'L' && !canListen))
      return '\u0007';
    mode = command === 'O' ? 'normal' : 'silent';
    return '\r';
  };
  const answers = { canable, canable25, usbtin: lawicel, lawicel } as const;
  return {
    receive(bytes) {
      const lines = `${pending}${String.fromCharCode(...bytes)}`.split('\r');
      pending = (lines.pop() ?? '').slice(0, commandCharacters);
      for (const command of lines) {
        if (commands.length < recordedMost) commands.push(command);
        if (/^[tTrR]/.test(command) && transmissions.length < recordedMost) transmissions.push(command);
        const answer = answers[dialect](command);
        if (answer !== '') send(answer);
      }
    },
    frame(one) {
      if (mode !== 'closed' && rate === busRate) send(slcanLine(one));
    },
    restart() {
      mode = 'closed';
      isSilentSet = false;
      rate = null;
      pending = '';
    },
    commands,
    transmissions,
    mode: () => mode,
  };
}
