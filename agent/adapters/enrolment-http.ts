// One request to the broker's HTTP service, for enrolment: over https with the system's or the given authority, or
// over plain http, which the protocol allows. Every fault is a text that an installer can act on. It never follows a
// redirect, and always limits size and time.
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { AppError, codeOf, type ErrorCode, errorKinds } from '../../src/core/errors.ts';
import {
  decodeSealedGrant,
  enrolmentLimits,
  enrolmentPath,
  type SealedGrant,
} from '../../src/core/wire/enrolment.ts';

const timeoutMs = 20_000;
const answerMost = enrolmentLimits.sealed + 4096;
const wordsMost = 500;

export interface BrokerAddress {
  readonly url: URL;
  /** PEM of the authority to trust for https; the system's when absent. */
  readonly ca?: string;
}

/** @throws AppError `usage`. */
export function parseBrokerAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new AppError('usage', `--broker ${JSON.stringify(text)} is no address`, {
    hint: 'Example: https://fleet.example.com, with :port if it is not 443.',
  });
}

const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);

/** What went wrong before there was an answer. */
function faultOf(thrown: unknown, { url }: BrokerAddress): AppError {
  const code = codeOf(thrown);
  const { host } = url;
  if (untrusted.has(code)) {
    return new AppError(
      'config',
      `${host} is certified by an authority that this machine does not trust (${code})`,
      {
        hint: 'Give its certificate with --ca. If a public authority is expected, traffic on this network may be intercepted.',
      },
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new AppError('config', `The certificate of ${host} is for another name`, {
      hint: 'Give --broker the name that the certificate is for.',
    });
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const now = new Date().toISOString();
    return new AppError(
      'config',
      `The certificate of ${host} is not valid at ${now}, which is this machine's time`,
      {
        hint: 'If that is not the time, set the clock (timedatectl); otherwise the broker needs a new certificate.',
      },
    );
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return new AppError('config', `${host} does not speak TLS as this machine does (${code})`, {
      hint: 'Is it https at this port? A broker without a TLS proxy is http://',
    });
  }
  const words: Readonly<Record<string, string>> = {
    ENOTFOUND: 'there is no such name',
    EAI_AGAIN: 'names cannot be looked up: is there a network?',
    ECONNREFUSED: 'nothing listens at that port',
    ECONNRESET: 'the connection was cut off',
    ENETUNREACH: 'there is no network',
    EHOSTUNREACH: 'there is no way to that host',
    ETIMEDOUT: `no answer within ${timeoutMs / 1000} s`,
  };
  const reason = words[code] ?? (code === '' ? String(thrown) : code);
  return new AppError('unavailable', `The broker cannot be reached at ${url.origin}: ${reason}`, {
    hint: 'Check the address and the network, then run the same command again: the code is not lost.',
  });
}

/** Text of an untrusted peer: one line, of bounded length, without terminal control sequences. */
function words(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, wordsMost);
}

const codes: readonly ErrorCode[] = [
  'not_found',
  'conflict',
  'unsupported',
  'throttled',
  'unavailable',
  'invalid_content',
];

interface Answer {
  readonly status: number;
  readonly retryAfterS: number | null;
  readonly text: string;
}

/** The fault in an answer. */
function refusalOf({ status, text, retryAfterS }: Answer, { url }: BrokerAddress): AppError {
  let error: unknown;
  try {
    error = (JSON.parse(text) as { readonly error?: unknown } | null)?.error;
  } catch {
    error = null;
  }
  const { code, detail, hint } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  const known = codes.find((one) => one === code && errorKinds[one].status === status);
  if (known !== undefined) {
    return new AppError(known, `The broker says: ${words(detail)}`, {
      ...(words(hint) === '' ? {} : { hint: words(hint) }),
      ...(retryAfterS === null ? {} : { retryAfterS }),
    });
  }
  const isLater = status >= 500;
  const what = status >= 300 && status < 400 ? 'sends to another address' : `answered with status ${status}`;
  return new AppError(
    isLater ? 'unavailable' : 'config',
    `${url.origin} ${what}, which is no answer to an enrolment`,
    {
      hint: 'Is it the HTTP address of a Fleetward broker that knows enrolment? No redirect is followed.',
    },
  );
}

function readBody(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    message.setEncoding('utf8');
    message.on('data', (part: string) => {
      text += part;
      if (text.length > answerMost)
        message.destroy(new Error(`the answer is longer than ${answerMost} bytes`));
    });
    message.on('end', () => resolve(text));
    message.on('error', reject);
    message.on('aborted', () => reject(Object.assign(new Error('cut off'), { code: 'ECONNRESET' })));
  });
}

function retryAfterOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) : null;
}

function post({ url, ca }: BrokerAddress, body: string): Promise<Answer> {
  const path = `${url.pathname.replace(/\/+$/, '')}${enrolmentPath}`;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    accept: 'application/json',
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { method: 'POST', path, headers, signal, agent: false };
  return new Promise((resolve, reject) => {
    const send =
      url.protocol === 'https:'
        ? tlsRequest(url, { ...options, ...(ca === undefined ? {} : { ca }) })
        : plainRequest(url, options);
    send.on('error', (thrown) =>
      reject(signal.aborted ? Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }) : thrown),
    );
    send.on('response', (message) => {
      const retryAfterS = retryAfterOf(message.headers['retry-after']);
      readBody(message).then(
        (text) => resolve({ status: message.statusCode ?? 0, retryAfterS, text }),
        reject,
      );
    });
    send.end(body);
  });
}

/**
 * Sends the request and returns the sealed answer.
 * @throws AppError with a text for the installer.
 */
export async function askBroker(address: BrokerAddress, body: string): Promise<SealedGrant> {
  let answer: Answer;
  try {
    answer = await post(address, body);
  } catch (thrown) {
    throw faultOf(thrown, address);
  }
  const grant = answer.status === 200 ? decodeSealedGrant(answer.text) : null;
  if (grant === null) throw refusalOf(answer, address);
  return grant;
}
