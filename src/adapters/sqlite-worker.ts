// The database thread behind `openSqliteThreads`: one connection, requests in order. It holds no state of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, messageOf } from '../core/errors.ts';
import { connectSqlite, type ThreadOptions, type WorkerReply, type WorkerRequest } from './sqlite.ts';
import { stepBack } from './thread-priority.ts';

const { niceness, ...options } = workerData as ThreadOptions;
if (niceness !== undefined) stepBack(niceness);
const connection = connectSqlite(options);

function answer(request: WorkerRequest): WorkerReply {
  try {
    const result =
      request.kind === 'read' ? connection.readTable(request.statement) : connection.write(request.batch);
    return { id: request.id, ok: true, result };
  } catch (thrown) {
    const code = codeOf(thrown) || 'SQLITE_ERROR';
    return { id: request.id, ok: false, code, message: messageOf(thrown) };
  }
}

parentPort?.on('message', (request: WorkerRequest | 'close') => {
  if (request === 'close') {
    connection.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answer(request));
});
