// Permissions over MQTT: every decision compares whole strings with the authenticated device's names. There are no patterns to escape from. The
// default is to deny.
import {
  type DeviceAddress,
  parseDeviceUser,
  parseDownlink,
  parseUplink,
  shortEventsTopic,
  type UplinkVerb,
} from '../../../src/core/wire/topics.ts';
import type { CertificateFacts } from '../accounts/client-certificate.ts';

/** The return codes of CONNACK (MQTT 3.1.1 table 3.1) in use. */
export const connackCodes = {
  badIdentifier: 2,
  unavailable: 3,
  badCredentials: 4,
  notAuthorized: 5,
} as const;
export type ConnackCode = (typeof connackCodes)[keyof typeof connackCodes];

export interface ConnectFacts {
  readonly clientId: string;
  readonly username: string | null;
  readonly hasPassword: boolean;
  /** 0: the client announces no keep-alive. */
  readonly keepaliveS: number;
  readonly will: PublishFacts | null;
  /** Verified certificate of the client; null or absent: none. */
  readonly certificate?: Pick<CertificateFacts, 'commonName'> | null;
  /** True if such a certificate may replace the secret. */
  readonly certificateSuffices?: boolean;
}

export interface PublishFacts {
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  /** Undefined for QoS 0 and for wills. */
  readonly messageId: number | undefined;
}

export type ConnectVerdict =
  | { readonly ok: true; readonly device: DeviceAddress }
  | {
      readonly ok: false;
      readonly code: ConnackCode;
      readonly reason: string;
      /** Device of the connection, if its secret is right: only a limit is broken, which its users should learn of. */
      readonly device?: DeviceAddress;
    };

/** Longest accepted keep-alive, in seconds; an agent may be set to 1740. Without a limit a dead connection would count as online for ever. */
const keepaliveMostS = 1800;

const refuse = (code: ConnackCode, reason: string) => ({ ok: false, code, reason }) as const;

/** Judges a CONNECT before any secret is checked. */
export function judgeConnect(facts: ConnectFacts): ConnectVerdict {
  const device = facts.username === null ? null : parseDeviceUser(facts.username);
  if (device === null) return refuse(connackCodes.badCredentials, 'user name is not {accountID}/{deviceID}');
  const { certificate = null, certificateSuffices = false } = facts;
  if (certificate !== null && certificate.commonName !== facts.username)
    return refuse(connackCodes.notAuthorized, 'user name is not the common name of the certificate');
  if (!facts.hasPassword && (certificate === null || !certificateSuffices))
    return refuse(connackCodes.badCredentials, 'no password');
  // Also refuses the empty id, with clean session 0 (MQTT-3.1.3-8) as with 1: a free id could disconnect other devices.
  if (facts.clientId !== facts.username)
    return refuse(connackCodes.badIdentifier, 'client id is not the user name');
  if (facts.keepaliveS < 1 || facts.keepaliveS > keepaliveMostS) {
    const reason = `keep alive of ${facts.keepaliveS} s: set one of 1 to ${keepaliveMostS} s in the device`;
    return { ...refuse(connackCodes.notAuthorized, reason), device };
  }
  if (facts.will === null) return { ok: true, device };
  const verdict = judgePublish(device, facts.will);
  const fault = verdict.ok
    ? verdict.verb === 'presence'
      ? null
      : 'only on the topic presence'
    : verdict.reason;
  if (fault !== null) return { ...refuse(connackCodes.notAuthorized, `will: ${fault}`), device };
  return { ok: true, device };
}

export type PublishVerdict =
  | { readonly ok: true; readonly verb: UplinkVerb }
  | { readonly ok: false; readonly reason: string };

/** Judges a PUBLISH or a will of an authenticated device. The short topic is the device's own, whatever it was offered: the login names the device. */
export function judgePublish(device: DeviceAddress, facts: PublishFacts): PublishVerdict {
  const verb = facts.topic === shortEventsTopic ? 'events' : parseUplink(facts.topic, device);
  if (verb === null) return { ok: false, reason: 'topic is not one of this device' };
  if (facts.qos !== 0 && facts.qos !== 1)
    return { ok: false, reason: 'QoS 2 is not supported: publish with QoS 1 or 0' };
  if (facts.retain)
    return { ok: false, reason: 'retained messages are not supported: publish without the retain flag' };
  // MQTT-2.3.1-1: a packet id of 0 is a protocol violation.
  if (facts.messageId === 0) return { ok: false, reason: 'packet id 0' };
  return { ok: true, verb };
}

/** True when the device may subscribe to `filter` or receive on it: exactly one of its downlink topics. */
export function mayReceive(device: DeviceAddress, filter: string): boolean {
  return parseDownlink(filter, device) !== null;
}
