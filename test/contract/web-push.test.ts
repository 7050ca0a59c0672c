// Web Push against the published example of RFC 8291, and against a push service and browser of our own making that share no
// code with the product; outgoing posts against hostile names and servers.
import {
  createDecipheriv,
  createECDH,
  createHmac,
  createPublicKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedPost, type Resolved } from '../../broker/adapters/delivery/guarded-post.ts';
import {
  generateVapidKey,
  loadVapidKey,
  vapidHeader,
  vapidKeyOf,
} from '../../broker/adapters/delivery/vapid.ts';
import { createPushSender } from '../../broker/adapters/delivery/web-push.ts';
import { encryptMessage } from '../../broker/adapters/delivery/web-push-encryption.ts';
import { createWebhookSender } from '../../broker/adapters/delivery/webhook.ts';
import { collectGarbage } from '../support/machine/garbage.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A receiver on loopback with configurable answers. */
async function startReceiver(answer: { status: number; headers?: Record<string, string>; body?: string }) {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    answer,
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeEach(async () => {
  receiver = await startReceiver({ status: 201 });
});
afterEach(() => receiver.close());

const loopback = async (): Promise<readonly Resolved[]> => [{ address: '127.0.0.1', family: 4 }];

/** A browser: keys of its own and RFC 8291 from the other side, with HKDF instead of the two HMAC steps. */
function createBrowser() {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys();
  const auth = randomBytes(16);
  return {
    p256dh: publicKey.toString('base64url'),
    auth: auth.toString('base64url'),
    decrypt(message: Buffer): string {
      const salt = message.subarray(0, 16);
      expect(message.readUInt32BE(16)).toBe(4096);
      const keyEnd = 21 + message.readUInt8(20);
      const theirKey = message.subarray(21, keyEnd);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, theirKey]);
      const inputKey = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(theirKey), auth, info, 32));
      const key = Buffer.from(hkdfSync('sha256', inputKey, salt, 'Content-Encoding: aes128gcm\0', 16));
      const nonce = Buffer.from(hkdfSync('sha256', inputKey, salt, 'Content-Encoding: nonce\0', 12));
      const decipher = createDecipheriv('aes-128-gcm', key, nonce);
      decipher.setAuthTag(message.subarray(-16));
      const plain = Buffer.concat([decipher.update(message.subarray(keyEnd, -16)), decipher.final()]);
      expect(plain.at(-1)).toBe(2);
      return plain.subarray(0, -1).toString();
    },
  };
}

describe('a push message', () => {
  it('is that of RFC 8291 section 5, byte for byte', () => {
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'));
    const message = encryptMessage(
      Buffer.from('When I grow up, I want to be a watermelon'),
      {
        p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
      { ecdh, salt: bytes('DGv6ra1nlYgDCS1FRnbzlw') },
    );
    expect(message.toString('base64url')).toBe(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    );
  });

  it('is read by the browser only, and is never the same twice', () => {
    const browser = createBrowser();
    const plain = Buffer.from('{"deviceID":"truck-17"}');
    const one = encryptMessage(plain, browser);
    const other = encryptMessage(plain, browser);
    expect([browser.decrypt(one), browser.decrypt(other)]).toEqual([plain.toString(), plain.toString()]);
    expect(one.equals(other)).toBe(false);
    expect(() => createBrowser().decrypt(one)).toThrow();
    expect(browser.decrypt(encryptMessage(Buffer.alloc(3993), browser))).toHaveLength(3993);
    expect(() => encryptMessage(Buffer.alloc(3994), browser)).toThrow('longer than');
  });
});

/** Checks a VAPID header as a push service does (RFC 8292 section 4.2); gives its claims. */
function checkVapid(header: string | undefined): Record<string, unknown> {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(header ?? '') ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = bytes(key);
  const [x = '', y = ''] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  );
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const good = verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes(signature));
  expect([good, JSON.parse(bytes(head).toString())]).toEqual([true, { typ: 'JWT', alg: 'ES256' }]);
  return JSON.parse(bytes(claims).toString()) as Record<string, unknown>;
}

