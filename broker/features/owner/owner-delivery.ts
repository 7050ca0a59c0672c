// Sends the owner's document to connected units that hold an older one: after a change, and again when it was lost. At a hello the ledger sends it
// before the orders. It runs in one process at a time; a unit that refuses a document is sent it every ten minutes.
import { messageOf } from '../../../src/core/errors.ts';
import type { FeatureService, Kernel, Slice } from '../../api/base/api-services.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { type OutdatedUnit, outdatedUnits } from '../../store/commands/owner-documents.ts';

const checkMs = 5000;
const againMs = 600_000;

interface Sent {
  /** Run of the unit, and versions of the document. */
  readonly what: string;
  readonly atMs: number;
}

const whatOf = ({ boot, setVersion, listVersion }: OutdatedUnit): string =>
  `${boot} ${setVersion} ${listVersion}`;

function createDelivery({ db, clock, log, ledger, leases }: Kernel): FeatureService & { wake(): void } {
  let sent = new Map<number, Sent>();
  const sendAll = async (): Promise<void> => {
    const still = new Map<number, Sent>();
    let units = await outdatedUnits(db, 0);
    while (units.length > 0) {
      for (const unit of units) {
        const { deviceNo } = unit.device;
        const before = sent.get(deviceNo);
        const nowMs = clock.monoMs();
        const isUnderWay = before?.what === whatOf(unit) && nowMs - before.atMs < againMs;
        still.set(deviceNo, isUnderWay ? before : { what: whatOf(unit), atMs: nowMs });
        if (!isUnderWay) await ledger.sendOwnerDocument(unit.device);
      }
      units = await outdatedUnits(db, units.at(-1)?.device.deviceNo ?? Number.MAX_SAFE_INTEGER);
    }
    sent = still;
  };
  const task = createPeriodicTask({
    clock,
    firstMs: checkMs,
    async run() {
      const failed = (thrown: unknown): void =>
        log.error('owner_documents_not_sent', { reason: messageOf(thrown) });
      if (leases.holds('upkeep')) await sendAll().catch(failed);
      return checkMs;
    },
  });
  return { wake: () => task.wake(), close: () => task.close() };
}

export const ownerDelivery: Slice<ReturnType<typeof createDelivery>> = { create: createDelivery };
