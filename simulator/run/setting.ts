// Where a run took place and how to repeat it: machine, versions, command. It never tells a password: one in an address is left out.
import { arch, cpus, release, totalmem, type } from 'node:os';

export interface RunSetting {
  /** The command line that repeats the run. */
  readonly command: string;
  /** HTTP address of the broker; null: one of the run's own. */
  readonly target: string | null;
  /** Of Fleetward and of Node. */
  readonly version: string;
  readonly node: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryMb: number;
    readonly system: string;
  };
}

const mebibyte = 1024 * 1024;
const argumentMost = 1000;

/** A word as a shell takes it. */
function quote(word: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Without who logs in, should an address carry that. */
export const withoutLogin = (text: string): string => text.replaceAll(/\/\/[^/\s@]*@/g, '//');

/** The command line of a run. @param seed named where the words do not; null: nothing is drawn from one. */
export function repeatCommand(words: readonly string[], seed: string | null): string {
  const hasSeed = seed === null || words.some((word) => word === '--seed' || word.startsWith('--seed='));
  const all = ['fleetward-simulator', ...words, ...(hasSeed ? [] : ['--seed', seed])];
  return all.map((word) => quote(withoutLogin(word).slice(0, argumentMost))).join(' ');
}

/** Of this machine and this process. */
export function settingOf(of: {
  readonly command: string;
  readonly target: string | null;
  readonly version: string;
}): RunSetting {
  const processors = cpus();
  return {
    command: of.command,
    target: of.target === null ? null : withoutLogin(of.target),
    version: of.version,
    node: process.version,
    machine: {
      cpu: (processors[0]?.model ?? 'unknown').trim().slice(0, 200),
      cores: processors.length,
      memoryMb: Math.round(totalmem() / mebibyte),
      system: `${type()} ${release()} ${arch()}`.slice(0, 200),
    },
  };
}
