// Stores a payload that cannot be read, or whose values the database refuses, so that it may still be acknowledged.
import { AppError } from '../../src/core/errors.ts';
import type { UplinkVerb } from '../../src/core/wire/topics.ts';
import { formatTopic } from '../../src/core/wire/topics.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { isDataFault } from '../core/store-faults.ts';
import type { GroupCommit } from '../scheduling/group-commit.ts';
import { deviceExists } from '../store/devices/devices.ts';
import { insertQuarantine, isKept } from '../store/events/quarantine.ts';
import type { OpenPayloads, Outcome } from './open-payloads.ts';

export interface QuarantineDeps {
  readonly db: Database;
  readonly commits: GroupCommit;
  readonly clock: Clock;
  readonly log: Log;
  readonly open: OpenPayloads;
}

export interface Unreadable {
  /** `connection`: not a publish, but the reason for its refusal. */
  readonly verb: UplinkVerb | 'connection';
  readonly payload: Uint8Array;
  readonly reason: string;
  /** True: its sender considers it acknowledged, as behind a message queue. It is stored even if the quarantine is full. */
  readonly isForced?: boolean;
}

interface DeviceCheck {
  readonly completion: Completion<Outcome>;
  /** Called if the device exists. */
  readonly goOn: () => void;
}

/** Completes as gone when the device was deleted; otherwise continues. Only for a fault of the data. */
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

/** The sender must not receive an acknowledgement. It is no fault of the store, which would be retried at once. */
const quarantineFull = ({ accountID, deviceID }: DeviceRef): AppError =>
  new AppError(
    'conflict',
    `The quarantine of ${accountID}/${deviceID} is full, so this payload is not acknowledged`,
    {
      hint: 'Look at what is in it: take it in again after a mend, or drop it. Then the device goes on.',
    },
  );

/** Stores the payload; fails when the quarantine of the device is full, or the store fails. Completes in order of arrival. */
export function keepUnreadable(
  deps: QuarantineDeps,
  device: DeviceRef,
  { verb, payload, reason, isForced = false }: Unreadable,
  completion: Completion,
): void {
  const { commits, clock, log, open } = deps;
  const { accountID, deviceID } = device;
  const topic = formatTopic(device, verb);
  const entry = { topic, receivedMs: Math.round(clock.utcMs()), reason, payload, isForced };
  commits.put(insertQuarantine(device.deviceNo, entry), {
    done(results) {
      if (!isKept(results)) {
        log.error('quarantine_full', { accountID, deviceID, verb, reason });
        return completion.fail(quarantineFull(device));
      }
      open.counts.quarantined += 1;
      log.warn('payload_quarantined', { accountID, deviceID, verb, reason });
      completion.done();
    },
    fail: (thrown) => completion.fail(thrown),
  });
}

/** Completes in order of arrival, like readable payloads. */
export function quarantine(
  deps: QuarantineDeps,
  device: DeviceRef,
  unreadable: Unreadable,
  completion: Completion<Outcome>,
): void {
  const { open } = deps;
  keepUnreadable(deps, device, unreadable, {
    done: () => open.done(completion, { kind: 'quarantined', reason: unreadable.reason }),
    fail(thrown) {
      const goOn = (): void => open.fail(completion, thrown);
      if (isDataFault(thrown)) void ignoreIfDeleted(deps, device, { completion, goOn });
      else goOn();
    },
  });
}
