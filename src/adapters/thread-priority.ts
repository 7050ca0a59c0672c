// The place of a thread among all that want a core. Only ever backwards: what a thread gave up it does not get back, so it
// must never be called in a thread that an acknowledgement waits for.
import { getPriority, setPriority } from 'node:os';

const niceMost = 19;

/**
 * The calling thread steps back by `niceness` (1 to 19) from where it stands. Linux counts that for the thread alone
 * (setpriority(2), "C library/kernel differences"); elsewhere it would be the whole program, so nothing is done there.
 * False: it was not done, and the thread goes on as it is.
 */
export function stepBack(niceness: number, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'linux') return false;
  try {
    setPriority(0, Math.min(niceMost, getPriority(0) + niceness));
    return true;
  } catch {
    // Not allowed in here: all that is lost is the order of threads on a full machine.
    return false;
  }
}
