// HTTP/1.1 over a Unix socket, both ends, on node:http. The server must listen only on a path of this machine. It
// must never remove another kind of file, nor a socket in use. Slow or oversized requests are cut off.
import { chmodSync, lstatSync, rmSync, type Stats, statSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createConnection } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import { type ListenLocally, type LocalAnswer, socketLimits } from './local-socket.ts';

/** Time for a listener to accept a connection on the same machine. */
const probeMs = 1000;

function isListenedTo(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    const end = (answer: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    // A listener that does not answer may be busy: it counts as present.
    const timer = setTimeout(() => end(true), probeMs);
    socket.once('connect', () => end(true));
    socket.once('error', (error) => end(codeOf(error) !== 'ECONNREFUSED' && codeOf(error) !== 'ENOENT'));
  });
}

function existing(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null;
    throw new AppError('config', `Cannot look at ${path}: ${messageOf(thrown)}`, {
      hint: 'Check the rights on its folder, or name another path in local.socket.',
    });
  }
}

/** Removes what a killed process left behind. @throws AppError `config`, `port_in_use`. */
async function removeStaleSocket(path: string): Promise<void> {
  if (!isAbsolute(path))
    throw new AppError('config', `${path} is not an absolute path of this machine`, {
      hint: 'Name a path that begins with / in local.socket, or "" for none.',
    });
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (folder === undefined)
    throw new AppError('config', `The folder ${dirname(path)} does not exist`, {
      hint: 'The service makes /run/fleetward-agent by itself; elsewhere name another path in local.socket, or "" for none.',
    });
  const isForAll = (folder.mode & 0o002) !== 0 && (folder.mode & 0o1000) === 0;
  if (isForAll)
    throw new AppError('config', `All users can replace files in ${dirname(path)}`, {
      hint: 'Take the write permission of others from that folder, or name another path in local.socket.',
    });
  const found = existing(path);
  if (found === null) return;
  if (!found.isSocket())
    throw new AppError('config', `${path} exists and is not a socket: it is left unchanged`, {
      hint: 'Move that file away, or name another path in local.socket.',
    });
  if (await isListenedTo(path))
    throw new AppError('port_in_use', `Another process listens on ${path}`, {
      hint: 'Stop the other agent (systemctl status fleetward-agent), or name another path in local.socket.',
    });
  rmSync(path, { force: true });
}

/** The body as text; null when it is longer than allowed or not UTF-8. Rejects when the sender goes away. */
function readBody(incoming: IncomingMessage): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= socketLimits.bodyBytes) return void chunks.push(chunk);
      // The rest is not read: the answer ends the connection.
      incoming.pause();
      resolve(null);
    });
    incoming.once('error', reject);
    incoming.once('close', () => reject(new Error('the sender went away')));
    incoming.once('end', () => {
      try {
        resolve(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
      } catch {
        resolve(null);
      }
    });
  });
}

function send(outgoing: ServerResponse, { status, contentType, body, allow }: LocalAnswer): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, {
    'content-type': contentType,
    'content-length': bytes.length,
    'cache-control': 'no-store',
    connection: 'close',
    ...(allow === undefined ? {} : { allow }),
  });
  outgoing.end(bytes);
}

const tooLong: LocalAnswer = {
  status: 413,
  contentType: 'application/json',
  body: `{"error":{"detail":"the body is longer than ${socketLimits.bodyBytes} bytes, or no text"}}\n`,
};
const failed: LocalAnswer = {
  status: 500,
  contentType: 'application/json',
  body: '{"error":{"detail":"a fault of ours"}}\n',
};

/** Listens on `path` with mode 0660. Rejects with an AppError when it cannot. */
export const listenOnUnixSocket: ListenLocally = async (path, answer) => {
  await removeStaleSocket(path);
  const { requestMs, connections } = socketLimits;
  const server = createServer({
    maxHeaderSize: 8192,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: 1000,
    keepAlive: false,
  });
  server.maxConnections = connections;
  server.setTimeout(2 * requestMs, (socket) => socket.destroy());
  server.on('clientError', (_error, socket) => void socket.destroy());
  server.on('request', (incoming, outgoing) => {
    const serve = async (): Promise<void> => {
      const body = await readBody(incoming);
      if (body === null) return send(outgoing, tooLong);
      const [target = ''] = (incoming.url ?? '').split('?', 1);
      send(outgoing, await answer({ method: incoming.method ?? '', path: target, body }));
    };
    serve().catch(() => send(outgoing, failed));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new AppError('config', `Cannot listen on ${path}: ${messageOf(error)}`, {
          hint: 'Check the rights on its folder, or name another path in local.socket.',
        }),
      ),
    );
    server.listen({ path }, resolve);
  });
  // Until here the umask of the program kept other users out.
  chmodSync(path, 0o660);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export interface LocalReply {
  readonly status: number;
  readonly body: string;
}

const replyMostBytes = 1024 * 1024;
const agentHint =
  'See journalctl -u fleetward-agent for what it waits for; it restarts by itself when it hangs.';

/**
 * One request to the listener on `path`.
 * @throws AppError `serial` (exit code 69) without a listener, `forbidden` without permission, `unavailable`
 * without an answer within 10 s.
 */
export function askUnixSocket(
  path: string,
  asked: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string },
): Promise<LocalReply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath: path,
      method: asked.method,
      path: asked.path,
      timeout: 2 * socketLimits.requestMs,
      agent: false,
      ...(asked.body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    });
    outgoing.once('timeout', () =>
      outgoing.destroy(
        new AppError(
          'unavailable',
          `No answer from ${path} within ${(2 * socketLimits.requestMs) / 1000} s`,
          { hint: agentHint },
        ),
      ),
    );
    outgoing.once('error', (thrown) => reject(thrown instanceof AppError ? thrown : refusal(path, thrown)));
    outgoing.once('response', (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > replyMostBytes)
          return void outgoing.destroy(
            new AppError('unavailable', `The answer of ${path} is longer than ${replyMostBytes} bytes`, {
              hint: 'The listener is no agent of this version: compare fleetward-agent version with the package.',
            }),
          );
        chunks.push(chunk);
      });
      incoming.once('error', (thrown) => reject(refusal(path, thrown)));
      incoming.once('end', () =>
        resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    outgoing.end(asked.body);
  });
}

function refusal(path: string, thrown: unknown): AppError {
  const code = codeOf(thrown);
  if (code === 'EACCES' || code === 'EPERM')
    return new AppError('forbidden', `This user may not connect to the agent at ${path}`, {
      hint: 'Use sudo, or add the user to the group fleetward-agent and log in again.',
    });
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTSOCK')
    return new AppError('serial', `The agent does not run: no listener on ${path}`, {
      hint: 'See systemctl status fleetward-agent; `fleetward-agent doctor` finds the cause.',
    });
  return new AppError('unavailable', `The agent at ${path} does not answer: ${messageOf(thrown)}`, {
    hint: agentHint,
  });
}
