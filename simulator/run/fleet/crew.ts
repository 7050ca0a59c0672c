// The people at the vehicles of a worker: drivers write and read messages, others enter a service code at the unit. The ledger
// records their actions and observations.
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { Fleet } from './fleet.ts';

export type CrewAct =
  | { readonly kind: 'write'; readonly text: string }
  | { readonly kind: 'enter'; readonly code: string }
  /** Looks at what the unit holds. */
  | { readonly kind: 'look' };

export interface Crews {
  /** Acts of one vehicle happen in their order; a vehicle that has not started has no crew. */
  act(deviceID: string, act: CrewAct): void;
  /** Resolves when all acts are done. */
  idle(): Promise<void>;
}

export function createCrews(ledger: Ledger, fleet: Fleet): Crews {
  const last = new Map<string, Promise<void>>();
  const perform = async (deviceID: string, act: CrewAct): Promise<void> => {
    const unit = fleet.running().find((member) => member.deviceID === deviceID)?.agent?.vehicle.agent;
    if (unit === undefined) return;
    const notes = ledger.crew(deviceID);
    switch (act.kind) {
      case 'write':
        if (await unit.sendMessage(act.text)) notes.written.push(act.text);
        return;
      case 'enter':
        notes.entered.push(unit.enterServiceCode(act.code).isRight);
        return;
      case 'look': {
        const { messages, vehicle } = await unit.status();
        notes.held.splice(0, notes.held.length, ...messages.map(({ text }) => text));
        notes.configVersion = vehicle.config.version;
      }
    }
  };
  return {
    act(deviceID, act) {
      const before = last.get(deviceID) ?? Promise.resolve();
      // A unit that was killed meanwhile answers nothing; what was not noted is judged as not done.
      last.set(
        deviceID,
        before.then(() => perform(deviceID, act)).catch(() => undefined),
      );
    },
    async idle() {
      await Promise.all(last.values());
    },
  };
}
