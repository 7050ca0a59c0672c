// One-time enrolment codes: making one, for users and for the operator at the command line, and what the service needs to
// honour it. A code is shown once; only the public half of the key that it gives is kept.
import { AppError } from '../../src/core/errors.ts';
import type { EnrolmentCrypto } from '../../src/core/wire/enrolment.ts';
import {
  createEnrolmentCode,
  enrolmentCodeBytes,
  formatEnrolmentCode,
} from '../../src/core/wire/enrolment-code.ts';
import type { Clock, Database, Entropy } from '../../src/ports.ts';
import { type DeviceKey } from '../core/device-key.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import { insertCode, isCode } from '../store/devices/enrolment-codes.ts';

export interface IssuedCertificate {
  readonly pem: string;
  /** Hexadecimal. */
  readonly serial: string;
  readonly untilMs: number;
}

/** Signs certificates of vehicles. */
export interface CertificateAuthority {
  /** Null when the request is none of a P-256 key with a right signature, or the authority itself is over. */
  issue(
    request: Uint8Array,
    to: { readonly commonName: string; readonly nowMs: number },
  ): IssuedCertificate | null;
}

/** What the program gives; read anew at a reload, so the same object is kept. */
export interface EnrolmentOptions {
  readonly crypto: EnrolmentCrypto;
  /** Null: vehicles get no certificates. */
  readonly authority: CertificateAuthority | null;
  readonly codeHours: number;
  /** Sent to vehicles: addresses, authority to trust (PEM or null), and the key that signs commands. */
  readonly mqttUrls: readonly string[];
  readonly ca: string | null;
  readonly publicKey: string;
}

interface CodePorts {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly crypto: EnrolmentCrypto;
}

export interface CodeOrder {
  readonly key: DeviceKey;
  readonly hours: number;
  /** User, or `operator`. */
  readonly actor: string;
  /** Address; '' at the machine itself. */
  readonly source: string;
}

export interface MadeCode {
  /** As it is typed; cannot be read again. */
  readonly code: string;
  readonly codeID: string;
  readonly expiresMs: number;
}

/** A billion names: a second try is rare, a third one a fault. */
const triesMost = 3;

/**
 * Makes the code of a device; one that the device had open is worth nothing any more.
 * @param order `hours` 1 to 168.
 * @throws AppError `not_found` when there is no such device.
 */
export async function makeEnrolmentCode(ports: CodePorts, order: CodeOrder): Promise<MadeCode> {
  const { db, clock, entropy, crypto } = ports;
  const { accountID, deviceID } = order.key;
  for (let tries = 0; tries < triesMost; tries += 1) {
    const code = createEnrolmentCode(entropy.bytes(enrolmentCodeBytes));
    const { codeID } = code;
    const { verifier } = await crypto.deriveCodeKey(code);
    const atMs = Math.round(clock.utcMs());
    const expiresMs = atMs + order.hours * 3600_000;
    const statements = insertCode({
      ...order.key,
      codeID,
      verifier,
      createdBy: order.actor,
      atMs,
      expiresMs,
    });
    const entry = {
      accountID,
      atMs,
      actor: order.actor,
      source: order.source,
      action: 'enrolmentcode.create',
      object: deviceID,
      detail: { codeID, expires: Math.floor(expiresMs / 1000) },
    };
    const results = await db.write([...statements, insertAudit(entry, isCode(codeID, verifier))]);
    if (results.at(-1)?.changes === 1) return { code: formatEnrolmentCode(code), codeID, expiresMs };
  }
  throw new AppError('not_found', `There is no device ${JSON.stringify(deviceID)}`);
}
