// The few MQTT 3.1.1 packets that a light tracker sends and reads, as bytes. Pure. Clause numbers are those of the OASIS standard.
// It must never be used by a vehicle that protects anything: it knows no subscriptions and no answers but the three below.

const text = new TextEncoder();

/** A text with its length in two bytes (1.5.3). */
function field(value: string | Uint8Array): number[] {
  const bytes = typeof value === 'string' ? text.encode(value) : value;
  return [bytes.length >> 8, bytes.length & 0xff, ...bytes];
}

/** Remaining length (2.2.3). */
function lengthOf(count: number): number[] {
  const bytes: number[] = [];
  let rest = count;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return bytes;
}

const packet = (first: number, body: readonly number[]): Uint8Array =>
  Uint8Array.from([first, ...lengthOf(body.length), ...body]);

/** CONNECT with a clean session, user name and password (3.1); the client id is the user name. */
export function connectBytes(login: {
  readonly user: string;
  readonly secret: string;
  readonly keepaliveS: number;
}): Uint8Array {
  const { user, secret, keepaliveS } = login;
  const cleanWithLogin = 0xc2;
  const head = [...field('MQTT'), 4, cleanWithLogin, keepaliveS >> 8, keepaliveS & 0xff];
  return packet(0x10, [...head, ...field(user), ...field(user), ...field(secret)]);
}

/** PUBLISH with QoS 1 (3.3). @param messageId 1 to 65535. */
export function publishBytes(topic: string, payload: Uint8Array, messageId: number): Uint8Array {
  const name = text.encode(topic);
  const count = 2 + name.length + 2 + payload.length;
  const length = lengthOf(count);
  const bytes = new Uint8Array(1 + length.length + count);
  bytes.set([0x32, ...length, name.length >> 8, name.length & 0xff]);
  let at = 1 + length.length + 2;
  bytes.set(name, at);
  at += name.length;
  bytes.set([messageId >> 8, messageId & 0xff], at);
  bytes.set(payload, at + 2);
  return bytes;
}

export const pingBytes = Uint8Array.from([0xc0, 0]);
export const disconnectBytes = Uint8Array.from([0xe0, 0]);

export type Answer =
  | { readonly kind: 'connack'; readonly returnCode: number }
  | { readonly kind: 'puback'; readonly messageId: number }
  | { readonly kind: 'pingresp' };

interface Read {
  readonly answers: readonly Answer[];
  /** Bytes of an answer that is not whole yet, at most 3. */
  readonly rest: Uint8Array;
}

/**
 * The answers in what came; every answer to a light tracker has two or four bytes.
 * @returns null for anything else: the connection is worth nothing then.
 */
export function readAnswers(rest: Uint8Array, chunk: Uint8Array): Read | null {
  const bytes = rest.length === 0 ? chunk : Uint8Array.from([...rest, ...chunk]);
  const answers: Answer[] = [];
  let at = 0;
  while (bytes.length - at >= 2) {
    const [first = 0, length = 0] = bytes.subarray(at, at + 2);
    if (length > 2) return null;
    if (bytes.length - at < 2 + length) break;
    const [high = 0, low = 0] = bytes.subarray(at + 2, at + 4);
    if (first === 0x20 && length === 2) answers.push({ kind: 'connack', returnCode: low });
    else if (first === 0x40 && length === 2) answers.push({ kind: 'puback', messageId: (high << 8) | low });
    else if (first === 0xd0 && length === 0) answers.push({ kind: 'pingresp' });
    else return null;
    at += 2 + length;
  }
  return { answers, rest: bytes.slice(at) };
}
