// A service that a package installed on a disposable machine, as the tests of both packages look at it: what systemd says of
// it, and waiting for that with an end, after which its own last words are told.
import { bootMachine, type Machine } from './machine.ts';
import { hangMs, waitUntil } from './wait-until.ts';

const lookEveryMs = 250;

/** @param waitMostMs how long `until` waits, if longer than `waitUntil`. */
export function createPackagedService(unit: string, waitMostMs: number) {
  let machine: Machine | null = null;
  let booting: Promise<Machine> | null = null;
  const inside = (): Machine => {
    if (machine === null) throw new Error('the machine did not start');
    return machine;
  };
  return {
    inside,
    /** Boots the machine; `folders` as of `bootMachine`. */
    async boot(folders: Readonly<Record<string, string>>): Promise<void> {
      booting = bootMachine(folders);
      machine = await booting;
    },
    /** A property of the unit. */
    show: (name: string): string => inside().must(`systemctl show ${unit} -p ${name} --value`).trim(),
    async until(what: string, look: () => boolean): Promise<void> {
      const seen = () => inside().run(`journalctl -u ${unit} -o cat | tail -30`).output;
      await waitUntil(what, look, { limitMs: Math.max(waitMostMs, hangMs), everyMs: lookEveryMs, seen });
    },
    /** Also ends a machine that comes up after its hook has given up. */
    async close(): Promise<void> {
      await (await booting?.catch(() => null))?.close();
    },
  };
}
