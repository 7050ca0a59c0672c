// Packets of MQTT 3.1.1 as bytes, for loads that would be the first to be saturated with a library.

export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
}

function withLength(type: number, body: Buffer): Buffer {
  const head = [type];
  let left = body.length;
  do {
    head.push((left & 127) | (left > 127 ? 128 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from(head), body]);
}

/** CONNECT (3.1) with a clean session, user name and password, and a long keep-alive. */
export function connectBytes(user: string, secret: string): Buffer {
  const head = Buffer.concat([text('MQTT'), Buffer.from([4, 0xc2, 0x01, 0x2c])]);
  return withLength(0x10, Buffer.concat([head, text(user), text(user), text(secret)]));
}

/** PUBLISH with QoS 1 (3.3). @param topic as `text` gives it. */
export function publishBytes(topic: Buffer, id: number, payload: Uint8Array): Buffer {
  const body = Buffer.concat([topic, Buffer.from([id >> 8, id & 255]), payload]);
  return withLength(0x32, body);
}
