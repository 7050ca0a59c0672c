// The Unix socket of a running simulation: one line of JSON in, one out, for the user of this process only (mode 0600). It never
// replaces the socket of another listener.
import { access, chmod, constants, lstat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { AppError, hintFrom, messageOf } from '../../src/core/errors.ts';

const limits = { lineBytes: 4096, connections: 8, patienceMs: 5000, answerBytes: 65_536 } as const;

export interface ControlSocket {
  close(): Promise<void>;
}

type Answer = (line: string) => unknown;

function answerOf(answer: Answer, line: string): string {
  try {
    return JSON.stringify({ ok: answer(line) });
  } catch (thrown) {
    const hint = hintFrom(thrown);
    return JSON.stringify({ error: { detail: messageOf(thrown), ...(hint === undefined ? {} : { hint }) } });
  }
}

function serve(socket: Socket, answer: Answer): void {
  let text = '';
  socket.setEncoding('utf8');
  socket.setTimeout(limits.patienceMs, () => socket.destroy());
  socket.on('error', () => undefined); // the client has disconnected
  socket.on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end >= 0) {
      socket.removeAllListeners('data');
      socket.end(`${answerOf(answer, text.slice(0, end))}\n`);
    } else if (text.length > limits.lineBytes) socket.destroy();
  });
}

/** Whether a process listens at the socket. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

/**
 * Removes a socket without a listener; leaves any other file alone.
 * @throws AppError `usage` when the path is taken.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const there = await lstat(path).catch(() => null);
  if (there === null) {
    await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
      throw new AppError('usage', `--ctl ${path} cannot be created: ${messageOf(cause)}`, { cause });
    });
    return;
  }
  if (!there.isSocket()) throw new AppError('usage', `--ctl ${path} is a file, not a socket`);
  if (await isAlive(path))
    throw new AppError('usage', `Another run listens at ${path}`, {
      hint: 'Use a different socket for each run.',
    });
  await unlink(path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (error) => fail(new AppError('usage', `--ctl ${path}: ${error.message}`)));
    server.listen(path, () => done());
  });
}

/** Listens. @throws AppError `usage` when the path cannot be used. */
export async function openControlSocket(path: string, answer: Answer): Promise<ControlSocket> {
  await removeStaleSocket(path);
  const server = createServer((socket) => serve(socket, answer));
  server.maxConnections = limits.connections;
  // The umask applies when the socket is created: at no moment may another user connect.
  const mask = process.umask(0o177);
  try {
    await listen(server, path);
  } finally {
    process.umask(mask);
  }
  await chmod(path, 0o600);
  return {
    close: () => new Promise((done) => server.close(() => done())),
  };
}

interface Reply {
  readonly ok?: unknown;
  readonly error?: { readonly detail: string; readonly hint?: string };
}

/** Sends a request to a running simulation. @throws AppError `unavailable` without a listener, `usage` when it refuses. */
export async function askControlSocket(path: string, request: unknown): Promise<unknown> {
  const line = await new Promise<string>((done, fail) => {
    let text = '';
    const socket = connect(path, () => socket.write(`${JSON.stringify(request)}\n`));
    socket.setEncoding('utf8');
    socket.setTimeout(limits.patienceMs, () => socket.destroy(new Error('no answer')));
    socket.on('data', (chunk: string) => {
      text = (text + chunk).slice(0, limits.answerBytes);
    });
    socket.once('error', (error) => {
      const hint = 'Start the run with --ctl and use the same path for both.';
      fail(new AppError('unavailable', `No simulation answers at ${path}: ${error.message}`, { hint }));
    });
    socket.once('end', () => done(text));
  });
  const reply = JSON.parse(line) as Reply;
  if (reply.error === undefined) return reply.ok;
  const { detail, hint } = reply.error;
  throw new AppError('usage', detail, hint === undefined ? {} : { hint });
}
