// Enrolment on the vehicle: from a one-time code to files with which the agent can start. After an interruption at
// any point, the same command run again completes it: the key of the attempt is on disk before the first request is
// sent, the sealed answer before anything is changed, and agent.toml comes last. It never touches the outbox, nor
// writes what it cannot verify.

import { AppError } from '../../src/core/errors.ts';
import {
  decodeGrant,
  type EnrolmentCrypto,
  type EnrolmentGrant,
  type SealedGrant,
} from '../../src/core/wire/enrolment.ts';
import { parseEnrolmentCode } from '../../src/core/wire/enrolment-code.ts';
import type { Clock, Entropy } from '../../src/ports.ts';
import { pause } from '../../src/timeout.ts';
import type { ChangedLine } from '../core/toml-edit.ts';
import { type Attempt, createAttempt, decodeAttempt, encodeAttempt } from './enrolment-attempt.ts';
import {
  type ConfigChange,
  changeConfig,
  type EnrolledFiles,
  enrolledSettings,
  type KnownConfig,
  readKnown,
} from './enrolment-config.ts';

/** Files of this machine, each written whole or not at all. */
export interface EnrolmentFiles {
  /** Null when there is none. @throws AppError `storage`. */
  read(path: string): string | null;
  /** Makes missing folders and tries to write there. @throws AppError `storage`. */
  prepare(path: string): void;
  /**
   * Durable when it returns; `private`: always mode 0600.
   * @throws AppError `storage`.
   */
  write(path: string, text: string, kind: 'private' | 'kept'): void;
  remove(path: string): void;
}

export interface EnrolmentPorts {
  readonly crypto: EnrolmentCrypto;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly files: EnrolmentFiles;
  createCertificateRequest(): { readonly keyPem: string; readonly request: Uint8Array };
  /** Sends the request. @throws AppError: `unavailable` and `throttled` are worth another try. */
  ask(body: string): Promise<SealedGrant>;
  /** Progress lines for the terminal. */
  onProgress(line: string): void;
}

export interface EnrolmentOptions {
  /** As it was typed. */
  readonly code: string;
  readonly configFile: string;
  /** Null: that of the configuration, else `secret` beside it. */
  readonly secretFile: string | null;
  readonly wantsCertificate: boolean;
  /** Null: one that the broker names. */
  readonly mqttUrl: string | null;
  /** The configuration may become that of another device. */
  readonly isOtherDevice: boolean;
  /** The owner's key to pin; null: as configured. The service is never asked for it. */
  readonly ownerKey: string | null;
  /** True when the broker was reached at this very machine. */
  readonly isLocalBroker: boolean;
}

export interface Enrolled {
  readonly accountID: string;
  readonly deviceID: string;
  readonly url: string;
  readonly publicKey: string;
  readonly configFile: string;
  /** Null: no owner's key is pinned. */
  readonly ownerKey: string | null;
  /** Null when the file was new or nothing had to be changed. */
  readonly backupFile: string | null;
  readonly files: EnrolledFiles;
  readonly changes: readonly ChangedLine[];
  /** This machine's clock minus the broker's, in seconds; null when unknown. */
  readonly clockOffsetS: number | null;
}

const triesMost = 4;
const firstPauseMs = 2000;
/** A longer wait is reported instead. */
const waitMostS = 30;

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

interface Begun {
  readonly attempt: Attempt;
  readonly isFresh: boolean;
  readonly seed: Uint8Array;
  readonly verifier: string;
}

interface EnrolmentPlan {
  readonly secretFile: string;
  readonly attemptFile: string;
  readonly known: KnownConfig;
  readonly configText: string | null;
}

/** The owner's key is changed by a rotation that the owner signed, and by hand; never by an enrolment. @throws AppError `config`. */
function needSameOwner({ configFile, ownerKey }: EnrolmentOptions, { ownerKey: pinned }: KnownConfig): void {
  if (ownerKey === null || pinned === null || ownerKey === pinned) return;
  throw new AppError('config', `${configFile} pins another owner's key`, {
    hint: 'Compare the key with its owner. Only the installer replaces it: change [owner] key in the file. Nothing was sent.',
  });
}

/** Where everything goes; tried before the code is used up. @throws AppError `config` or `storage`. */
function enrolmentPlanOf({ files }: EnrolmentPorts, options: EnrolmentOptions): EnrolmentPlan {
  const configText = files.read(options.configFile);
  const known = readKnown(options.configFile, configText);
  const secretFile = options.secretFile ?? known.secretFile ?? `${folderOf(options.configFile)}secret`;
  const attemptFile = `${secretFile}.enrolment`;
  // With other values than will come: whether the file can be changed does not hang on them.
  const rehearsal = { accountID: 'a', deviceID: 'a', publicKey: 'a' };
  const none = { secretFile, caFile: 'a', certFile: null, keyFile: null };
  changeConfig(
    options.configFile,
    configText,
    enrolledSettings(rehearsal, 'mqtt://a', none, options.ownerKey),
  );
  needSameOwner(options, known);
  for (const path of [secretFile, options.configFile]) files.prepare(path);
  return { secretFile, attemptFile, known, configText };
}

