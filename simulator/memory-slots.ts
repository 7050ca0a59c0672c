// The slots of a simulated vehicle's configuration: they live as long as this object.
import type { AgentPorts } from '../agent/agent.ts';

type Slots = AgentPorts['configSlots'];

export function createMemorySlots(): Slots {
  let files: Awaited<ReturnType<Slots['read']>> = { a: { kind: 'absent' }, b: { kind: 'absent' } };
  return {
    read: async () => files,
    async write(slot, bytes) {
      files = { ...files, [slot]: { kind: 'sound', bytes } };
    },
  };
}
