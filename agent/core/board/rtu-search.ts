// Finds the answer to a request among all bytes since it was sent. On a line without bias or termination, noise may stand before, behind and within
// it. Pure. The result matches in unit, function, length and CRC (SL 2.5.1). It must never be
// - the adapter's echo of the request: the answer to FC05 and FC06 equals its request byte for byte, so an echo would confirm a write that no board
//   received;
// - a part of another valid frame: a late answer of another range may hold bytes that look like an answer;
// - one of two answers: one of them belongs to an earlier request, and it is unknown which.
import {
  announcedLength,
  type DecodedResponse,
  decodeResponse,
  expectedLength,
  type InvalidReason,
  isAnswerLike,
  type ModbusRequest,
  maxFrameLength,
  soundLength,
} from './modbus-frame.ts';
import type { RtuExchange, RtuMasterOptions, RtuReceived } from './rtu-types.ts';

interface EchoKnowledge {
  readonly mode: RtuMasterOptions['echo'];
  /** True when the adapter echoes, as far as known. */
  readonly hasEcho: boolean;
}

export interface RtuFinding {
  /** Null: none so far. */
  readonly answer: Extract<DecodedResponse, { kind: 'ok' | 'exception' }> | null;
  /** There is more than one answer. */
  readonly isTwice: boolean;
  /** Bytes of the answer and the echo; all others are noise. */
  readonly usedBytes: number;
  readonly hasEcho: boolean;
  /** Fault of the bytes while there is no answer; null: there are no bytes. */
  readonly fault: InvalidReason | 'cut' | null;
  /** The answer has arrived but is spoilt. */
  readonly isSpoilt: boolean;
}

/** Position of `part` in `bytes`, or -1. */
function placeOf(part: Uint8Array, bytes: Uint8Array): number {
  for (let at = 0; at + part.length <= bytes.length; at += 1)
    if (part.every((byte, index) => bytes[at + index] === byte)) return at;
  return -1;
}

/**
 * Position where the search for the answer begins; null: the echo that must come first is incomplete. The echo of most reads is no answer and is
 * found wherever it stands. An echo that would pass for the answer is searched only once the adapter is known to echo, which reads show before any
 * write.
 */
function bodyOf(
  { sent, job }: RtuExchange,
  bytes: Uint8Array,
  { mode, hasEcho }: EchoKnowledge,
): { readonly at: number | null; readonly isEchoed: boolean } {
  const isAlike = decodeResponse(job.request, sent.subarray(0, expectedLength(job.request))).kind === 'ok';
  if (mode === 'off' || (isAlike && !hasEcho)) return { at: 0, isEchoed: false };
  const place = placeOf(sent, bytes);
  if (place >= 0) return { at: place + sent.length, isEchoed: true };
  return { at: isAlike ? null : 0, isEchoed: false };
}

/** Searches `bytes`, which hold all that arrived since the request was sent. */
export function findAnswer(exchange: RtuExchange, bytes: Uint8Array, knowledge: EchoKnowledge): RtuFinding {
  const { request } = exchange.job;
  const { at: bodyAt, isEchoed } = bodyOf(exchange, bytes, knowledge);
  let answer: RtuFinding['answer'] = null;
  let answers = 0;
  let usedBytes = isEchoed ? exchange.sent.length : 0;
  let foreign: InvalidReason | null = null;
  for (let at = bodyAt ?? bytes.length; at < bytes.length; ) {
    const rest = bytes.subarray(at);
    const length = announcedLength(request, rest);
    const verdict = decodeResponse(request, rest.subarray(0, length));
    if (verdict.kind === 'ok' || verdict.kind === 'exception') {
      if (answers === 0) usedBytes += length;
      answer ??= verdict;
      answers += 1;
      at += length;
      continue;
    }
    const otherLength = soundLength(rest);
    if (otherLength > 0 && verdict.kind === 'invalid') foreign ??= verdict.reason;
    at += Math.max(1, otherLength);
  }
  // A clean answer without an echo before it: the adapter does not echo (any more). Otherwise noise may have spoilt the echo.
  const isClean = answer !== null && !isEchoed && usedBytes === bytes.length;
  return {
    answer,
    isTwice: answers > 1,
    usedBytes,
    hasEcho: isEchoed || knowledge.mode === 'on' || (knowledge.hasEcho && !isClean),
    fault: answer === null ? (foreign ?? faultOf(request, bytes, bodyAt)) : null,
    isSpoilt: answer === null && bodyAt !== null && isAnswerLike(request, bytes.subarray(bodyAt)),
  };
}

/** Fault of bytes without an answer; null: there was only an echo. */
function faultOf(request: ModbusRequest, bytes: Uint8Array, bodyAt: number | null): RtuFinding['fault'] {
  if (bodyAt === null) return bytes.length === 0 ? null : 'wrongEcho';
  const body = bytes.subarray(bodyAt);
  if (body.length === 0) return null;
  const verdict = decodeResponse(request, body.subarray(0, announcedLength(request, body)));
  return verdict.kind === 'invalid' ? verdict.reason : 'cut';
}

const bytesMost = 2 * maxFrameLength;

/** Keeps the newest bytes of both; older ones are noise. */
export function join(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const all = new Uint8Array(head.length + tail.length);
  all.set(head);
  all.set(tail, head.length);
  return all.length > bytesMost ? all.slice(-bytesMost) : all;
}

export const joined = (
  { bytes, count: before }: RtuReceived,
  chunk: Uint8Array,
  atMs: number,
): RtuReceived => ({
  bytes: join(bytes, chunk),
  count: before + chunk.length,
  lastMs: atMs,
});
