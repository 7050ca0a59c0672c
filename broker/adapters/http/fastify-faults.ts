// What can go wrong between a socket and an operation, in this service's own codes and messages, and the limits that make
// it go wrong. A framework's message must never reach a client where it could quote a body.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { findRepeatedKey } from '../../core/json-keys.ts';
import { pageLimits } from '../../scheduling/per-account-limits.ts';

/** Limits of the HTTP side. Times in ms, sizes in bytes. */
export const httpLimits = {
  /** Open connections: see http-connections.ts. */
  connections: { all: 5000, ofSource: 1000, reserved: 50, reservedOfSource: 5 },
  bodyBytes: 1024 * 1024,
  /** Of a body that is refused before it has come: with a longer one the connection ends. */
  unreadBytes: 64 * 1024,
  headerBytes: 16 * 1024,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  /** A connection on which nothing moves for this long is cut (at most twice as long, when bytes were just given to it). */
  stalledMs: pageLimits.stalledMs,
  /** An answer of so many bytes is sent while it is made. */
  gatherBytes: 256 * 1024,
  /** Held compressed for an ETag; some 50,000 devices. */
  heldBytes: 4 * 1024 * 1024,
  requestsPerSocket: 10_000,
  paramLength: 256,
  closeMs: 3000,
  /** From an answer to what is no request to the end of the connection, whatever the client does. */
  lingerMs: 1000,
} as const;

/** The framework's own failures in our codes: 415 is 406 and 413 is 400 in this interface. */
export function translateFault(thrown: unknown): unknown {
  if (thrown instanceof AppError || !(thrown instanceof Error)) return thrown;
  const code = 'code' in thrown ? String(thrown.code) : '';
  const status = 'statusCode' in thrown ? Number(thrown.statusCode) : 500;
  const json = 'Send JSON with `Content-Type: application/json`.';
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('not_acceptable', 'The body is not declared as application/json', { hint: json });
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new AppError('malformed_request', `The body is longer than ${httpLimits.bodyBytes} bytes`);
  }
  // Longer than any id: there can be no such object.
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('not_found', 'A part of the path is too long');
  if (code === 'FST_ERR_BAD_URL')
    return new AppError('malformed_request', 'The path is not correctly encoded');
  return status >= 400 && status < 500 ? new AppError('malformed_request', thrown.message) : thrown;
}

/** Objects and lists within each other; no body of this interface has half as many. */
const depthMost = 32;

/** A look at the brackets alone: a parser that follows half a million of them holds everybody up. */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < body.length; at++) {
    const sign = body[at];
    if (isText && sign === 0x5c) at += 1;
    else if (sign === 0x22) isText = !isText;
    else if (isText) continue;
    else if (sign === 0x5b || sign === 0x7b) depth += 1;
    else if (sign === 0x5d || sign === 0x7d) depth -= 1;
    if (depth > depthMost) return true;
  }
  return false;
}

/** Characters of a pointer that an error shows. */
const shownMost = 200;

/** JSON in UTF-8 and nothing else, each member of an object once; values stay as they are. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0)
    throw new AppError('malformed_json', 'The body is empty', { hint: 'Send a JSON object.' });
  if (isTooDeep(body)) {
    throw new AppError('malformed_json', `The body is nested more than ${depthMost} deep`);
  }
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    value = JSON.parse(text);
  } catch (thrown) {
    // The parser's message quotes the body, which may hold a password.
    const place = /position \d+/.exec(messageOf(thrown))?.[0];
    throw new AppError(
      'malformed_json',
      place ? `The body is not JSON: fault at ${place}` : 'The body is not JSON',
    );
  }
  const repeated = findRepeatedKey(text);
  if (repeated === null) return value;
  const shown = JSON.stringify(repeated.slice(0, shownMost));
  throw new AppError('malformed_json', `The body has the member ${shown} twice`, {
    hint: 'Send each member of an object once.',
  });
}

/** Text in UTF-8. */
export function parseText(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new AppError('malformed_request', 'The body is not UTF-8', { hint: 'Save the file as UTF-8.' });
  }
}

/** What the parser refuses before there is a request, by Node's code. */
export const wireFaults: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `the headers are longer than ${httpLimits.headerBytes} bytes`,
  ERR_HTTP_REQUEST_TIMEOUT: 'the request took too long to arrive',
};
