// The disk of a unit that was installed yesterday, for agents that run as processes of their own: their sensors have proven
// themselves, and the vehicle is somewhere on the road.
import { readHardwareID } from '../../../agent/adapters/hardware-id.ts';
import { readBoardProfile } from '../../../agent/boards.ts';
import { openOutbox } from '../../../agent/outbox.ts';
import { commissionedMemory, writeFirstMemory } from '../../../agent/vehicle-record.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createSystemClock } from '../../../src/adapters/system.ts';
import { silentLog } from './outbox-bench.ts';

/** Writes it; no agent may run on it meanwhile. */
export async function commissionDisk(
  path: string,
  unit: { readonly accountID: string; readonly deviceID: string; readonly profileName: string },
): Promise<void> {
  const clock = createSystemClock();
  const outbox = await openOutbox({
    path,
    maxBytes: 16 * 1024 * 1024,
    openDatabase: openSqlite,
    boot: 'installer',
    bootMonoMs: clock.monoMs(),
    clock,
    entropy: createSeededEntropy('installer'),
    log: silentLog,
  });
  const given = { parkedAt: null, utcMs: clock.utcMs() - 86_400_000 };
  const profile = await readBoardProfile(unit.profileName);
  const config = { ...unit, hardwareID: readHardwareID(), profile };
  await writeFirstMemory(outbox, commissionedMemory(config, given));
  await outbox.close();
}
