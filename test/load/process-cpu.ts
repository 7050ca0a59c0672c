// CPU time of processes from /proc, in ms: of one, or of a server with its workers. proc(5): `stat` counts in ticks of 10 ms.
import { readdirSync, readFileSync } from 'node:fs';

const tickMs = 10;

interface Stat {
  readonly parent: number;
  /** All threads. */
  readonly ownMs: number;
  /** Children that have ended and were waited for. */
  readonly endedMs: number;
}

function statOf(pid: number): Stat | null {
  try {
    // The name in parentheses may hold anything.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const parts = text.slice(text.lastIndexOf(') ') + 2).split(' ');
    const ms = (...at: readonly number[]): number =>
      at.reduce((sum, index) => sum + Number(parts[index]) * tickMs, 0);
    return { parent: Number(parts[1]), ownMs: ms(11, 12), endedMs: ms(13, 14) };
  } catch {
    return null;
  }
}

/** Of all threads of a process so far; 0 when it has ended. */
export function cpuMsOf(pid: number): number {
  return statOf(pid)?.ownMs ?? 0;
}

/** Of a server and its workers, those that have ended too (PostgreSQL has a process for each connection). */
export function treeCpuMsOf(pid: number): number {
  const server = statOf(pid);
  if (server === null) return 0;
  let sumMs = server.ownMs + server.endedMs;
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat?.parent === pid) sumMs += stat.ownMs;
  }
  return sumMs;
}
