// A service that a package installed on a disposable machine, as the tests of both packages look at it: what systemd says of
// it, and waiting for that with an end, after which its own last words are told.
import { setTimeout as sleep } from 'node:timers/promises';
import { bootMachine, type Machine } from './machine.ts';

const lookEveryMs = 250;

/** @param waitMostMs how long `until` waits. */
export function createPackagedService(unit: string, waitMostMs: number) {
  let machine: Machine | null = null;
  const inside = (): Machine => {
    if (machine === null) throw new Error('the machine did not start');
    return machine;
  };
  return {
    inside,
    /** Boots the machine; `folders` as of `bootMachine`. */
    async boot(folders: Readonly<Record<string, string>>): Promise<void> {
      machine = await bootMachine(folders);
    },
    /** A property of the unit. */
    show: (name: string): string => inside().must(`systemctl show ${unit} -p ${name} --value`).trim(),
    async until(what: string, look: () => boolean): Promise<void> {
      for (const endMs = Date.now() + waitMostMs; Date.now() < endMs; await sleep(lookEveryMs)) {
        if (look()) return;
      }
      const { output } = inside().run(`journalctl -u ${unit} -o cat | tail -30`);
      throw new Error(`waited in vain for ${what}: ${output}`);
    },
    async close(): Promise<void> {
      await machine?.close();
    },
  };
}
