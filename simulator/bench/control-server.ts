// The control port of the test bench: the commands of the prompt over HTTP on loopback, for scripts and tests, and a panel for a
// browser. It has no password, so it refuses requests of other web pages.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, errorKinds, messageOf } from '../../src/core/errors.ts';
import type { Bench } from './bench.ts';

export interface Control {
  readonly port: number;
  close(): Promise<void>;
}

const maxBodyBytes = 4096;
const host = '127.0.0.1';

/** Files of this port, no inline code, no frame. */
const panelPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The panel by path: the commands of the prompt as buttons, and the truth of the simulated hardware. It asks its own port only. */
const panelFiles: Readonly<Record<string, { readonly type: string; readonly files: readonly string[] }>> = {
  '/': { type: 'text/html; charset=utf-8', files: ['panel.html'] },
  '/panel.css': { type: 'text/css; charset=utf-8', files: ['report.css', 'panel.css'] },
  '/panel.js': { type: 'text/javascript; charset=utf-8', files: ['panel.js'] },
};
const readPage = (file: string): Buffer => readFileSync(new URL(`../pages/${file}`, import.meta.url));

function answer(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(text);
}

function answerError(response: ServerResponse, thrown: unknown): void {
  const error = thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
  const { code, message, hint } = error;
  answer(response, errorKinds[code].status, {
    error: { code, message, ...(hint === undefined ? {} : { hint }) },
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new AppError('usage', `A command has at most ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isJson(request: IncomingMessage): boolean {
  return request.headers['content-type']?.startsWith('application/json') ?? false;
}

/** `ignition on` as text, or `{"command": "ignition on"}` as JSON. */
function parseCommand(body: string, asJson: boolean): string {
  if (!asJson) return body;
  try {
    const value: unknown = JSON.parse(body);
    if (
      typeof value === 'object' &&
      value !== null &&
      'command' in value &&
      typeof value.command === 'string'
    ) {
      return value.command;
    }
  } catch (error) {
    throw new AppError('malformed_json', `The body is not JSON: ${messageOf(error)}`);
  }
  throw new AppError('usage', 'The JSON form is {"command": "ignition on"}');
}

/** A browser sends the Origin of its page, or a Host that a page made point to this machine; scripts send neither. */
function isFromOtherPage({ headers }: IncomingMessage): boolean {
  const { host: asked = '', origin } = headers;
  const name = asked.replace(/:\d+$/, '');
  return (origin !== undefined && origin !== `http://${asked}`) || (name !== host && name !== 'localhost');
}

function sendPanel(response: ServerResponse, path: string): void {
  const { type = '', files = [] } = panelFiles[path] ?? {};
  response.writeHead(200, {
    'content-type': type,
    'content-security-policy': panelPolicy,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  response.end(Buffer.concat(files.map(readPage)));
}

async function respond(bench: Bench, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url } = request;
  if (isFromOtherPage(request))
    throw new AppError(
      'usage',
      'The control port serves no web page but its own, on 127.0.0.1 and localhost',
    );
  const readers: Readonly<Record<string, () => void>> = {
    '/state': () => answer(response, 200, bench.state()),
    '/log': () => answer(response, 200, bench.relayLog()),
    ...Object.fromEntries(Object.keys(panelFiles).map((path) => [path, () => sendPanel(response, path)])),
  };
  const reader = Object.hasOwn(readers, url ?? '') ? readers[url ?? ''] : undefined;
  if (reader === undefined && url !== '/command') {
    throw new AppError(
      'not_found',
      `There is no ${url}; there is the panel at /, GET /state, GET /log and POST /command`,
    );
  }
  const allowed = reader === undefined ? 'POST' : 'GET';
  if (method !== allowed) {
    response.setHeader('allow', allowed);
    throw new AppError('method_not_allowed', `${url} takes ${allowed} and not ${method}`);
  }
  if (reader !== undefined) {
    reader();
    return;
  }
  const said = await bench.run(parseCommand(await readBody(request), isJson(request)));
  answer(response, 200, { said, state: bench.state() });
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint = 'Choose another one with --control-port, or 0 for any';
      const isTaken = error.code === 'EADDRINUSE';
      fail(
        isTaken
          ? new AppError('port_in_use', `Control port ${port} is taken`, { hint })
          : new AppError('unavailable', `The control port ${port} cannot be opened: ${error.message}`, {
              hint,
            }),
      );
    });
    server.listen(port, host, () => done((server.address() as AddressInfo).port));
  });
}

/** Listens on 127.0.0.1; port 0 takes any free one. Rejects with AppError `port_in_use`. */
export async function createControl(bench: Bench, port: number): Promise<Control> {
  const server = createServer((request, response) => {
    respond(bench, request, response).catch((error: unknown) => answerError(response, error));
  });
  server.requestTimeout = 10_000;
  server.maxConnections = 32;
  const actual = await listen(server, port);
  return {
    port: actual,
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