describe('a push service', () => {
  const key = vapidKeyOf(generateVapidKey());
  const http = createGuardedPost({ allowsPrivate: true, resolve: loopback });
  const push = createPushSender({ http, key, contact: 'mailto:ops@example.com' });
  const browser = createBrowser();
  const message = () => ({
    endpoint: `${receiver.url}/push/1`,
    p256dh: browser.p256dh,
    auth: browser.auth,
    body: '{"statusCode":63553}',
    topic: 'n1',
    isUrgent: true,
    nowS: 1_763_683_200,
  });

  it('gets an encrypted message signed for it alone', async () => {
    expect(await push(message())).toEqual({ kind: 'sent' });
    const [{ headers, body, path } = { headers: {}, body: Buffer.alloc(0), path: '' }] = receiver.received;
    expect(path).toBe('/push/1');
    expect(headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: '86400',
      urgency: 'high',
      topic: 'n1',
    });
    expect(browser.decrypt(body)).toBe('{"statusCode":63553}');
    expect(checkVapid(headers.authorization)).toEqual({
      aud: receiver.url,
      exp: 1_763_683_200 + 12 * 3600,
      sub: 'mailto:ops@example.com',
    });
  });

  it('that answers 404 or 410 ends the registration; anything else is tried again', async () => {
    for (const [status, kind] of [
      [404, 'gone'],
      [410, 'gone'],
      [400, 'failed'],
      [413, 'failed'],
      [429, 'failed'],
      [500, 'failed'],
    ] as const) {
      receiver.answer.status = status;
      expect([status, (await push(message())).kind]).toEqual([status, kind]);
    }
    receiver.answer.status = 429;
    receiver.answer.headers = { 'retry-after': '120' };
    expect(await push(message())).toEqual({ kind: 'failed', fault: 'answered 429', retryAfterS: 120 });
  });

  it('is not asked with keys that are none', async () => {
    for (const p256dh of ['', 'AAAA', Buffer.alloc(65, 4).toString('base64url')]) {
      expect(await push({ ...message(), p256dh })).toMatchObject({ kind: 'gone' });
    }
    expect(receiver.received).toEqual([]);
  });
});

describe('the key of Web Push', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vapid-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made once, for the owner only, and stays', () => {
    const path = join(folder, 'vapid.pem');
    const made = loadVapidKey(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(bytes(made.publicKey)).toHaveLength(65);
    expect(loadVapidKey(path).publicKey).toBe(made.publicKey);
    const header = vapidHeader(made, { endpoint: 'https://push.example.com/x', contact: null, nowS: 1 });
    expect(checkVapid(header)).toEqual({ aud: 'https://push.example.com', exp: 1 + 12 * 3600 });
  });

  it('is refused when others may read it, or when it is another kind of key', () => {
    const path = join(folder, 'open.pem');
    writeFileSync(path, generateVapidKey(), { mode: 0o644 });
    expect(() => loadVapidKey(path)).toThrow('others may read it');
    const wrong = join(folder, 'wrong.pem');
    writeFileSync(wrong, 'no key', { mode: 0o600 });
    expect(() => loadVapidKey(wrong)).toThrow(wrong);
    expect(readFileSync(wrong, 'utf8')).toBe('no key');
    expect(() => loadVapidKey(join(folder, 'no', 'such.pem'))).toThrow('no/such.pem');
  });
});

