// Enrolment of a vehicle with a one-time code: it proves possession of the code and receives its secret, sealed. One batch
// uses the code, replaces the secret and writes the audit entry. An identical request gets the same answer again, in case
// it was lost; no other request gets one. Nothing is disclosed before the proof is verified.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import {
  decodeSealedGrant,
  type EnrolmentRequest,
  encodeGrant,
  enrolmentLimits,
  enrolmentPath,
  enrolmentPatterns,
  type SealedGrant,
  transcriptOf,
} from '../../../src/core/wire/enrolment.ts';
import { codeIDPattern } from '../../../src/core/wire/enrolment-code.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { invalidAt } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { createLoginThrottle } from '../../core/accounts/login-throttle.ts';
import type { IssuedCertificate } from '../../devices/enrolment.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { recordCertificate, revokeAllCertificates } from '../../store/devices/certificates.ts';
import { hashSecret, makeSecret } from '../../store/devices/device-secret.ts';
import { replaceSecret } from '../../store/devices/devices.ts';
import {
  type CodeRow,
  type CodeUse,
  findCode,
  isUsedBy,
  useCode,
} from '../../store/devices/enrolment-codes.ts';

/** Wrong proofs by code and by source; apart from those of logins. */
export const enrolmentGuesses = {
  create: () => ({ throttle: createLoginThrottle(), close: async () => undefined }),
};

interface Attempt {
  readonly request: EnrolmentRequest;
  /** Address that it came from. */
  readonly source: string;
  readonly atMs: number;
}

const dayOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Not waited for: a code that is there must not take longer to refuse than one that is not. */
function recordFailure(services: ApiServices, row: CodeRow, { source, atMs }: Attempt): void {
  const { accountID, deviceID, codeID } = row;
  const entry = { accountID, atMs, actor: 'device', source, object: deviceID, detail: { codeID } };
  services.db
    .write([insertAudit({ ...entry, action: 'enrolmentcode.fail' })])
    .catch(() => services.log.warn('enrolment_failure_not_recorded'));
}

/**
 * The code that the request has proven to hold. Guesses are slowed by code and by source, apart and together.
 * @throws AppError `throttled`, or `not_found` with the same message for a wrong proof and for a code that never was.
 */
async function proveCode(services: ApiServices, attempt: Attempt): Promise<CodeRow> {
  const { db, clock, log, enrolment } = services;
  const { throttle } = services.of(enrolmentGuesses);
  const { request, source } = attempt;
  // No account has an empty id, so these counters are separate from logins.
  const guess = { accountID: '', userID: request.codeID, address: source };
  const decision = throttle.begin(guess, clock.monoMs());
  if (!decision.isAllowed) {
    log.warn('enrolment_throttled', { codeID: request.codeID, source });
    throw new AppError('throttled', 'Too many wrong enrolment codes; wait before the next attempt', {
      retryAfterS: decision.retryAfterS,
    });
  }
  let row: CodeRow | null;
  try {
    row = await findCode(db, request.codeID, Math.floor(attempt.atMs / 1000));
  } catch (thrown) {
    throttle.release(guess);
    throw thrown;
  }
  const isRight = enrolment.crypto.verify(row?.verifier ?? null, request);
  if (row !== null && isRight) {
    throttle.succeed(guess);
    return row;
  }
  log.warn('enrolment_failed', { codeID: request.codeID, source });
  if (row !== null) recordFailure(services, row, attempt);
  throw new AppError('not_found', 'There is no such enrolment code', {
    hint: 'Compare every character with the code. Another one is made by an administrator of the account.',
  });
}

const refuse = (message: string): AppError =>
  new AppError('conflict', message, {
    hint: 'Ask an administrator of the account for a new code.',
  });

