// How many files and sockets this process may have open. The kernel refuses beyond that without a word to the program, the
// database's files included: so connections end below it, with a name.
import { readFileSync } from 'node:fs';

/** Kept for the HTTP service (5,050 connections at most), the database and the program itself. */
const reserved = 5200;

/** RLIMIT_NOFILE of this process (proc_pid_limits(5)); null where the system does not say. */
export function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/** How many of `wanted` connections of vehicles fit below the limit: half of a low one. */
export function connectionsWithin(wanted: number, limit: number | null): number {
  if (limit === null) return wanted;
  return Math.min(wanted, Math.max(limit - reserved, Math.floor(limit / 2)));
}
