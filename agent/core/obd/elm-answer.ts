// Reads an answer of an ELM327: its words, and with headers on the messages of each control unit, ISO-TP put together (ISO 15765-2). A message
// with a gap, a wrong length or an error mark is left out.
// Words: ELM327 data sheet, "Error Messages and Alerts".
import { type ElmAnswer } from './elm-lines.ts';
import { hasLongIds, isCan, type ObdCommand, type Protocol } from './obd-commands.ts';

/** `unknown`: the adapter does not know the command. */
export type ElmWord =
  | 'ok'
  | 'unknown'
  | 'no_data'
  | 'unable'
  | 'stopped'
  /** The supply dipped: it has forgotten its settings. */
  | 'reset'
  /** Its name, as after a start. */
  | 'version'
  | 'alert'
  | 'bus_error'
  | 'data_error';

export interface EcuMessage {
  /** Address of the control unit: the last byte of its identifier, or the third of its header. */
  readonly source: number;
  readonly data: Uint8Array;
}

export interface ElmReading {
  readonly words: readonly ElmWord[];
  /** Lines that are neither a word nor a message, such as a version. */
  readonly texts: readonly string[];
  readonly messages: readonly EcuMessage[];
  /** Messages that were not complete. */
  readonly dropped: number;
}

/** Longest message that is put together: eight times what a VIN needs. */
export const messageBytesMost = 256;
const sourcesMost = 16;

const words: readonly (readonly [RegExp, ElmWord])[] = [
  [/^OK$/, 'ok'],
  [/^\?$/, 'unknown'],
  [/^NO DATA$/, 'no_data'],
  [/^UNABLE TO CONNECT$/, 'unable'],
  [/^STOPPED$/, 'stopped'],
  [/^LV RESET$/, 'reset'],
  [/^ELM32\d.* v\d/i, 'version'],
  [/^(ACT ALERT|LP ALERT|!ACT ALERT|!LP ALERT)$/, 'alert'],
  [/^(CAN ERROR|BUS ERROR|BUS BUSY|FB ERROR|BUFFER FULL|OUT OF MEMORY|ERR\d\d)$/, 'bus_error'],
  [/^BUS INIT: ?\.*ERROR$/, 'bus_error'],
  [/(<? ?DATA ERROR|<RX ERROR)$/, 'data_error'],
];

/** What comes before an answer, on its own line or on the same. */
const notices = [/^SEARCHING\.*/, /^BUS INIT: ?\.*OK/] as const;

const hex = /^(?:[0-9A-F]{2})+$/;

function bytesFrom(text: string): Uint8Array | null {
  if (!hex.test(text)) return null;
  return Uint8Array.from({ length: text.length / 2 }, (_, n) =>
    Number.parseInt(text.slice(2 * n, 2 * n + 2), 16),
  );
}

interface Frame {
  readonly source: number;
  readonly data: Uint8Array;
}

/** One line as a frame of a control unit; null: it is none. */
function frameOf(line: string, protocol: Protocol): Frame | null {
  const text = line.replaceAll(' ', '').toUpperCase();
  if (!isCan(protocol)) {
    // Header of three bytes (format, target, source), data, checksum.
    const bytes = bytesFrom(text);
    if (bytes === null || bytes.length < 5 || bytes.length > 12) return null;
    return { source: bytes[2] ?? 0, data: bytes.subarray(3, -1) };
  }
  // Control units answer from 7E8 to 7EF, or from 18DAF1xx (ISO 15765-4).
  const head = (hasLongIds(protocol) ? /^18DAF1(..)/ : /^7(E[89A-F])/).exec(text);
  const data = bytesFrom(text.slice(hasLongIds(protocol) ? 8 : 3));
  if (head === null || data === null || data.length > 8) return null;
  return { source: Number.parseInt(head[1] ?? '', 16), data };
}

interface Assembly {
  readonly length: number;
  readonly bytes: number[];
  next: number;
}

/** Puts the frames of CAN together. */
function assemble(frames: readonly Frame[]): Pick<ElmReading, 'messages' | 'dropped'> {
  const open = new Map<number, Assembly>();
  const messages: EcuMessage[] = [];
  let dropped = 0;
  for (const { source, data } of frames) {
    const [control = 0, low = 0] = data;
    const kind = control >>> 4;
    if (kind === 2) {
      const begun = open.get(source);
      if (begun === undefined) {
        dropped += 1;
        continue;
      }
      if (begun.next !== (control & 0x0f)) {
        open.delete(source);
        dropped += 1;
        continue;
      }
      begun.next = (begun.next + 1) & 0x0f;
      begun.bytes.push(...data.subarray(1));
      if (begun.bytes.length < begun.length) continue;
      messages.push({ source, data: Uint8Array.from(begun.bytes.slice(0, begun.length)) });
      open.delete(source);
      continue;
    }
    if (open.delete(source)) dropped += 1;
    if (kind === 1) {
      const length = ((control & 0x0f) << 8) | low;
      if (length < 8 || length > messageBytesMost || data.length < 8 || open.size >= sourcesMost)
        dropped += 1;
      else open.set(source, { length, bytes: [...data.subarray(2)], next: 1 });
      continue;
    }
    // A single frame; control frames of the adapter's own side are of no interest.
    if (kind !== 0) continue;
    if (control === 0 || control > 7 || data.length < control + 1) dropped += 1;
    else messages.push({ source, data: data.slice(1, control + 1) });
  }
  return { messages, dropped: dropped + open.size };
}

const wordOf = (line: string): ElmWord | undefined => words.find(([pattern]) => pattern.test(line))?.[1];

/**
 * What an answer says.
 * @param protocol null while none is fixed: then no line is a message.
 */
export function readElm(
  answer: ElmAnswer,
  { command, protocol }: { readonly command: ObdCommand; readonly protocol: Protocol | null },
): ElmReading {
  const found: ElmWord[] = [];
  const texts: string[] = [];
  const frames: Frame[] = [];
  let rejected = answer.isCut ? 1 : 0;
  answer.lines.forEach((given, at) => {
    // The echo of a command, before it is off.
    const echoed = at === 0 && given.startsWith(command) ? given.slice(command.length) : given;
    const line = notices.reduce((text, notice) => text.replace(notice, '').trim(), echoed);
    if (line === '') return;
    const word = wordOf(line);
    if (word !== undefined) {
      found.push(word);
      if (word === 'data_error') rejected += 1;
      if (word === 'version') texts.push(line);
      return;
    }
    const frame = protocol === null ? null : frameOf(line, protocol);
    if (frame === null) texts.push(line);
    else frames.push(frame);
  });
  const can = protocol !== null && isCan(protocol);
  const { messages, dropped } = can ? assemble(frames) : { messages: frames, dropped: 0 };
  return { words: found, texts, messages, dropped: dropped + rejected };
}
