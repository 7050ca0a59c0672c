// Readiness: the database accepts writes, vehicles do not wait for the disk, and the broker is not stopping.
// Orchestrators ask every few seconds, so it is cheap, never rejects and never waits without a limit.
import type { Clock } from '../../src/ports.ts';
import { waitAtMost } from '../../src/timeout.ts';

/** One part of the program that must work before it is ready, and what is wrong with it (null: nothing). */
interface Readiness {
  readonly name: string;
  readonly fault: string | null;
}

export interface ReadinessOptions {
  readonly clock: Clock;
  readonly checkDatabase: () => Promise<Readiness>;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
  readonly isStopping: () => boolean;
  /** Why vehicles are not reached now; null: they are. */
  readonly mqttFault?: () => string | null;
}

const databaseMs = 3000;
/** The same at which the broker takes no further connections of vehicles. */
const lagMostMs = 10_000;

/** The check of the whole program, part by part. */
export function createReadiness(options: ReadinessOptions): () => Promise<readonly Readiness[]> {
  const { clock, checkDatabase, lagMs, isStopping, mqttFault = () => null } = options;
  const database = async (): Promise<Readiness> => {
    let answer: Readiness = { name: 'database', fault: 'does not answer' };
    const ask = async (): Promise<void> => {
      answer = await checkDatabase();
    };
    await waitAtMost(clock, ask(), databaseMs);
    return answer;
  };
  return async () => [
    await database(),
    { name: 'ingest', fault: lagMs() > lagMostMs ? 'waits for the disk' : null },
    { name: 'mqtt', fault: isStopping() ? 'is stopping' : mqttFault() },
  ];
}
