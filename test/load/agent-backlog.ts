// An outbox as it lies on a vehicle after an outage: positions of an earlier boot, one every second of a day or whatever is
// asked for, stored by the real outbox.
import { openOutbox } from '../../agent/outbox.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { silentLog } from '../support/storage/outbox-bench.ts';
import type { Say } from './agent-figures.ts';

/** Records of one commit. */
const chunk = 200;
/** Most MiB of the outbox: a million positions fit. */
export const backlogMb = 256;

/**
 * Stores `count` positions, the last one a minute ago.
 * @returns the boot that they belong to.
 */
export async function fillOutbox(
  path: string,
  { count, say }: { readonly count: number; readonly say: Say },
): Promise<string> {
  const clock = createSystemClock();
  const entropy = createSystemEntropy();
  const boot = Buffer.from(entropy.bytes(8)).toString('hex');
  const outbox = await openOutbox({
    path,
    boot,
    bootMonoMs: clock.monoMs(),
    clock,
    entropy,
    log: silentLog,
    maxBytes: backlogMb * 1024 * 1024,
    openDatabase: openSqlite,
  });
  const lastMs = Date.now() - 60_000;
  let saidMs = performance.now();
  for (let from = 0; from < count; from += chunk) {
    const records = Array.from({ length: Math.min(chunk, count - from) }, (_unused, index) => {
      const at = from + index;
      return {
        priority: 3 as const,
        event: {
          timestamp: lastMs - (count - 1 - at) * 1000,
          upMs: at * 1000,
          timeQuality: 'gnss' as const,
          statusCode: 61_472,
          latitude: 43.6511 + Math.sin(at / 900) * 0.02,
          longitude: -79.347 + at * 0.000_01,
          altitude: 90 + (at % 7),
          speed: 36 + (at % 30),
          heading: at % 360,
          hdop: 0.9,
          satellites: 11,
          odometer: 1200.5 + at * 0.012,
          fuelLevel: 0.62,
          inputs: { ignition: true, panic: false, cargoDoor: false },
          outputs: { enginecutoff: false, cargoaccess: false },
        },
      };
    });
    await outbox.append(records);
    if (performance.now() - saidMs < 2000) continue;
    saidMs = performance.now();
    say(`  ${(from + chunk).toLocaleString('en')} of ${count.toLocaleString('en')} records stored`);
  }
  await outbox.close();
  return boot;
}
