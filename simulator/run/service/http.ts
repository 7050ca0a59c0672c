// HTTP requests over Node's own client, which takes a certificate authority: the broker's certificate is often signed by a private
// one. Answers are of bounded size.
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
  /** The whole body. Rejects beyond `mostBytes`; 64 MiB unless given. */
  text(mostBytes?: number): Promise<string>;
  /** The body as it arrives. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Http {
  /** Rejects with the error of the socket. */
  request(url: string, request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

const bodyMostBytes = 64 * 1024 * 1024;
const socketsMost = 64;

async function textOf(message: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`The answer is longer than ${mostBytes} bytes`);
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

/** @param ca PEM of the authority to trust; null: those of the system. */
export function createHttp(ca: string | null): Http {
  const options = { keepAlive: true, maxSockets: socketsMost };
  const plain = new PlainAgent(options);
  const tls = new TlsAgent({ ...options, ...(ca === null ? {} : { ca }) });
  return {
    request(url, { method, headers, payload, signal }) {
      const isTls = url.startsWith('https:');
      const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) };
      const given = { method, headers: { ...headers, ...length }, signal };
      return new Promise((done, fail) => {
        const handleAnswer = (message: IncomingMessage): void => done(answerOf(message));
        const request = isTls
          ? tlsRequest(url, { ...given, agent: tls }, handleAnswer)
          : plainRequest(url, { ...given, agent: plain }, handleAnswer);
        request.on('error', fail); // an error after the answer is reported by its body
        request.end(payload);
      });
    },
    close() {
      plain.destroy();
      tls.destroy();
    },
  };
}
