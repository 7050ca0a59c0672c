// The two slots of the configuration in memory, for simulated vehicles.
import { noSlots, type SlotFiles } from './core/config/config-record.ts';
import type { ConfigStore } from './ports.ts';

/** Slots that live as long as this object. */
export function createMemorySlots(): ConfigStore {
  let files: SlotFiles = noSlots;
  return {
    read: async () => files,
    async write(slot, bytes) {
      files = { ...files, [slot]: { kind: 'sound', bytes } };
    },
  };
}
