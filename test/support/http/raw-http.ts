// An HTTP/1.1 connection as bytes: requests leave when and how a test says, pipelined too, and answers are read in order.
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly token: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The request as it stands on the wire. */
export function requestText({ method = 'POST', path, token, body, headers = {} }: RawRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${token}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** One answer with a length at the start of the bytes, and what follows it; null while it is not complete. */
function readAnswer(bytes: Buffer): { readonly answer: RawAnswer; readonly rest: Buffer } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.subarray(0, end).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (bytes.length < end + 4 + length) return null;
  const text = bytes.subarray(end + 4, end + 4 + length).toString();
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
  return { answer: { status, json }, rest: bytes.subarray(end + 4 + length) };
}

export interface RawConnection {
  readonly socket: Socket;
  send(text: string): void;
  /** The next answer. */
  next(): Promise<RawAnswer>;
  close(): void;
}

/** Opens a connection to this machine. */
export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let bytes: Buffer = Buffer.alloc(0);
  const answers: RawAnswer[] = [];
  const waiting: { readonly give: (answer: RawAnswer) => void; readonly fail: (why: Error) => void }[] = [];
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let found = readAnswer(bytes); found !== null; found = readAnswer(bytes)) {
      bytes = found.rest;
      const first = waiting.shift();
      if (first === undefined) answers.push(found.answer);
      else first.give(found.answer);
    }
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    for (const { fail } of waiting.splice(0)) fail(new Error('the connection ended'));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('error', reject);
  });
  return {
    socket,
    send: (text) => void socket.write(text),
    next: () =>
      new Promise((give, fail) => {
        const first = answers.shift();
        if (first !== undefined) give(first);
        else if (socket.destroyed) fail(new Error('the connection ended'));
        else waiting.push({ give, fail });
      }),
    close: () => void socket.destroy(),
  };
}
