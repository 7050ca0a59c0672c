// Keeps a payload that cannot be read, or whose values the database refuses, so that it may be acknowledged all the same.
import type { UplinkVerb } from '../../src/core/wire/topics.ts';
import { formatTopic } from '../../src/core/wire/topics.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import type { GroupCommit } from '../scheduling/group-commit.ts';
import { isDataFault } from '../store/base/store-faults.ts';
import { type DeviceRef, deviceExists } from '../store/devices/devices.ts';
import { insertQuarantine } from '../store/events/quarantine.ts';
import type { OpenPayloads, Outcome } from './open-payloads.ts';

export interface QuarantineDeps {
  readonly db: Database;
  readonly commits: GroupCommit;
  readonly clock: Clock;
  readonly log: Log;
  readonly open: OpenPayloads;
}

export interface Unreadable {
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  readonly reason: string;
}

interface DeviceCheck {
  readonly completion: Completion<Outcome>;
  /** The device exists. */
  readonly goOn: () => void;
}

/** Completes as gone when the device was deleted; else goes on. For a fault of the data alone. */
export async function ignoreIfDeleted(
  { db, open }: Pick<QuarantineDeps, 'db' | 'open'>,
  device: DeviceRef,
  { completion, goOn }: DeviceCheck,
): Promise<void> {
  let exists: boolean;
  try {
    exists = await deviceExists(db, device.deviceNo);
  } catch (thrown) {
    return open.fail(completion, thrown);
  }
  if (exists) goOn();
  else open.done(completion, { kind: 'gone' });
}

/** Completes in order of arrival, like payloads that were read. */
export function quarantine(
  deps: QuarantineDeps,
  device: DeviceRef,
  { verb, payload, reason }: Unreadable,
  completion: Completion<Outcome>,
): void {
  const { commits, clock, log, open } = deps;
  const topic = formatTopic(device, verb);
  const entry = { topic, receivedMs: Math.round(clock.utcMs()), reason, payload };
  commits.put(insertQuarantine(device.deviceNo, entry), {
    done() {
      const { accountID, deviceID } = device;
      open.counts.quarantined += 1;
      log.warn('payload_quarantined', { accountID, deviceID, verb, reason });
      open.done(completion, { kind: 'quarantined', reason });
    },
    fail(thrown) {
      const goOn = (): void => open.fail(completion, thrown);
      if (isDataFault(thrown)) void ignoreIfDeleted(deps, device, { completion, goOn });
      else goOn();
    },
  });
}
