// Reads a PUBLISH (MQTT 3.1.1, 3.3) without decoding its topic: nearly all vehicle messages use three known topics of their
// own. Pure. Requires packets that `judgePacket` accepted.
import {
  type DeviceAddress,
  topicRoot,
  type UplinkVerb,
  uplinkVerbs,
} from '../../../src/core/wire/topics.ts';

/** Where the parts of a PUBLISH lie in its bytes. */
export interface PublishHeader {
  readonly qos: number;
  readonly isRetained: boolean;
  /** 1 to 65535; 0: there is none, as with QoS 0. */
  readonly packetId: number;
  /** First byte of the topic, and first byte after it. */
  readonly topic: number;
  readonly topicEnd: number;
  /** First byte of the payload, which goes on to the end of the packet. */
  readonly payload: number;
}

/** @param bytes one whole PUBLISH, judged before. */
export function readPublish(bytes: Uint8Array): PublishHeader {
  const first = bytes[0] ?? 0;
  const qos = (first >> 1) & 3;
  // The remaining length is one to four bytes, of which all but the last have their highest bit set (2.2.3).
  let at = 1;
  while ((bytes[at] ?? 0) > 0x7f) at += 1;
  const topic = at + 3;
  const topicEnd = topic + (((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0));
  const hasId = qos > 0;
  return {
    qos,
    isRetained: (first & 1) === 1,
    packetId: hasId ? ((bytes[topicEnd] ?? 0) << 8) | (bytes[topicEnd + 1] ?? 0) : 0,
    topic,
    topicEnd,
    payload: hasId ? topicEnd + 2 : topicEnd,
  };
}

/** The place after `text` (ASCII) when it stands at `at`; -1 when it does not. */
function passText(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return -1;
  }
  return at + text.length;
}

const slash = 0x2f;

/**
 * The verb when these bytes are, to the letter, an uplink topic of this device; else null.
 * @param device its ids are ASCII, as `isId` wants them.
 */
export function uplinkVerbAt(
  bytes: Uint8Array,
  { topic, topicEnd }: Pick<PublishHeader, 'topic' | 'topicEnd'>,
  { accountID, deviceID }: DeviceAddress,
): UplinkVerb | null {
  const afterRoot = passText(bytes, topic, topicRoot);
  if (afterRoot < 0 || bytes[afterRoot] !== slash) return null;
  const afterAccount = passText(bytes, afterRoot + 1, accountID);
  if (afterAccount < 0 || bytes[afterAccount] !== slash) return null;
  const afterDevice = passText(bytes, afterAccount + 1, deviceID);
  if (afterDevice < 0 || bytes[afterDevice] !== slash) return null;
  for (const verb of uplinkVerbs) {
    if (passText(bytes, afterDevice + 1, verb) === topicEnd) return verb;
  }
  return null;
}

/** Bytes of one PUBACK. */
const pubackBytes = 4;

/** The PUBACKs (3.4) of these packet ids, one after the other. */
export function encodePubacks(packetIds: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(packetIds.length * pubackBytes);
  let at = 0;
  for (const packetId of packetIds) {
    bytes[at] = 0x40;
    bytes[at + 1] = 2;
    bytes[at + 2] = packetId >> 8;
    bytes[at + 3] = packetId & 0xff;
    at += pubackBytes;
  }
  return bytes;
}
