// Removes the adapter's copy of the request from the received bytes (RS485 adapters without echo suppression). Pure.
// An echo must never stay in place of a write's answer: the answer to FC05 and FC06 equals its request, byte for
// byte, and the echo would confirm a write that no board has received.
import { decodeResponse, expectedLength, isWrite } from './modbus-frame.ts';
import type { RtuExchange, RtuMasterOptions } from './rtu-types.ts';

interface EchoKnowledge {
  readonly mode: RtuMasterOptions['echo'];
  /** Whether the adapter echoes, as far as is known. */
  readonly hasEcho: boolean;
}

interface Stripped {
  readonly body: Uint8Array | 'incomplete' | 'wrong';
  readonly hasEcho: boolean;
}

/**
 * The bytes after the echo, if there is one. With `auto` reads distinguish echo and answer (the third byte is the
 * address in one and the length in the other) and always come first; from then on writes wait for the second copy.
 */
export function stripEcho(exchange: RtuExchange, bytes: Uint8Array, knowledge: EchoKnowledge): Stripped {
  const { sent } = exchange;
  const { request } = exchange.job;
  const { mode, hasEcho } = knowledge;
  if (mode === 'off') return { body: bytes, hasEcho: false };
  const isEcho = bytes.every((byte, at) => at >= sent.length || byte === sent[at]);
  const isAmbiguous = isWrite(request) || mode === 'on' || sent[2] === expectedLength(request) - 5;
  if (isAmbiguous && !hasEcho) return { body: bytes, hasEcho };
  if (isEcho) {
    const isWhole = bytes.length >= sent.length;
    return isWhole ? { body: bytes.subarray(sent.length), hasEcho: true } : { body: 'incomplete', hasEcho };
  }
  if (isAmbiguous) return { body: 'wrong', hasEcho };
  // An answer without an echo before it: this adapter has none (any more).
  return { body: bytes, hasEcho: hasEcho && decodeResponse(request, bytes).kind !== 'ok' };
}
