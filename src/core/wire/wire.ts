// Encodes and decodes the messages of wire protocol version 1. Events are protobuf or JSON, distinguished by the first byte; everything else is JSON.
// Decoders never throw; signatures are checked before.

import { eventLimits, type FeatureName, type FeatureState, featureNames } from '../events/event.ts';
import { decodeJson } from '../events/event-json.ts';
import { decodeProtobuf } from '../events/event-protobuf.ts';
import { isShortBoot } from '../events/event-protobuf-fields.ts';
import type { Decoded } from '../events/rejected-events.ts';
import { type WitnessStates, witnessesFrom } from '../verdict/witness.ts';
import { type Assertion, assertionsMost, decodeAssertion } from './assertion.ts';
import type { ConfigPart } from './config-message.ts';
import type { RequestBody } from './device-request.ts';
import { shortEventsTopic } from './topics.ts';
import { isCount, isIdText, isText, type JsonObject, parseObject } from './wire-checks.ts';

const protobufFirstByte = 0x08;

/** Events of a payload in either form. */
export function decodeEvents(payload: Uint8Array): Decoded {
  if (payload.length === 0) return { ok: false, reason: 'empty payload' };
  if (payload.length > eventLimits.payloadBytes) {
    return {
      ok: false,
      reason: `${payload.length} bytes: send at most ${eventLimits.payloadBytes} in a payload`,
    };
  }
  return payload[0] === protobufFirstByte ? decodeProtobuf(payload) : decodeJson(payload);
}

/**
 * True for a boot that its sender made at random at its start, as agents do: no number is then ever used twice. A text boot may be a constant of the
 * tracker's manufacturer.
 */
export const isRandomBoot = (payload: Uint8Array, boot: string): boolean =>
  payload[0] === protobufFirstByte && isShortBoot(boot);

/** Sent by the device on every connect: identity, versions and state. */
export interface Hello {
  readonly boot: string;
  /** Random per connect; `welcome` returns it, so that an old welcome cannot be replayed. */
  readonly nonce: string;
  readonly agentVersion: string;
  readonly features: readonly FeatureName[];
  readonly sensors: readonly string[];
  /** State of each witness of standstill; absent from units that keep none. */
  readonly witnesses?: WitnessStates;
  /** Version of the active configuration, possibly on trial; 0: the installer's file only. */
  readonly configVersion: number;
  /** SHA-256 of its content; absent with version 0. */
  readonly configSha256?: string;
  /** Counter of the last accepted command envelope. */
  readonly commandCounter: number;
  readonly timeQuality: string;
  /** Absent: the unit pins no owner's key. */
  readonly owner?: HelloOwner;
}

/** The owner's key that a unit pins, and the versions of its document; 0: it has accepted none. */
interface HelloOwner {
  readonly pin: string;
  readonly set: number;
  readonly list: number;
}

/** Signed answer to `hello`. */
export interface Welcome {
  readonly accountID: string;
  readonly deviceID: string;
  readonly boot: string;
  readonly nonce: string;
  readonly serverTimeMs: number;
  /** Every event of this boot up to this number is committed. */
  readonly upTo: number;
  readonly configVersion: number;
  /** Topic for events on this connection instead of the long one; absent: the server takes no other. Older units ignore it. */
  readonly eventsTopic?: typeof shortEventsTopic;
}

/**
 * Committed events of one boot. `ranges` is exact, and the agent deletes by it; `upTo` is a lower bound of the contiguous prefix, for simple
 * trackers. Exact ranges are needed because urgent events overtake the backlog. With several bridges, different processes may also commit two batches
 * of one vehicle in any order.
 */