describe('a webhook', () => {
  const call = (url: string) => ({
    url,
    secret: 'the secret',
    id: '4711-night-watch',
    timestampS: 1_763_683_200,
    body: '{"deviceID":"truck-17","name":"é"}',
  });
  const open = createWebhookSender(createGuardedPost({ allowsPrivate: true, resolve: loopback }));

  it('is signed so that the receiver can verify it', async () => {
    expect(await open(call(`${receiver.url}/hook?a=b`))).toEqual({ kind: 'sent' });
    const [{ headers, body, path } = { headers: {}, body: Buffer.alloc(0), path: '' }] = receiver.received;
    expect([path, body.toString(), headers['content-type']]).toEqual([
      '/hook?a=b',
      '{"deviceID":"truck-17","name":"é"}',
      'application/json',
    ]);
    // As the documentation of `updateRule` shows it.
    const timestamp = String(headers['fleetward-timestamp']);
    const mac = createHmac('sha256', 'the secret').update(`${timestamp}.`).update(body).digest();
    const sent = Buffer.from(String(headers['fleetward-signature']).slice('v1='.length), 'hex');
    expect([timestamp, headers['fleetward-id'], timingSafeEqual(sent, mac)]).toEqual([
      '1763683200',
      '4711-night-watch',
      true,
    ]);
  });

  it('is taken by any 2xx, however long the answer; redirects are not followed', async () => {
    receiver.answer.status = 204;
    expect(await open(call(receiver.url))).toEqual({ kind: 'sent' });
    Object.assign(receiver.answer, { status: 200, body: 'x'.repeat(5_000_000) });
    expect(await open(call(receiver.url))).toEqual({ kind: 'sent' });
    Object.assign(receiver.answer, {
      status: 302,
      headers: { location: `${receiver.url}/elsewhere` },
      body: '',
    });
    expect(await open(call(receiver.url))).toEqual({ kind: 'failed', fault: 'answered 302' });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/', '/', '/']);
  });

  it('that switches protocols, disconnects or sends garbage fails and frees its slot', async () => {
    const answers = [
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2\r\n',
      '',
    ];
    for (const answer of answers) {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => void socket.end(answer));
      });
      onTestFinished(() => void server.close());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      expect([answer, await open(call(`http://127.0.0.1:${port}/`))]).toMatchObject([
        answer,
        { kind: 'failed' },
      ]);
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('that cannot be reached fails without revealing its address', async () => {
    const { port } = receiver;
    await receiver.close();
    expect(await open(call(`http://127.0.0.1:${port}/secret`))).toEqual({
      kind: 'failed',
      fault: 'unreachable ECONNREFUSED',
    });
    receiver = await startReceiver({ status: 201 });
  });

  it('whose receiver never ends its answer is given up, also when garbage is collected meanwhile', async () => {
    const sendTo = async (answer: string): Promise<unknown> => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => void socket.write(answer));
      });
      onTestFinished(() => void server.close());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return open(call(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    };
    const collecting = setInterval(collectGarbage, 500);
    onTestFinished(() => clearInterval(collecting));
    const answers = ['', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'];
    const givenUp = { kind: 'failed', fault: 'no_answer 10' };
    expect(await Promise.all(answers.map(sendTo))).toEqual([givenUp, givenUp]);
  });

  it('ends at once when the service stops', async () => {
    const http = createGuardedPost({ allowsPrivate: true, resolve: loopback });
    const silent = createServer(() => http.close());
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const sending = createWebhookSender(http)(
      call(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`),
    );
    expect(await sending).toMatchObject({ kind: 'failed' });
  });
});

describe('a guarded post', () => {
  const guarded = (answers: readonly (readonly Resolved[])[]) => {
    const asked: string[] = [];
    const http = createGuardedPost({
      allowsPrivate: false,
      resolve: async (name) => {
        asked.push(name);
        return answers[asked.length - 1] ?? [];
      },
    });
    const post = (url: string) => http.post({ url, headers: {}, body: Buffer.from('{}') });
    return { asked, post };
  };
  const home: Resolved = { address: '127.0.0.1', family: 4 };
  const refused = { status: null, fault: 'private_address' };

  it('connects to no private address, whatever name resolves to it', async () => {
    const url = `https://hooks.example.com:${receiver.port}/`;
    expect(await guarded([[home]]).post(url)).toEqual(refused);
    expect(await guarded([[{ address: '8.8.8.8', family: 4 }, home]]).post(url)).toEqual(refused);
    expect(await guarded([[{ address: '::ffff:127.0.0.1', family: 6 }]]).post(url)).toEqual(refused);
    expect(await guarded([[]]).post(url)).toEqual({ status: null, fault: 'no_address' });
    expect(receiver.received).toEqual([]);
  });

  it('asks anew for each connection, and once: a name that was public a moment ago is judged again', async () => {
    const { asked, post } = guarded([[{ address: '192.0.2.1', family: 4 }], [home]]);
    expect(await post('https://rebind.example.com/')).toEqual(refused);
    expect(await post(`https://rebind.example.com:${receiver.port}/`)).toEqual(refused);
    expect(asked).toEqual(['rebind.example.com', 'rebind.example.com']);
    expect(receiver.received).toEqual([]);
  });

  it('goes to no private address that is written as one, and not without TLS', async () => {
    const { asked, post } = guarded([]);
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::1]',
      '[::ffff:7f00:1]',
      '169.254.169.254',
    ]) {
      expect([host, await post(`https://${host}:${receiver.port}/`)]).toEqual([
        host,
        { status: null, fault: 'private_address' },
      ]);
    }
    expect(await post('http://hooks.example.com/')).toEqual({
      status: null,
      fault: 'not_https',
    });
    expect([asked, receiver.received]).toEqual([[], []]);
  });
});
