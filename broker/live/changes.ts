// Changes in the store other than events, for live streams: commands, approvals, presences, zones, releases and alarms, by time.
// A change may be committed after others of its time, so reads overlap; each text is sent once.
import type { Clock, Database } from '../../src/ports.ts';
import type { ChangeKind, LiveChange } from '../core/live/live-kinds.ts';
import { alarmChanges } from '../store/live/alarm-changes.ts';
import type { ChangePages, ChangeSpan } from '../store/live/change-pages.ts';
import { approvalChanges, commandChanges } from '../store/live/order-changes.ts';
import { presenceChanges, releaseChanges } from '../store/live/unit-changes.ts';
import { zoneChanges } from '../store/live/zone-changes.ts';

type Source = (db: Database, span: ChangeSpan) => ChangePages;

/** Reader of each kind, in sending order. */
const sources: Readonly<Record<ChangeKind, Source>> = {
  presence: presenceChanges,
  release: releaseChanges,
  zone: zoneChanges,
  approval: approvalChanges,
  command: commandChanges,
  alarm: alarmChanges,
};
export const changeKinds = Object.keys(sources) as readonly ChangeKind[];

/** The changes of one kind. */
export const changesOf = (kind: ChangeKind, db: Database, span: ChangeSpan): ChangePages =>
  sources[kind](db, span);

/** A change may be committed so much later than the time that it carries, in ms. */
const overlapMs = 5000;
/** The same after the store could not be read: commits that it held up carry older times. */
const overlapAfterFaultMs = 120_000;

export interface ChangeFollower {
  /**
   * Gives each change since the last call once to `offer`.
   * @param wants kinds that some reader wants. @throws AppError `storage`; then the next call reads from there.
   */
  read(wants: (kind: ChangeKind) => boolean, offer: (change: LiveChange) => void): Promise<void>;
  /** There are no readers: changes up to now are not sent to the next one. */
  skip(): void;
}

export function createChangeFollower(db: Database, clock: Clock): ChangeFollower {
  /** Texts sent lately, by kind and key. */
  const sent = new Map<string, { readonly what: string; readonly atMs: number }>();
  let readMs = clock.utcMs();
  let faultMs = Number.NEGATIVE_INFINITY;
  const readKind = async (kind: ChangeKind, sinceMs: number, offer: (change: LiveChange) => void) => {
    for await (const page of changesOf(kind, db, { scope: null, sinceMs })) {
      for (const change of page) {
        const key = `${kind} ${change.key}`;
        const what = JSON.stringify(change.data);
        const isKnown = sent.get(key)?.what === what;
        sent.set(key, { what, atMs: change.atMs });
        if (!isKnown) offer(change);
      }
    }
  };
  return {
    async read(wants, offer) {
      const nowMs = clock.utcMs();
      const isAfterFault = nowMs - faultMs < overlapAfterFaultMs;
      const backMs = isAfterFault ? overlapAfterFaultMs : overlapMs;
      const sinceMs = Math.round(readMs) - backMs;
      try {
        for (const kind of changeKinds) if (wants(kind)) await readKind(kind, sinceMs, offer);
      } catch (thrown) {
        faultMs = clock.utcMs();
        throw thrown;
      }
      // A clock that stepped back must not make it read changes of the future.
      readMs = nowMs;
      // Keys outlive the overlap, or each read would send them again.
      for (const [key, { atMs }] of sent) if (atMs < nowMs - backMs - overlapMs) sent.delete(key);
    },
    skip() {
      readMs = clock.utcMs();
      sent.clear();
    },
  };
}
