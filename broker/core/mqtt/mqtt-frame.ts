// Finds the packets in a stream of bytes and validates each before anything else reads it: lengths, flags, packet ids, strings, as MQTT 3.1.1
// requires of a client. Pure and stateless. The library behind it only gets well-formed packets.
import { isText } from './mqtt-text.ts';

export const packetTypes = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
} as const;

/** Reason why a packet ends the connection; `returnCode` is sent in a CONNACK first (MQTT 3.1.1, table 3.1). */
export interface Fault {
  readonly reason: string;
  readonly returnCode: 1 | 2 | null;
}

/** Position of a packet in the bytes. */
export interface Frame {
  /** Type, 1 to 15, and the flags of the fixed header. */
  readonly type: number;
  readonly flags: number;
  /** First byte after the fixed header, and first byte after the packet, which may be beyond the received bytes. */
  readonly body: number;
  readonly end: number;
}

/** Maximum number of topic filters in one SUBSCRIBE or UNSUBSCRIBE. A device has a handful of topics. */
const filtersMost = 64;

const fault = (reason: string, returnCode: 1 | 2 | null = null): Fault => ({ reason, returnCode });

/**
 * Reads the fixed header at `start`.
 * @returns null when it is incomplete; a fault when its length has more than four bytes (MQTT 3.1.1, 2.2.3).
 */
export function readHeader(bytes: Uint8Array, start: number, stop: number): Frame | Fault | null {
  let length = 0;
  for (let index = 0; index < 4; index++) {
    const at = start + 1 + index;
    if (at >= stop) return null;
    const byte = bytes[at] ?? 0;
    length += (byte & 0x7f) * 128 ** index;
    if (byte < 0x80) {
      const first = bytes[start] ?? 0;
      return { type: first >> 4, flags: first & 0x0f, body: at + 1, end: at + 1 + length };
    }
  }
  return fault('remaining length of more than four bytes');
}

/** First bytes of other protocols, in hexadecimal, and the remedy. */
const otherProtocols: readonly (readonly [RegExp, string])[] = [
  [/^1603/, 'TLS on a listener without TLS: use its TLS port, or give it a certificate (mqtt.tls)'],
  [/^(50524f585920|0d0a0d0a000d0a)/, 'PROXY protocol, which is not spoken here: switch it off at the proxy'],
  // GET, POST, PUT, HEAD, OPTIONS
  [
    /^(47455420|504f535420|50555420|4845414420|4f5054494f4e5320)/,
    'HTTP on the port of MQTT: use the port of http, or of ws for WebSocket',
  ],
  [/^5353482d/, 'SSH on the port of MQTT'],
];

/** Reason to refuse a connection that does not begin with CONNECT (MQTT-3.1.0-1). */
export function judgeStart(bytes: Uint8Array): Fault | null {
  if (bytes[0] === packetTypes.connect << 4) return null;
  const text = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const [, reason] = otherProtocols.find(([pattern]) => pattern.test(text)) ?? [];
  if (reason !== undefined) return fault(reason);
  return (bytes[0] ?? 0) >> 4 === packetTypes.connect ? null : fault('CONNECT is not first');
}

/** Reads the body of one packet; every read checks that it stays inside. */
interface Cursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;
}

/** Two bytes as a number; -1: they are missing. */
function readNumber(cursor: Cursor): number {
  if (cursor.at + 2 > cursor.end) return -1;
  const value = (cursor.bytes[cursor.at] ?? 0) * 256 + (cursor.bytes[cursor.at + 1] ?? 0);
  cursor.at += 2;
  return value;
}

/** One byte; -1: it is missing. */
function readByte(cursor: Cursor): number {
  if (cursor.at >= cursor.end) return -1;
  const byte = cursor.bytes[cursor.at] ?? 0;
  cursor.at += 1;
  return byte;
}

/** Skips a field with a length prefix and returns its number of bytes; -1: it is incomplete. */
function readField(cursor: Cursor): number {
  const length = readNumber(cursor);
  if (length < 0 || cursor.at + length > cursor.end) return -1;
  cursor.at += length;
  return length;
}