export interface Ack {
  readonly boot: string;
  readonly upTo: number;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

/** The signed body of a command. Times are UTC ms of the broker's clock. */
export interface CommandBody {
  readonly accountID: string;
  readonly deviceID: string;
  readonly commandID: string;
  /** The only boot in which this envelope may be accepted. */
  readonly boot: string;
  /** Strictly increasing per device. */
  readonly counter: number;
  readonly issuedMs: number;
  readonly expiresMs: number;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** `interlock`: only when safe, by the default rules. Other modes come with new versions. */
  readonly mode: 'interlock';
  readonly reason: string;
  readonly issuer: string;
  /** True withdraws the command with this id if it has not been executed. */
  readonly cancel: boolean;
  /** Of persons who agree to this order; absent: none. */
  readonly assertions?: readonly Assertion[];
}

/** The owner's document on its way to a unit, which believes the owner's signatures in it, not the broker's. */
export interface OwnerBody {
  readonly accountID: string;
  readonly deviceID: string;
  readonly boot: string;
  readonly document: unknown;
}

/** The release for a unit to install. The broker does not fetch it. */
export interface FirmwareContent {
  readonly version: string;
  readonly url: string;
  /** SHA-256 of the file, 64 hexadecimal digits. */
  readonly sha256: string;
}

/** The signed body of a firmware job, on the topic of the commands. */
export interface FirmwareBody extends FirmwareContent {
  readonly accountID: string;
  readonly deviceID: string;
  readonly commandID: string;
  readonly boot: string;
  readonly issuedMs: number;
  readonly expiresMs: number;
  readonly issuer: string;
  readonly cancel: boolean;
}

/** The signed body of a message to the driver, on the topic of the commands. */
export interface MessageBody {
  readonly accountID: string;
  readonly deviceID: string;
  readonly messageID: string;
  readonly boot: string;
  readonly sentMs: number;
  readonly expiresMs: number;
  readonly from: string;
  readonly text: string;
}

export const signedTypes = {
  welcome: 'fleetward-welcome-1',
  command: 'fleetward-command-1',
  firmware: 'fleetward-firmware-1',
  message: 'fleetward-message-1',
  config: 'fleetward-config-1',
  request: 'fleetward-request-1',
  owner: 'fleetward-owner-1',
} as const;

/** Maximum length of a message to a vehicle, in characters. */
export const messageTextMost = 500;

const sha256Pattern = /^[0-9a-f]{64}$/;

/** JSON bytes of a message that has no other encoding. */
export function encodeJsonMessage(
  message:
    | Hello
    | Welcome
    | Ack
    | CommandBody
    | FirmwareBody
    | MessageBody
    | ConfigPart
    | RequestBody
    | OwnerBody,
): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message));
}

function textList(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > 64) return null;
  return value.every((item): item is string => isText(item, 64)) ? value : null;
}

const pinPattern = /^[A-Za-z0-9_-]{43}$/;

function helloOwner(value: unknown): Pick<Hello, 'owner'> {
  if (typeof value !== 'object' || value === null) return {};
  const { pin, set, list } = value as Readonly<Record<string, unknown>>;
  if (!isText(pin, 43) || !pinPattern.test(pin) || !isCount(set) || !isCount(list)) return {};
  return { owner: { pin, set, list } };
}

/** Null: the payload is not a hello. */
export function decodeHello(payload: Uint8Array): Hello | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { boot, nonce, agentVersion, configVersion, commandCounter, timeQuality } = value;
  const features = textList(value['features']);
  const sensors = textList(value['sensors']);
  if (!isIdText(boot) || !isIdText(nonce) || !isText(agentVersion, 64) || !isText(timeQuality, 16))
    return null;
  if (!isCount(configVersion) || !isCount(commandCounter) || features === null || sensors === null)
    return null;
  const known = featureNames.filter((name) => features.includes(name));
  const { configSha256 } = value;
  const config = isText(configSha256, 64) && sha256Pattern.test(configSha256) ? { configSha256 } : {};
  const witnesses = witnessesFrom(value['witnesses']);
  return {
    boot,
    nonce,
    agentVersion,
    features: known,
    sensors,
    ...(witnesses === null ? {} : { witnesses }),
    configVersion,
    ...config,
    commandCounter,
    timeQuality,
    ...helloOwner(value['owner']),
  };
}

/** Null: the (verified) payload is not a welcome. */
export function decodeWelcome(payload: Uint8Array): Welcome | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { accountID, deviceID, boot, nonce, serverTimeMs, upTo, configVersion } = value;
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(boot) || !isIdText(nonce)) return null;
  if (!isCount(serverTimeMs) || !isCount(upTo) || !isCount(configVersion)) return null;
  const offer = value['eventsTopic'] === shortEventsTopic ? ({ eventsTopic: shortEventsTopic } as const) : {};
  return { accountID, deviceID, boot, nonce, serverTimeMs, upTo, configVersion, ...offer };
}

