// Messages of operators: checked to be meant for this vehicle and this boot, confirmed in one commit with what is kept of them.
import type { MessageBody } from '../../../src/core/wire/wire.ts';
import { keepMessage } from '../link/inbox.ts';
import { commitDrafts, isOurs, log, put, type StepContext } from './vehicle-state.ts';

/** A verified message of a person. */
export function handleMessage(context: StepContext, body: MessageBody): void {
  const { messageID, from } = body;
  if (!isOurs(context, body)) return log(context, 'error', 'message_not_for_this_boot', { messageID });
  const { record, events } = keepMessage(context.state.inbox, body);
  if (events.length === 0) return;
  put(context, { inbox: record });
  commitDrafts(context, events, { inbox: true });
  // Not its content: a log can be requested remotely, and messages are private.
  log(context, 'info', 'message_received', { messageID, from });
}