/** The answer that the same request got before, or null while the code is open. @throws AppError `conflict`. */
function answerBefore(row: CodeRow, requestHash: string, nowMs: number): SealedGrant | null {
  if (row.expiresMs <= nowMs) throw refuse(`The enrolment code ended on ${dayOf(row.expiresMs)}`);
  if (row.usedMs !== null) {
    const answer = row.requestHash === requestHash ? decodeSealedGrant(row.answer ?? '') : null;
    if (answer !== null) return answer;
    throw refuse(`The enrolment code was used on ${dayOf(row.usedMs)}, by another unit or another attempt`);
  }
  if (row.revokedMs !== null) throw refuse('The enrolment code was revoked, or replaced by a newer one');
  if (!row.isAccountActive) throw refuse('The account of the enrolment code is suspended or has expired');
  return null;
}

/** The certificate that was asked for; null when none was. @throws AppError `unsupported` or `invalid_content`. */
function certify({ enrolment }: ApiServices, row: CodeRow, attempt: Attempt): IssuedCertificate | null {
  const { certificateRequest } = attempt.request;
  if (certificateRequest === undefined) return null;
  if (enrolment.authority === null) {
    throw new AppError('unsupported', 'This broker signs no certificates', {
      hint: 'Enrol without --certificate, or set enrolment.caCertFile and enrolment.caKeyFile at the broker.',
    });
  }
  const issued = enrolment.authority.issue(Buffer.from(certificateRequest, 'base64url'), {
    commonName: `${row.accountID}/${row.deviceID}`,
    nowMs: attempt.atMs,
  });
  if (issued !== null) return issued;
  const message = 'is no signed PKCS #10 request for a P-256 key, or the authority is over';
  throw invalidAt('/certificateRequest', message);
}

interface Granted {
  readonly answer: SealedGrant;
  readonly secretHash: string;
  readonly certificate: IssuedCertificate | null;
}

/** Everything that the unit needs, sealed to it. Nothing is written yet. */
function grant(services: ApiServices, row: CodeRow, attempt: Attempt): Granted {
  const { crypto, mqttUrls, ca, publicKey } = services.enrolment;
  const certificate = certify(services, row, attempt);
  const secret = makeSecret(services.entropy);
  const { accountID, deviceID, verifier } = row;
  const plain = encodeGrant({
    accountID,
    deviceID,
    secret,
    publicKey,
    mqttUrls,
    ca,
    certificate: certificate?.pem ?? null,
    serverTimeMs: attempt.atMs,
  });
  const answer = crypto.seal({ verifier, request: attempt.request }, plain);
  if (answer !== null) return { answer, secretHash: hashSecret(secret), certificate };
  throw invalidAt('/deviceKey', 'is no X25519 public key');
}

/** Uses the code. @returns false when another request was faster, or the code was ended meanwhile. */
async function enrolOnce(
  services: ApiServices,
  row: CodeRow,
  { use, granted }: { readonly use: CodeUse; readonly granted: Granted },
): Promise<boolean> {
  const { accountID, deviceID, codeID } = row;
  const { source, atMs } = use;
  const { certificate, secretHash } = granted;
  const detail = { codeID, ...(certificate === null ? {} : { certificate: certificate.serial }) };
  const entry = { accountID, atMs, actor: 'device', source, object: deviceID, detail };
  const isMine = isUsedBy(use);
  // The code comes first: it is the row that two requests at once contend for.
  const [used] = await services.db.write([
    useCode(use),
    insertAudit({ ...entry, action: 'device.enrol' }, isMine),
    ...revokeAllCertificates(row, { atMs, isForSecret: true, onlyIf: isMine }),
    ...(certificate === null ? [] : [recordCertificate(row, { ...certificate, atMs }, isMine)]),
    replaceSecret({ accountID, deviceID, secretHash, atS: Math.floor(atMs / 1000) }, isMine),
  ]);
  if (used?.changes !== 1) return false;
  services.log.info('device_enrolled', { accountID, deviceID, codeID, source });
  services.kick(row, 'its secret was replaced');
  return true;
}