/** The attempt that was cut off, when it was one with this code; else a new one, on disk before anything is sent. */
async function begin(
  ports: EnrolmentPorts,
  options: EnrolmentOptions,
  { attemptFile }: EnrolmentPlan,
): Promise<Begun> {
  const { crypto, files } = ports;
  const code = parseEnrolmentCode(options.code);
  if (!code.ok) {
    throw new AppError('usage', `The code is mistyped: ${code.reason}`, {
      hint: 'Compare it with the code, group by group. Nothing was sent.',
    });
  }
  const { seed, verifier } = await crypto.deriveCodeKey(code);
  const text = files.read(attemptFile);
  const kept = text === null ? null : decodeAttempt(text);
  // One of another code, or of a code of which only the first part is the same.
  if (kept !== null && crypto.verify(verifier, kept.request)) {
    if ((kept.certificateKey !== null) === options.wantsCertificate) {
      return { attempt: kept, isFresh: false, seed, verifier };
    }
    const begun = options.wantsCertificate ? 'without' : 'with';
    throw new AppError(
      'usage',
      `Enrolment with this code was started ${begun} --certificate, and the code may be used up`,
      {
        hint: `Finish it ${begun} --certificate, or ask for a new code.`,
      },
    );
  }
  const attempt = createAttempt(ports, {
    codeID: code.codeID,
    seed,
    wantsCertificate: options.wantsCertificate,
  });
  files.write(attemptFile, encodeAttempt(attempt), 'private');
  return { attempt, isFresh: true, seed, verifier };
}

/** Asks until there is an answer, a few times. @throws AppError. */
async function askPatiently(
  ports: EnrolmentPorts,
  body: string,
): Promise<{ answer: SealedGrant; tries: number }> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { answer: await ports.ask(body), tries };
    } catch (thrown) {
      if (!(thrown instanceof AppError) || tries >= triesMost) throw thrown;
      const waitS = thrown.retryAfterS ?? (firstPauseMs / 1000) * 2 ** (tries - 1);
      const isWorth = thrown.code === 'unavailable' || thrown.code === 'throttled';
      if (!isWorth || waitS > waitMostS) throw thrown;
      ports.onProgress(`${thrown.message}; trying again in ${waitS} s`);
      await pause(ports.clock, waitS * 1000);
    }
  }
}

/** As above; an attempt that the broker will never take is forgotten, so that the code can be used otherwise. */
async function askOnce(ports: EnrolmentPorts, body: string, attemptFile: string) {
  try {
    return await askPatiently(ports, body);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'unsupported') ports.files.remove(attemptFile);
    throw thrown;
  }
}

/** A certificate comes when one was asked for, and only then. */
const isComplete = (grant: EnrolmentGrant, { certificateKey }: Attempt): boolean =>
  (grant.certificate !== null) === (certificateKey !== null);

interface Received {
  readonly grant: EnrolmentGrant;
  readonly attempt: Attempt;
  readonly clockOffsetS: number | null;
}

/** The opened answer, kept on disk before it is opened for good. @throws AppError `unauthorized` when it is no answer of the broker. */
async function receive(
  ports: EnrolmentPorts,
  begun: Begun,
  { attemptFile }: EnrolmentPlan,
): Promise<Received> {
  const { crypto, clock, files } = ports;
  const { attempt, verifier } = begun;
  const { request, privateKey } = attempt;
  const isAsking = attempt.answer === null;
  const asked = isAsking ? await askOnce(ports, JSON.stringify(request), attemptFile) : null;
  const utcMs = clock.utcMs();
  const answer = asked?.answer ?? attempt.answer;
  const plain = answer === null ? null : crypto.open({ verifier, privateKey, request }, answer);
  const grant = plain === null ? null : decodeGrant(plain);
  if (answer === null || grant === null || !isComplete(grant, attempt)) {
    throw new AppError(
      'unauthorized',
      'The answer is not from the issuer of the code, or was changed in transit',
      {
        hint: 'Another device on this network may read and change the traffic. Nothing was written. Use another network and run the same command again.',
      },
    );
  }
  const whole = { ...attempt, answer };
  if (isAsking) files.write(attemptFile, encodeAttempt(whole), 'private');
  // An answer that is given once more carries the time of the first.
  const isTimely = begun.isFresh && asked?.tries === 1;
  return {
    grant,
    attempt: whole,
    clockOffsetS: isTimely ? Math.round((utcMs - grant.serverTimeMs) / 1000) : null,
  };
}

