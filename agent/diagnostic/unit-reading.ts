// Reads machine and disk for a Diagnostic. A reading that hangs or fails is left out after a few seconds: a unit in
// trouble must still be able to report the rest.
import { messageOf } from '../../src/core/errors.ts';
import { waitAtMost } from '../../src/timeout.ts';
import type { CommitQueue } from '../commit-queue.ts';
import type { StorageReading, UnitReading } from '../core/diagnostic/diagnostic.ts';
import type { Outbox } from '../outbox.ts';
import type { AgentPorts } from '../ports.ts';

const limitMs = 5000;

interface Sources {
  readonly ports: Pick<AgentPorts, 'clock' | 'host' | 'log'>;
  readonly outbox: Pick<Outbox, 'stats'>;
  readonly commits: Pick<CommitQueue, 'status'>;
}

/** What `work` gives; null when it fails or takes too long. */
async function within<T>({ clock, log }: Sources['ports'], work: Promise<T>): Promise<T | null> {
  let value: T | null = null;
  const read = async (): Promise<void> => {
    try {
      value = await work;
    } catch (thrown) {
      log.warn('unit_reading_failed', { reason: messageOf(thrown) });
    }
  };
  await waitAtMost(clock, read(), limitMs);
  return value;
}

async function readStorage({ outbox, commits }: Sources): Promise<StorageReading> {
  const { queued, bytes, dropped } = await outbox.stats();
  const { waiting, failing } = commits.status();
  return { queued, bytes, dropped, waiting, failing };
}

/** Never rejects, and never takes longer than 5 s. */
export async function readUnit(sources: Sources): Promise<UnitReading> {
  const { ports } = sources;
  const [host, storage] = await Promise.all([
    ports.host === undefined ? null : within(ports, ports.host.read()),
    within(ports, readStorage(sources)),
  ]);
  return { host, storage };
}
