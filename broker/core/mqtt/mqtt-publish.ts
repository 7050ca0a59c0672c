// Reads a PUBLISH (MQTT 3.1.1, 3.3) without decoding its topic: nearly all messages of a vehicle use its three known topics or the short one. Pure. Requires packets
// that `judgePacket` accepted.
import {
  type DeviceAddress,
  shortEventsTopic,
  topicRoot,
  type UplinkVerb,
  uplinkVerbs,
} from '../../../src/core/wire/topics.ts';

/** Positions of the parts of a PUBLISH in its bytes. */
export interface PublishHeader {
  readonly qos: number;
  readonly isRetained: boolean;
  /** 1 to 65535; 0: none, as with QoS 0. */
  readonly packetId: number;
  /** First byte of the topic, and first byte after it. */
  readonly topic: number;
  readonly topicEnd: number;
  /** First byte of the payload, which ends with the packet. */
  readonly payload: number;
}

/** @param bytes one complete PUBLISH that was judged before. */
export function readPublish(bytes: Uint8Array): PublishHeader {
  const first = bytes[0] ?? 0;
  const qos = (first >> 1) & 3;
  // The remaining length is one to four bytes; all but the last have their highest bit set (2.2.3).
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

/** Position after `text` (ASCII) if it is at `at`; otherwise -1. */
function passText(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return -1;
  }
  return at + text.length;
}

const slash = 0x2f;

/**
 * The verb if these bytes are exactly an uplink topic of this device, or the short topic of its events; otherwise null.
 * @param device its ids are ASCII, as `isId` demands.
 */
export function uplinkVerbAt(
  bytes: Uint8Array,
  { topic, topicEnd }: Pick<PublishHeader, 'topic' | 'topicEnd'>,
  { accountID, deviceID }: DeviceAddress,
): UplinkVerb | null {
  if (passText(bytes, topic, shortEventsTopic) === topicEnd) return 'events';
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

/** Size of one PUBACK, bytes. */
const pubackBytes = 4;

/** The PUBACKs (3.4) of these packet ids, in sequence. */
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
