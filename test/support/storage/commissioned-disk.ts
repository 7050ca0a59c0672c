// The disk of a unit that was installed yesterday, for agents that run as processes of their own: their sensors have proven
// themselves, and the vehicle is somewhere on the road.
import { readBoardProfile } from '../../../agent/boards.ts';
import { openOutbox } from '../../../agent/outbox.ts';
import { commissionedMemory, writeFirstMemory } from '../../../agent/vehicle-record.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createSystemClock } from '../../../src/adapters/system.ts';
import { silentLog } from './outbox-bench.ts';

/** Writes it; no agent may run on it meanwhile. */
export async function commissionDisk(path: string, profileName: string): Promise<void> {
  const clock = createSystemClock();
  const outbox = await openOutbox({
    path,
    maxBytes: 16 * 1024 * 1024,
    openDatabase: async (file) => openSqlite({ pageSize: 1024, ...file }),
    boot: 'installer',
    bootMonoMs: clock.monoMs(),
    clock,
    entropy: createSeededEntropy('installer'),
    log: silentLog,
  });
  const given = { parkedAt: null, utcMs: clock.utcMs() - 86_400_000 };
  await writeFirstMemory(outbox, commissionedMemory(await readBoardProfile(profileName), given));
  await outbox.close();
}
