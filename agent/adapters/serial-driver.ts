// Calls into the serial driver, any of which may hang. Each holds a thread of the pool that DNS, files and the other port
// need too, and one bad driver must never block all threads. So hanging calls are counted, and a port with hanging calls
// is refused until one of them returns.
import { readdirSync, readFileSync } from 'node:fs';
import { AppError } from '../../src/core/errors.ts';

/** Two, so that a port that was plugged in again can be opened while the last descriptor of the old one still hangs. */
const hangingPerPath = 2;
/** Of all ports together; the pool has 8 threads as a service and 4 by default. */
const hangingMost = 3;

interface Call {
  readonly path: string;
  readonly sinceMs: number;
}

const hanging = new Set<Call>();

/**
 * Calls that have not come back in time, of all ports.
 * @public read by the built child process of `test/system/serial-port.test.ts`
 */
export function hangingCalls(): number {
  return hanging.size;
}

/**
 * Waits for a call into the driver of `path`, `deadlineMs` at most; then the call is abandoned and counted as
 * hanging until it settles. Rejects as the call does, or with an Error that the driver did not answer.
 */
export async function callDriver<T>(
  { path, deadlineMs }: { readonly path: string; readonly deadlineMs: number },
  work: Promise<T>,
): Promise<T> {
  const call: Call = { path, sinceMs: performance.now() };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      hanging.add(call);
      reject(new Error(`the driver did not answer in ${deadlineMs} ms`));
    }, deadlineMs);
  });
  const back = (): void => {
    clearTimeout(timer);
    hanging.delete(call);
  };
  work.then(back, back);
  return Promise.race([work, late]);
}

function refuses(path: string): boolean {
  const own = [...hanging].filter((call) => call.path === path).length;
  return own >= hangingPerPath || hanging.size >= hangingMost;
}

/** Throws AppError `serial` while too many earlier calls hang for this port to be touched again. */
export function assertDriverAnswers(path: string): void {
  if (!refuses(path)) return;
  throw new AppError('serial', `Serial port ${path}: ${hanging.size} earlier calls hang in the driver`, {
    hint: 'Unplug the adapter and plug it in again; if that does not help, restart the unit.',
  });
}

/** True while a thread of this process is in a wait that no signal ends. */
function isUnkillable(): boolean {
  try {
    return readdirSync('/proc/self/task').some((thread) => {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'D';
    });
  } catch {
    // A thread that ended meanwhile, or no such folder (not Linux): unknown, so it is not counted.
    return true;
  }
}

/**
 * Time for which a refused port's calls have hung, ms; 0: no port is refused. Also 0 while a thread is in an unkillable
 * wait: the process would keep its outbox lock after SIGKILL, and nothing could replace it.
 */
export function driverStuckMs(): number {
  const refused = [...hanging].filter(({ path }) => refuses(path));
  if (refused.length === 0 || isUnkillable()) return 0;
  return performance.now() - Math.max(...refused.map(({ sinceMs }) => sinceMs));
}
