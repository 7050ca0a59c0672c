// Setting of a run, to repeat it: machine, versions, command. Passwords in addresses are left out.
import { arch, cpus, release, totalmem, type } from 'node:os';

export interface RunSetting {
  /** The command line that repeats the run. */
  readonly command: string;
  /** HTTP address of the broker; null: the run's own broker. */
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

/** One argument, quoted for a shell. */
function quote(argument: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** Removes user and password from the addresses in a text. */
export const withoutLogin = (text: string): string => text.replaceAll(/\/\/[^/\s@]*@/g, '//');

/** The command line that repeats a run. @param seed added where the arguments have none; null: the run has no seed. */
export function repeatCommand(given: readonly string[], seed: string | null): string {
  const hasSeed = seed === null || given.some((one) => one === '--seed' || one.startsWith('--seed='));
  const all = ['fleetward-simulator', ...given, ...(hasSeed ? [] : ['--seed', seed])];
  return all.map((one) => quote(withoutLogin(one).slice(0, argumentMost))).join(' ');
}

/** The setting of a run on this machine. */
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