/** Skips a string and returns its number of bytes; -1: it is incomplete or not text. */
function readText(cursor: Cursor): number {
  const length = readField(cursor);
  return length >= 0 && isText(cursor.bytes, cursor.at - length, cursor.at) ? length : -1;
}

const names = { MQTT: { name: 'MQTT', level: 4 }, MQIsdp: { name: 'MQIsdp', level: 3 } } as const;

/** Name and level of the protocol; null for any other name. */
function readProtocol(cursor: Cursor): (typeof names)[keyof typeof names] | null {
  const length = readField(cursor);
  if (length !== names.MQTT.name.length && length !== names.MQIsdp.name.length) return null;
  const { name, level } = length === names.MQTT.name.length ? names.MQTT : names.MQIsdp;
  const start = cursor.at - length;
  for (let index = 0; index < length; index++) {
    if (cursor.bytes[start + index] !== name.charCodeAt(index)) return null;
  }
  return names[level === 4 ? 'MQTT' : 'MQIsdp'];
}

function faultOfConnectFlags(flags: number): Fault | null {
  const willQos = (flags >> 3) & 3;
  if ((flags & 0x01) !== 0) return fault('reserved flag of CONNECT (MQTT-3.1.2-3)');
  if ((flags & 0x04) === 0 && (flags & 0x38) !== 0) return fault('will flags without a will (MQTT-3.1.2-11)');
  if (willQos === 3) return fault('will QoS 3 (MQTT-3.1.2-14)');
  if ((flags & 0xc0) === 0x40) return fault('password without user name (MQTT-3.1.2-22)');
  return null;
}

function judgeConnect(cursor: Cursor): Fault | null {
  const protocol = readProtocol(cursor);
  if (protocol === null) return fault('not the name of the protocol (MQTT-3.1.2-1)');
  const level = readByte(cursor);
  if (level < 0) return fault('CONNECT is too short');
  const remedy = level === 5 ? ': set the client to MQTT 3.1.1' : '';
  if (level !== protocol.level) return fault(`protocol level ${level} (MQTT-3.1.2-2)${remedy}`, 1);
  const flags = readByte(cursor);
  if (flags < 0 || readNumber(cursor) < 0) return fault('CONNECT is too short');
  const wrong = faultOfConnectFlags(flags);
  if (wrong !== null) return wrong;
  const clientId = readText(cursor);
  if (clientId < 0) return fault('client id (MQTT-3.1.3-4)');
  const hasWill = (flags & 0x04) !== 0;
  if (hasWill && readText(cursor) < 1) return fault('will topic (MQTT-3.1.3-10)');
  if (hasWill && readField(cursor) < 0) return fault('will message (MQTT-3.1.2-9)');
  if ((flags & 0x80) !== 0 && readText(cursor) < 0) return fault('user name (MQTT-3.1.3-11)');
  if ((flags & 0x40) !== 0 && readField(cursor) < 0) return fault('password (MQTT-3.1.2-21)');
  if (cursor.at !== cursor.end) return fault('CONNECT is too long');
  // MQTT 3.1 allows no empty client id.
  const isClean = (flags & 0x02) !== 0;
  if (clientId === 0 && (!isClean || level === 3)) return fault('empty client id (MQTT-3.1.3-8)', 2);
  return null;
}

function judgePublish(cursor: Cursor, flags: number): Fault | null {
  const qos = (flags >> 1) & 3;
  if (qos === 3) return fault('QoS 3 (MQTT-3.3.1-4)');
  if (qos === 0 && (flags & 0x08) !== 0) return fault('DUP with QoS 0 (MQTT-3.3.1-2)');
  const length = readText(cursor);
  if (length < 1) return fault('topic name (MQTT-3.3.2-1, MQTT-4.7.3-1)');
  for (let at = cursor.at - length; at < cursor.at; at++) {
    const byte = cursor.bytes[at];
    if (byte === 0x23 || byte === 0x2b) return fault('wildcard in a topic name (MQTT-3.3.2-2)');
  }
  return qos > 0 && readNumber(cursor) < 1 ? fault('packet id (MQTT-2.3.1-1)') : null;
}

