// Satellites and antenna state of a receiver: GSV and TXT of NMEA 0183. They make no position; they only explain why there is none. A satellite
// without a signal must never count as received.
import { type FieldReader, hasField, nextField, readInteger, readNumber, skipFields } from './nmea-fields.ts';

/** One GSV sentence: at most four satellites. */
interface Gsv {
  readonly type: 'GSV';
  readonly talker: string;
  /** Number of this sentence within its cycle, from 1. */
  readonly message: number;
  /** Number of satellites received, and of those with at least `strongDbHz`. */
  readonly tracked: number;
  readonly strong: number;
}

/** Antenna state in the notation of u-blox (`ANTSTATUS=OPEN`), or of CASIC and Quectel (`ANTENNA OPEN`). */
interface AntennaText {
  readonly type: 'TXT';
  readonly antenna: 'ok' | 'open' | 'short';
}

export type SkySentence = Gsv | AntennaText;

/** A signal that no receiver loses by chance. */
const strongDbHz = 30;
const satellitesMost = 4;

/** Reads the fields at `reader`; null: neither satellites nor antenna state. */
export function decodeSky(reader: FieldReader, talker: string, at: number): SkySentence | null {
  const { bytes } = reader;
  const formatter = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  if (formatter === 0x475356) return decodeGsv(reader, talker);
  return formatter === 0x545854 ? decodeText(reader) : null;
}

function decodeGsv(reader: FieldReader, talker: string): Gsv | null {
  skipFields(reader, 1); // sentences in this cycle
  const message = readInteger(reader, 1, 99);
  skipFields(reader, 1); // satellites in view, by the almanac
  let tracked = 0;
  let strong = 0;
  for (let satellite = 0; satellite < satellitesMost && hasField(reader); satellite += 1) {
    skipFields(reader, 1); // its number
    // A single trailing field is the signal id of NMEA 4.10.
    if (!hasField(reader)) break;
    skipFields(reader, 2); // elevation, azimuth
    const snrDbHz = readNumber(reader, 0, 99); // some send decimals
    if (snrDbHz !== null && snrDbHz > 0) tracked += 1;
    if (snrDbHz !== null && snrDbHz >= strongDbHz) strong += 1;
  }
  return message === null ? null : { type: 'GSV', talker, message, tracked, strong };
}

const antennaPattern = /^(?:ANTSTATUS=|ANTENNA )(OK|OPEN|SHORT)\s*$/;

function decodeText(reader: FieldReader): AntennaText | null {
  skipFields(reader, 3); // sentences, number, kind
  if (!nextField(reader)) return null;
  let text = '';
  for (let at = reader.from; at < reader.to && text.length < 24; at += 1)
    text += String.fromCharCode(reader.bytes[at] ?? 0);
  const state = antennaPattern.exec(text)?.[1];
  if (state === undefined) return null;
  return { type: 'TXT', antenna: state === 'OK' ? 'ok' : state === 'OPEN' ? 'open' : 'short' };
}