/** Null: the payload is not an acknowledgement. */
export function decodeAck(payload: Uint8Array): Ack | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { boot, upTo, ranges } = value;
  if (!isIdText(boot) || !isCount(upTo) || !Array.isArray(ranges) || ranges.length > eventLimits.events)
    return null;
  const pairs: [number, number][] = [];
  for (const range of ranges as readonly unknown[]) {
    if (!Array.isArray(range) || range.length !== 2) return null;
    const [from, to] = range as readonly unknown[];
    if (!isCount(from) || !isCount(to) || from > to) return null;
    pairs.push([from, to]);
  }
  return { boot, upTo, ranges: pairs };
}

/** Assertions that are no assertions are left out: they must not keep a restore from being carried out. */
function assertionsIn(value: unknown): Pick<CommandBody, 'assertions'> {
  if (!Array.isArray(value) || value.length > assertionsMost) return {};
  const assertions = value.map(decodeAssertion).filter((one) => one !== null);
  return assertions.length === 0 ? {} : { assertions };
}

/** Null: the (verified) payload is not a command. */
export function decodeCommand(payload: Uint8Array): CommandBody | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { accountID, deviceID, commandID, boot, counter, issuedMs, expiresMs, state, mode, reason, issuer } =
    value;
  const feature = featureNames.find((name) => name === value['feature']);
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(commandID) || !isIdText(boot)) return null;
  if (!isCount(counter) || !isCount(issuedMs) || !isCount(expiresMs) || expiresMs < issuedMs) return null;
  if (feature === undefined || (state !== '0' && state !== '1') || mode !== 'interlock') return null;
  if (!isText(reason, 500) || !isText(issuer, 200) || typeof value['cancel'] !== 'boolean') return null;
  const cancel = value['cancel'];
  return {
    accountID,
    deviceID,
    commandID,
    boot,
    counter,
    issuedMs,
    expiresMs,
    feature,
    state,
    mode,
    reason,
    issuer,
    cancel,
    ...assertionsIn(value['assertions']),
  };
}

/** Null: the (verified) payload carries no document. The document itself is not checked here. */
export function decodeOwnerMessage(payload: Uint8Array): OwnerBody | null {
  const { accountID, deviceID, boot, document } = parseObject(payload) ?? {};
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(boot)) return null;
  return { accountID, deviceID, boot, document };
}

function firmwareContent({ version, url, sha256 }: JsonObject): FirmwareContent | null {
  if (!isText(version, 64) || !isText(url, 1000) || !isText(sha256, 64)) return null;
  return sha256Pattern.test(sha256) ? { version, url, sha256 } : null;
}

/** Null: the bytes are not the content of a firmware job. */
export function decodeFirmwareContent(bytes: Uint8Array): FirmwareContent | null {
  const value = parseObject(bytes);
  return value === null ? null : firmwareContent(value);
}

/** Null: the (verified) payload is not a firmware job. */
export function decodeFirmware(payload: Uint8Array): FirmwareBody | null {
  const value = parseObject(payload);
  const content = value === null ? null : firmwareContent(value);
  if (value === null || content === null) return null;
  const { accountID, deviceID, commandID, boot, issuedMs, expiresMs, issuer, cancel } = value;
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(commandID) || !isIdText(boot)) return null;
  if (!isCount(issuedMs) || !isCount(expiresMs) || expiresMs < issuedMs) return null;
  if (!isText(issuer, 200) || typeof cancel !== 'boolean') return null;
  return { accountID, deviceID, commandID, boot, issuedMs, expiresMs, ...content, issuer, cancel };
}

/** Null: the (verified) payload is not a message. */
export function decodeMessage(payload: Uint8Array): MessageBody | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { accountID, deviceID, messageID, boot, sentMs, expiresMs, from, text } = value;
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(messageID) || !isIdText(boot)) return null;
  if (!isCount(sentMs) || !isCount(expiresMs) || expiresMs < sentMs) return null;
  if (!isText(from, 64) || !isText(text, messageTextMost) || text === '') return null;
  return { accountID, deviceID, messageID, boot, sentMs, expiresMs, from, text };
}

/** Ascending, disjoint ranges of the given sequence numbers. */
export function toRanges(seqs: readonly number[]): [number, number][] {
  const [only] = seqs;
  if (seqs.length === 1 && only !== undefined) return [[only, only]];
  const ranges: [number, number][] = [];
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && seq <= last[1] + 1) last[1] = Math.max(last[1], seq);
    else ranges.push([seq, seq]);
  }
  return ranges;
}
