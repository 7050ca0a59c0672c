// Transfer of a vehicle's configuration: one text, deflated, split into parts that are signed one by one. The parts of one configuration may arrive
// in any order and more than once. Pure: the caller inflates and hashes.
import { isCount, isIdText, isText, parseObject } from './wire-checks.ts';

export const configLimits = {
  parts: 64,
  /** Base64 characters of one part: signed and framed it stays below the 16 KiB that a verifier accepts. A multiple of 4. */
  dataCharacters: 11_648,
  /** Bytes of the inflated whole. */
  wholeBytes: 2 * 1024 * 1024,
  /** A larger version is a fault of the sender. */
  versionMost: 2 ** 48,
} as const;

/** Bytes of the deflated whole. */
export const packedBytesMost = (configLimits.parts * configLimits.dataCharacters * 3) / 4;

/** The signed body of one part. */
export interface ConfigPart {
  readonly accountID: string;
  readonly deviceID: string;
  /** The only boot in which this part may be accepted: an old configuration cannot be replayed to a later one. */
  readonly boot: string;
  /** Grows with every change of the content, from 1. */
  readonly version: number;
  /** SHA-256 of the inflated whole: 64 hexadecimal digits. */
  readonly sha256: string;
  /** 1 to `parts`. */
  readonly part: number;
  readonly parts: number;
  /** A slice of the base64 of the deflated whole. */
  readonly data: string;
}

const sha256Pattern = /^[0-9a-f]{64}$/;
/** Slices are cut at multiples of four characters, so each is valid base64. */
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Null: the (verified) payload is not a part of a configuration. */
export function decodeConfigPart(payload: Uint8Array): ConfigPart | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { accountID, deviceID, boot, version, sha256, part, parts, data } = value;
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(boot)) return null;
  if (!isCount(version) || version === 0 || version > configLimits.versionMost) return null;
  if (!isText(sha256, 64) || !sha256Pattern.test(sha256)) return null;
  if (!isCount(part) || !isCount(parts) || part < 1 || part > parts || parts > configLimits.parts)
    return null;
  if (!isText(data, configLimits.dataCharacters) || data === '' || !base64Pattern.test(data)) return null;
  return { accountID, deviceID, boot, version, sha256, part, parts, data };
}

/** Splits the base64 of a deflated whole into slices; more than `configLimits.parts` of them cannot be sent. */
export function splitPacked(packed: string): readonly string[] {
  const slices: string[] = [];
  for (let at = 0; at < packed.length; at += configLimits.dataCharacters)
    slices.push(packed.slice(at, at + configLimits.dataCharacters));
  return slices;
}

/** Received slices of one configuration; at most 64. */
export interface Assembly {
  readonly version: number;
  readonly sha256: string;
  readonly slices: readonly (string | null)[];
}

/** A complete configuration, still packed. */
export interface PackedConfig {
  readonly version: number;
  readonly sha256: string;
  /** Base64 of the deflated text. */
  readonly packed: string;
}

export interface AssemblyStep {
  /** Null: none in progress. */
  readonly assembly: Assembly | null;
  readonly whole: PackedConfig | null;
}

/** Adds one part. A newer version discards the parts of an older one; an older one is ignored. */
export function takePart(assembly: Assembly | null, part: ConfigPart): AssemblyStep {
  const { version, sha256, parts } = part;
  if (assembly !== null && version < assembly.version) return { assembly, whole: null };
  const isSame =
    assembly !== null &&
    assembly.version === version &&
    assembly.sha256 === sha256 &&
    assembly.slices.length === parts;
  const before: readonly (string | null)[] = isSame
    ? assembly.slices
    : Array.from({ length: parts }, () => null);
  const slices = before.map((slice, at) => (at === part.part - 1 ? part.data : slice));
  if (slices.includes(null)) return { assembly: { version, sha256, slices }, whole: null };
  return { assembly: null, whole: { version, sha256, packed: slices.join('') } };
}
