// Firmware jobs and messages: checked to be meant for this vehicle and this boot, answered in one commit with what is
// kept of them. They cannot move a relay or change a setting.
import type { FirmwareBody, MessageBody } from '../../../src/core/wire/wire.ts';
import { answerJob, type InboxStep, isKnownJob, keepMessage, withJob } from '../link/inbox.ts';
import { commitNow, log, put, type StepContext, stamp } from './vehicle-state.ts';
import { stepUpdateOf } from './vehicle-update.ts';

/** A replayed old envelope belongs to another boot. */
function isOurs(
  context: StepContext,
  body: { readonly accountID: string; readonly deviceID: string; readonly boot: string },
): boolean {
  const { accountID, deviceID, boot } = context.config;
  return body.accountID === accountID && body.deviceID === deviceID && body.boot === boot;
}

function keep(context: StepContext, { record, events }: InboxStep): boolean {
  if (events.length === 0) return false;
  put(context, { inbox: record });
  commitNow(
    context,
    events.map((draft) => stamp(context, draft)),
    { inbox: true },
  );
  return true;
}

/** A verified firmware job, or its withdrawal. */
export function handleFirmware(context: StepContext, body: FirmwareBody): void {
  const { commandID, version, url, sha256, issuedMs, expiresMs } = body;
  if (!isOurs(context, body)) return log(context, 'error', 'firmware_not_for_this_boot', { commandID });
  const { inbox, update } = context.state;
  if (isKnownJob(inbox, commandID)) {
    if (body.cancel) stepUpdateOf(context, { kind: 'cancel', commandID });
    return;
  }
  if (update.setup !== null && !body.cancel) {
    put(context, { inbox: withJob(inbox, commandID) });
    const job = { commandID, version, url, sha256, issuedMs, expiresMs };
    return stepUpdateOf(context, { kind: 'job', job });
  }
  if (!keep(context, answerJob(inbox, body)) || body.cancel) return;
  log(context, 'warn', 'firmware_refused', {
    commandID,
    version,
    reason: 'this unit is updated by its package manager',
  });
}

/** A verified message of a person. */
export function handleMessage(context: StepContext, body: MessageBody): void {
  const { messageID, from } = body;
  if (!isOurs(context, body)) return log(context, 'error', 'message_not_for_this_boot', { messageID });
  if (keep(context, keepMessage(context.state.inbox, body)))
    // Not its content: a log can be requested remotely, and messages are private.
    log(context, 'info', 'message_received', { messageID, from });
}
