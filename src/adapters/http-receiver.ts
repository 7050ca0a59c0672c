// A small HTTP server on this machine that takes what others send it, such as webhooks.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Its body, as UTF-8. */
  readonly text: string;
}

export interface HttpReceiver {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string;
  close(): void;
}

const host = '127.0.0.1';
const bodyMost = 65_536;

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > bodyMost) throw new Error(`A request is longer than ${bodyMost} characters`);
  }
  return text;
}

/**
 * Listens on a free port.
 * @param take called with each request; gives the status of the answer. Where it throws, or a body is too long, the connection ends.
 */
export async function openHttpReceiver(take: (request: ReceivedRequest) => number): Promise<HttpReceiver> {
  const server = createServer((request, answer) => {
    const handle = async (): Promise<void> => {
      const text = await bodyOf(request);
      answer.writeHead(take({ headers: request.headers, text })).end();
    };
    handle().catch(() => answer.destroy());
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, host, done);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