async function enrol(services: ApiServices, attempt: Attempt): Promise<SealedGrant> {
  const { crypto } = services.enrolment;
  const { request, source, atMs } = attempt;
  const requestHash = crypto.digest(transcriptOf(request));
  const row = await proveCode(services, attempt);
  const before = answerBefore(row, requestHash, atMs);
  if (before !== null) return before;
  const granted = grant(services, row, attempt);
  const answer = JSON.stringify(granted.answer);
  const use = { codeID: row.codeID, requestHash, answer, source, atMs };
  if (await enrolOnce(services, row, { use, granted })) return granted.answer;
  const now = await findCode(services.db, row.codeID, Math.floor(atMs / 1000));
  const other = now === null ? null : answerBefore(now, requestHash, atMs);
  if (other !== null) return other;
  throw refuse('The enrolment code ended while it was used');
}

const binary = (pattern: string, description: string) => Type.String({ pattern, description });

const enrolDevice = operation({
  id: 'enrolDevice',
  method: 'POST',
  path: enrolmentPath.replace('/api/v1', ''),
  forms: ['versioned'],
  access: 'public',
  tag: 'Devices',
  summary: 'Enrol a unit with a one-time code',
  description: `An addition to the interface, for units: \`fleetward-agent enrol\` does all of this. No token is needed; the code is
the right. It is safe over plain HTTP: without the code nothing can be read or changed on the way.

The unit makes an X25519 key. From the code it derives an Ed25519 key: its seed is scrypt(secret part of the code, salt
\`fleetward-enrolment-1\\n<codeID>\`, N 16384, r 8, p 1, 32 bytes). \`proof\` is the signature of that key over
\`fleetward-enrolment-1\`, \`codeID\`, \`deviceKey\`, \`nonce\` and \`certificateRequest\` (empty when absent), with line feeds
between them. The answer is AES-256-GCM. Key (32 bytes) and IV (12) are HKDF-SHA-256 of the X25519 secret of \`deviceKey\`
and \`brokerKey\`, the salt being the public half of the code's key, and the info the SHA-256 of the signed text, \`proof\` and
\`brokerKey\`, with line feeds between them; that hash is the additional data too. It opens to a JSON object of \`accountID\`,
\`deviceID\`, \`secret\`, \`publicKey\`, \`mqttUrls\`, \`ca\`, \`certificate\` and \`serverTimeMs\`.

The secret that the device had stops working. The very same request gets the same answer until the code expires, so that a
lost answer can be asked for again; every other one gets 422 \`conflict\`, as does a code that has expired or was revoked. A
code that never was and a wrong proof are one 404. After some of them further attempts answer 503 \`throttled\` with
\`Retry-After\`: the wait grows per code and source address. 422 \`unsupported\`: this broker signs no certificates.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      codeID: binary(codeIDPattern, 'First six characters of the code'),
      deviceKey: binary(enrolmentPatterns.key, 'X25519 public key of this attempt (base64url)'),
      nonce: binary(enrolmentPatterns.nonce, '16 random bytes (base64url)'),
      certificateRequest: Type.Optional(
        Type.String({
          pattern: enrolmentPatterns.base64url,
          maxLength: enrolmentLimits.certificateRequest,
          description: 'PKCS #10 request for a P-256 key (DER, base64url); its names are not looked at',
        }),
      ),
      proof: binary(enrolmentPatterns.proof, 'Ed25519 signature by the key of the code (base64url)'),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    brokerKey: Type.String({ description: 'X25519 public key of this answer (base64url)' }),
    sealed: Type.String({ description: 'AES-256-GCM ciphertext and tag (base64url)' }),
  }),
  errors: ['not_found', 'conflict', 'unsupported', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: {
      codeID: '7K3M9Q',
      deviceKey: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo',
      nonce: 'AAECAwQFBgcICQoLDA0ODw',
      proof: `${'Zm9yIHRoZSBkb2N1bWVudCBvbmx5'.repeat(3)}Zg`,
    },
    result: {
      brokerKey: '3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08',
      sealed: 'c2VhbGVkIHRvIHRoZSB1bml0IGFsb25l',
    },
  },
  async run({ body, source }, services) {
    const atMs = Math.round(services.clock.utcMs());
    return { ...ok, ...(await enrol(services, { request: body, source, atMs })) };
  },
});

export const enrolmentOperations = [enrolDevice] as const;
