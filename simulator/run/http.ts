// HTTP requests of the simulator over Node's own client, because it takes an authority to trust: the broker's certificate is often
// of a private one. It trusts nobody that it was not told to, and holds no answer beyond its bound.
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | null;
  /** The whole body. Rejects beyond so many bytes; 64 MiB unless given. */
  text(mostBytes?: number): Promise<string>;
  /** The body while it comes. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Http {
  /** Rejects with what the socket says. */
  ask(url: string, request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

const bodyMostBytes = 64 * 1024 * 1024;
const socketsMost = 64;

async function textOf(message: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`the answer is too long: more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function answerOf(message: IncomingMessage): HttpAnswer {
  return {
    status: message.statusCode ?? 0,
    header(name) {
      const value = message.headers[name];
      return typeof value === 'string' ? value : null;
    },
    text: (mostBytes = bodyMostBytes) => textOf(message, mostBytes),
    body: message,
  };
}

/** @param ca PEM of the authority to trust; null: the system's list. */
export function createHttp(ca: string | null): Http {
  const options = { keepAlive: true, maxSockets: socketsMost };
  const plain = new PlainAgent(options);
  const tls = new TlsAgent({ ...options, ...(ca === null ? {} : { ca }) });
  return {
    ask(url, { method, headers, payload, signal }) {
      const isTls = url.startsWith('https:');
      const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) };
      const given = { method, headers: { ...headers, ...length }, signal };
      return new Promise((done, fail) => {
        const taken = (message: IncomingMessage): void => done(answerOf(message));
        const asked = isTls
          ? tlsRequest(url, { ...given, agent: tls }, taken)
          : plainRequest(url, { ...given, agent: plain }, taken);
        asked.on('error', fail); // one may follow the answer: whoever reads the body hears of it
        asked.end(payload);
      });
    },
    close() {
      plain.destroy();
      tls.destroy();
    },
  };
}