/** True when `#` stands alone and last, and `+` alone in its level (MQTT-4.7.1-2, MQTT-4.7.1-3). */
function isFilter(bytes: Uint8Array, start: number, end: number): boolean {
  const isEdge = (at: number): boolean => at < start || at >= end || bytes[at] === 0x2f;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte !== 0x23 && byte !== 0x2b) continue;
    if (!isEdge(at - 1) || !isEdge(at + 1) || (byte === 0x23 && at !== end - 1)) return false;
  }
  return true;
}

/** Judges the filters of a SUBSCRIBE, each with its QoS, or of an UNSUBSCRIBE. */
function judgeFilters(cursor: Cursor, hasQos: boolean): Fault | null {
  if (readNumber(cursor) < 1) return fault('packet id (MQTT-2.3.1-1)');
  if (cursor.at === cursor.end) return fault('no topic filter (MQTT-3.8.3-3, MQTT-3.10.3-2)');
  for (let count = 1; cursor.at < cursor.end; count++) {
    if (count > filtersMost) return fault(`more than ${filtersMost} topic filters`);
    const length = readText(cursor);
    if (length < 1 || !isFilter(cursor.bytes, cursor.at - length, cursor.at))
      return fault('topic filter (MQTT-4.7.3-1, MQTT-4.7.1-2)');
    if (!hasQos) continue;
    const qos = readByte(cursor);
    if (qos < 0 || qos > 2) return fault('QoS of a subscription (MQTT-3-8.3-4)');
  }
  return null;
}

/** PUBACK, PUBREC, PUBREL and PUBCOMP are a packet id and nothing else. */
function judgeId(cursor: Cursor): Fault | null {
  return readNumber(cursor) < 1 || cursor.at !== cursor.end ? fault('packet id (MQTT-2.3.1-1)') : null;
}

/** Types with flags 0010; all others except PUBLISH have flags 0 (MQTT 3.1.1, table 2.2). */
const flaggedTypes: readonly number[] = [packetTypes.pubrel, packetTypes.subscribe, packetTypes.unsubscribe];
const typesOfClients: readonly number[] = Object.values(packetTypes);

/** Judges a packet by its first byte, while the rest is missing; null: no fault. */
export function judgeFirstByte(byte: number): Fault | null {
  const [type, flags] = [byte >> 4, byte & 0x0f];
  if (!typesOfClients.includes(type)) return fault('a packet that no client sends');
  if (type === packetTypes.publish) return (flags & 6) === 6 ? fault('QoS 3 (MQTT-3.3.1-4)') : null;
  return flags === (flaggedTypes.includes(type) ? 2 : 0) ? null : fault('reserved flags (MQTT-2.2.2-2)');
}

/**
 * Judges a complete packet of a client; null: no fault.
 * @param frame from `readHeader`; all its bytes must be there.
 */
export function judgePacket(bytes: Uint8Array, frame: Frame): Fault | null {
  const { type, flags, body, end } = frame;
  const cursor: Cursor = { bytes, at: body, end };
  if (type === packetTypes.publish) return judgePublish(cursor, flags);
  if (flags !== (flaggedTypes.includes(type) ? 2 : 0)) return fault('reserved flags (MQTT-2.2.2-2)');
  switch (type) {
    case packetTypes.connect:
      return judgeConnect(cursor);
    case packetTypes.puback:
    case packetTypes.pubrec:
    case packetTypes.pubrel:
    case packetTypes.pubcomp:
      return judgeId(cursor);
    case packetTypes.subscribe:
      return judgeFilters(cursor, true);
    case packetTypes.unsubscribe:
      return judgeFilters(cursor, false);
    case packetTypes.pingreq:
    case packetTypes.disconnect:
      return body === end ? null : fault('a packet without a body has one');
    default:
      return fault('a packet that no client sends');
  }
}
