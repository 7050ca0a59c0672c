// Firmware jobs and messages as the vehicle takes them: checked to be meant for this vehicle and this boot, answered in one
// commit with what is kept of them. Nothing here can move a relay or change a setting.
import type { FirmwareBody, MessageBody } from '../../../src/core/wire.ts';
import { type InboxStep, isKnownJob, takeJob, takeNote, withJob } from '../link/inbox.ts';
import { commitNow, log, put, stamp, type Work } from './vehicle-state.ts';
import { stepUpdateOf } from './vehicle-update.ts';

/** An old envelope that somebody plays back belongs to another boot. */
function isOurs(
  work: Work,
  body: { readonly accountID: string; readonly deviceID: string; readonly boot: string },
): boolean {
  const { accountID, deviceID, boot } = work.config;
  return body.accountID === accountID && body.deviceID === deviceID && body.boot === boot;
}

function keep(work: Work, { record, events }: InboxStep): boolean {
  if (events.length === 0) return false;
  put(work, { inbox: record });
  commitNow(
    work,
    events.map((draft) => stamp(work, draft)),
    { inbox: true },
  );
  return true;
}

/** A verified firmware job, or its withdrawal. */
export function takeFirmware(work: Work, body: FirmwareBody): void {
  const { commandID, version, url, sha256, issuedMs, expiresMs } = body;
  if (!isOurs(work, body))
    return log(work, 'error', 'firmware job for another vehicle or boot', { commandID });
  const { inbox, update } = work.state;
  if (isKnownJob(inbox, commandID)) {
    if (body.cancel) stepUpdateOf(work, { kind: 'cancel', commandID });
    return;
  }
  if (update.setup !== null && !body.cancel) {
    put(work, { inbox: withJob(inbox, commandID) });
    const job = { commandID, version, url, sha256, issuedMs, expiresMs };
    return stepUpdateOf(work, { kind: 'job', job });
  }
  if (!keep(work, takeJob(inbox, body)) || body.cancel) return;
  log(work, 'warn', 'firmware job refused: this unit is updated by its package manager', {
    commandID,
    version,
  });
}

/** A verified message of a person. */
export function takeMessage(work: Work, body: MessageBody): void {
  const { messageID, from } = body;
  if (!isOurs(work, body)) return log(work, 'error', 'message for another vehicle or boot', { messageID });
  if (keep(work, takeNote(work.state.inbox, body)))
    // Not what it says: a log can be asked for from afar, and what people write is theirs.
    log(work, 'info', 'message received', { messageID, from });
}