const isLocalUrl = (url: string): boolean =>
  /^mqtts?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(url);

/** @throws AppError `config` without a broker address. */
function chooseUrl(
  { mqttUrls }: EnrolmentGrant,
  options: EnrolmentOptions,
  { known }: EnrolmentPlan,
): string {
  // An address of the broker's own machine is none for a vehicle.
  const named = mqttUrls.filter((url) => options.isLocalBroker || !isLocalUrl(url));
  const kept = known.url !== null && named.includes(known.url) ? known.url : null;
  const url = options.mqttUrl ?? kept ?? named[0] ?? known.url;
  if (url !== null) return url;
  throw new AppError('config', 'The broker did not say where vehicles connect to', {
    hint: 'Run the same command again with --mqtt-url mqtts://host:port. The operator sets it at the broker: enrolment.mqttUrls.',
  });
}

/** @throws AppError `config` when the file is that of another device, whose events may still wait in its outbox. */
function needSameDevice(
  { accountID, deviceID }: EnrolmentGrant,
  options: EnrolmentOptions,
  { known }: EnrolmentPlan,
): void {
  const isSame = (known.accountID ?? accountID) === accountID && (known.deviceID ?? deviceID) === deviceID;
  if (isSame || options.isOtherDevice) return;
  const was = `${known.accountID ?? '?'}/${known.deviceID ?? '?'}`;
  throw new AppError(
    'config',
    `${options.configFile} is that of ${was}; the code is for ${accountID}/${deviceID}`,
    {
      hint: 'Events that wait in the outbox would be sent as those of the other vehicle: move the outbox away (storage.path), then run the same command again with --other-device.',
    },
  );
}

/** Everything that is written, decided before any of it is. */
function plan(received: Received, options: EnrolmentOptions, place: EnrolmentPlan) {
  const { grant, attempt } = received;
  needSameDevice(grant, options, place);
  const url = chooseUrl(grant, options, place);
  const folder = folderOf(place.secretFile);
  const files: EnrolledFiles = {
    secretFile: place.secretFile,
    caFile: grant.ca === null ? null : `${folder}broker-ca.pem`,
    certFile: grant.certificate === null ? null : `${folder}client-cert.pem`,
    keyFile: attempt.certificateKey === null ? null : `${folder}client-key.pem`,
  };
  const change = changeConfig(
    options.configFile,
    place.configText,
    enrolledSettings(grant, url, files, options.ownerKey),
  );
  return { url, files, change };
}

function writeAll(
  { files: disk }: EnrolmentPorts,
  { grant, attempt }: Received,
  {
    options,
    place,
    files,
    change,
  }: {
    readonly options: EnrolmentOptions;
    readonly place: EnrolmentPlan;
    readonly files: EnrolledFiles;
    readonly change: ConfigChange;
  },
): string | null {
  disk.write(files.secretFile, `${grant.secret}\n`, 'private');
  const others: readonly (readonly [string | null, string | null])[] = [
    [files.caFile, grant.ca],
    [files.keyFile, attempt.certificateKey],
    [files.certFile, grant.certificate],
  ];
  for (const [path, text] of others) if (path !== null && text !== null) disk.write(path, text, 'private');
  const isKept = change.text === place.configText;
  const backupFile = isKept || place.configText === null ? null : `${options.configFile}.bak`;
  if (backupFile !== null && place.configText !== null) disk.write(backupFile, place.configText, 'private');
  if (!isKept) disk.write(options.configFile, change.text, 'kept');
  disk.remove(place.attemptFile);
  return backupFile;
}

/**
 * Enrols this vehicle, or finishes an enrolment that was cut off.
 * @throws AppError `usage` (the code was mistyped), `not_found` (wrong code), `conflict` (used, expired, revoked),
 * `unauthorized` (the answer is not the broker's), `unavailable`, `throttled`, `unsupported`, `config`, `storage`.
 */
export async function enrol(ports: EnrolmentPorts, options: EnrolmentOptions): Promise<Enrolled> {
  const place = enrolmentPlanOf(ports, options);
  const begun = await begin(ports, options, place);
  const received = await receive(ports, begun, place);
  const { url, files, change } = plan(received, options, place);
  const backupFile = writeAll(ports, received, { options: options, place, files, change });
  const { accountID, deviceID, publicKey } = received.grant;
  const { configFile } = options;
  const { clockOffsetS } = received;
  return {
    accountID,
    deviceID,
    url,
    publicKey,
    ownerKey: options.ownerKey ?? place.known.ownerKey,
    configFile,
    backupFile,
    files,
    changes: change.changes,
    clockOffsetS,
  };
}
