// The scheduling priority of a thread. It can only be lowered, never raised again, so it must never be called in a
// thread that an acknowledgement waits for.
import { getPriority, setPriority } from 'node:os';

const niceMost = 19;

/**
 * Lowers the priority of the calling thread by `niceness` (1 to 19). Linux applies that to the thread alone
 * (setpriority(2), "C library/kernel differences"); elsewhere it would be the whole program, so nothing is done
 * there. False: not applied.
 */
export function lowerThreadPriority(niceness: number, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'linux') return false;
  try {
    setPriority(0, Math.min(niceMost, getPriority(0) + niceness));
    return true;
  } catch {
    // Not allowed in here: all that is lost is the order of threads on a full machine.
    return false;
  }
}
