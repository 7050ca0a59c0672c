// `fleetward-agent status`, `messages` and `service-code`: requests to a running agent over its local socket. They
// decide nothing, and never show or keep a code.
import { AppError } from '../../src/core/errors.ts';
import { messageTextMost } from '../../src/core/wire/wire.ts';
import { standardSocket } from '../config.ts';
import type { AgentFacts } from '../core/status/agent-facts.ts';
import type { ReleaseAdvice } from '../core/status/release-advice.ts';
import { formatStatus, isDegraded, statusLines } from '../core/status/status-text.ts';
import { type Flags, loadSettings, type Output } from './settings-file.ts';

/** One request to the socket. Rejects with an AppError when there is no listener. */
export type AskAgent = (
  socket: string,
  asked: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string },
) => Promise<{ readonly status: number; readonly body: string }>;

/**
 * From `--socket`, else the configuration, else the default: a user of the socket need not be able to read the
 * file.
 */
export function socketOf(flags: Flags): string {
  const given = flags['socket'];
  if (typeof given === 'string') return given;
  let socket: string;
  try {
    socket = loadSettings(flags).value.local.socket;
  } catch {
    return standardSocket;
  }
  if (socket !== '') return socket;
  throw new AppError('config', 'This vehicle has no local socket (local.socket is empty)', {
    hint: 'Name one in agent.toml and restart the agent.',
  });
}

/**
 * The answer as JSON.
 * @throws AppError with the agent's reason when it refuses.
 */
async function call<T>(ask: AskAgent, socket: string, asked: Parameters<AskAgent>[1]): Promise<T> {
  const { status, body } = await ask(socket, asked);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new AppError('unavailable', `The listener on ${socket} is not an agent`, {
      hint: 'Give the path of local.socket with --socket, and see which program listens there (ss -xlp).',
    });
  }
  if (status === 200) return value as T;
  const { error } = value as { error?: { detail?: string; hint?: string } };
  const { detail = `answer ${status}`, hint } = error ?? {};
  throw new AppError(
    status === 503 ? 'unavailable' : 'invalid_content',
    detail,
    hint === undefined ? {} : { hint },
  );
}

/**
 * The full status of a running agent.
 * @throws AppError `serial` (exit code 69) when none runs.
 */
export const askStatus = (ask: AskAgent, socket: string): Promise<AgentFacts> =>
  call(ask, socket, { method: 'GET', path: '/status' });

/** The same; null when none runs. */
export async function askIfRunning(ask: AskAgent, socket: string): Promise<AgentFacts | null> {
  try {
    return await askStatus(ask, socket);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'serial') return null;
    throw thrown;
  }
}

interface StatusIo {
  readonly ask: AskAgent;
  /** Version of this program; after an update another release runs. */
  readonly packaged: string;
  /** What the supplier's list says of a release; read anew each time. */
  advise(version: string): ReleaseAdvice;
  print(output: Output): void;
  /** Clears the screen of a terminal; nothing elsewhere. */
  clear(): void;
  pause(ms: number): Promise<void>;
  isStopped(): boolean;
}

const watchMs = 2000;

/**
 * Prints the state once, or every two seconds until it is stopped.
 * @returns 0 when all works, 1 when something does not. @throws AppError `serial` (69) when no agent runs.
 */
export async function showStatus(flags: Flags, io: StatusIo): Promise<0 | 1> {
  const socket = socketOf(flags);
  for (;;) {
    const facts = await askStatus(io.ask, socket);
    if (flags['watch'] === true) io.clear();
    const advice = io.advise(facts.version);
    io.print({
      json: { ...facts, packaged: io.packaged, release: advice.json },
      text: formatStatus(facts, io.packaged, advice.lines),
    });
    const isBad = isDegraded(statusLines(facts));
    if (flags['watch'] === true) await io.pause(watchMs);
    if (flags['watch'] !== true || io.isStopped()) return isBad ? 1 : 0;
  }
}

/** Messages of operators to the vehicle, newest last. */
export async function listMessages(flags: Flags, ask: AskAgent): Promise<Output> {
  const answer = await call<Pick<AgentFacts, 'messages'>>(ask, socketOf(flags), {
    method: 'GET',
    path: '/messages',
  });
  const lines = answer.messages.map(({ sentMs, from, text }) => {
    const at = new Date(sentMs).toISOString().slice(0, 16).replace('T', ' ');
    // A message comes from outside: it must not steer the terminal.
    return `${at} UTC  ${from}: ${text.replace(/[^\P{Cc}\n]/gu, ' ')}`;
  });
  return { json: answer, text: lines.length === 0 ? 'no messages' : lines.join('\n') };
}

/** Sends the driver's answer. @throws AppError `unavailable` while the disk does not take it. */
export async function sendMessage(flags: Flags, ask: AskAgent): Promise<Output> {
  const text = String(flags['text']);
  if (text.trim() === '' || text.length > messageTextMost)
    throw new AppError('usage', `A message has 1 to ${messageTextMost} characters, not ${text.length}`, {
      hint: 'Shorten it, or send it in parts.',
    });
  await call(ask, socketOf(flags), { method: 'POST', path: '/messages', body: JSON.stringify({ text }) });
  return { json: { stored: true }, text: 'stored; it leaves with the next connection' };
}

/**
 * Sends a one-time code to the agent; a right one restores the engine.
 * @returns 0 when it was right, 1 when not.
 */
export async function enterServiceCode(
  flags: Flags,
  io: { readonly ask: AskAgent; readonly code: string; print(output: Output): void },
): Promise<0 | 1> {
  const code = io.code.replace(/[\s-]/g, '');
  const body = JSON.stringify({ code });
  const answer = await call<{ right: boolean; words: string }>(io.ask, socketOf(flags), {
    method: 'POST',
    path: '/service-code',
    body,
  });
  io.print({ json: answer, text: answer.words });
  return answer.right ? 0 : 1;
}
