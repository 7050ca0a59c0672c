// Loaded into a child process before its program (`node --import`): ends it at once when its parent has died, however busy the
// child is. A thread of its own waits for the end of the pipe that the parent holds at descriptor 3; the kernel closes it with
// the parent. It writes nothing and reads nothing else.
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const pipeFd = 3;
const isWatcher = 'end with the parent';

/** Options of node that load this file into a child. */
export const endWithParentArgs: readonly string[] = ['--import', import.meta.url];

/** Keeps the pipe to a child as long as this process lives, and no longer; descriptor 3 of the child must be a pipe. */
export function holdPipe({ stdio }: Pick<ChildProcess, 'stdio'>): void {
  const pipe = stdio[pipeFd];
  pipe?.on('error', () => undefined); // the child has ended
  if (pipe instanceof Socket) pipe.unref();
}

function watch(): void {
  const pipe = new Socket({ fd: pipeFd, readable: true, writable: false });
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  pipe.on('end', end).on('close', end).on('error', end).resume();
}

const isLoadedFirst = process.execArgv.includes(import.meta.url);
if (isMainThread && isLoadedFirst)
  new Worker(new URL(import.meta.url), { workerData: isWatcher, execArgv: [] }).unref();
else if (workerData === isWatcher) watch();
