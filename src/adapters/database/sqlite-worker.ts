// The database thread behind `openSqliteThreads`: one connection, requests in order. It holds no state of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, hintFrom, messageOf } from '../../core/errors.ts';
import { lowerThreadPriority } from '../thread-priority.ts';
import { connectSqlite, type ThreadOptions, type WorkerReply, type WorkerRequest } from './sqlite.ts';
import type { Table } from './sqlite-reads.ts';

const { niceness, ...options } = workerData as ThreadOptions;
if (niceness !== undefined) lowerThreadPriority(niceness);
const connection = connectSqlite(options);

function answer(request: WorkerRequest): WorkerReply {
  try {
    const result =
      request.kind === 'read' ? connection.readTable(request.statement) : connection.write(request.batch);
    return { id: request.id, ok: true, result };
  } catch (thrown) {
    const code = codeOf(thrown) || 'SQLITE_ERROR';
    return { id: request.id, ok: false, code, message: messageOf(thrown), hint: hintFrom(thrown) };
  }
}

/** Texts pass to the other thread without a copy. */
function textsOf(request: WorkerRequest, reply: WorkerReply): readonly ArrayBuffer[] {
  if (request.kind !== 'read' || request.statement.form === undefined) return [];
  if (!reply.ok || Array.isArray(reply.result)) return [];
  const [values = []] = (reply.result as Table).values;
  return values.flatMap((value) => (value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []));
}

/** After so long, in ms, answers are handed over while further requests of their message are worked on. */
const togetherMs = 1;

parentPort?.on('message', (requests: readonly WorkerRequest[] | 'close') => {
  if (requests === 'close') {
    connection.close();
    parentPort?.close();
    return;
  }
  let replies: WorkerReply[] = [];
  let texts: ArrayBuffer[] = [];
  let sentMs = performance.now();
  const send = (): void => {
    parentPort?.postMessage(replies, texts);
    [replies, texts] = [[], []];
    sentMs = performance.now();
  };
  for (const request of requests) {
    const reply = answer(request);
    replies.push(reply);
    texts.push(...textsOf(request, reply));
    if (performance.now() - sentMs > togetherMs) send();
  }
  if (replies.length > 0) send();
});
