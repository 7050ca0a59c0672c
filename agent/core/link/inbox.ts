// Messages of operators to the vehicle. Pure. Each is confirmed once, however often it arrives.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { MessageBody } from '../../../src/core/wire/wire.ts';
import type { EventDraft } from '../protection/command-record.ts';

export const inboxLimits = {
  messages: 20,
  /** Maximum size of the record as JSON, in characters; a value of the outbox's state holds 8192. */
  characters: 7500,
} as const;

export interface KeptMessage {
  readonly messageID: string;
  readonly from: string;
  readonly text: string;
  /** UTC ms of the broker's clock. */
  readonly sentMs: number;
}

/** Survives restarts; written together with the events that confirm its content. */
export interface InboxRecord {
  /** The newest messages, newest last. */
  readonly messages: readonly KeptMessage[];
}

export interface InboxStep {
  readonly record: InboxRecord;
  /** Empty: it was known already. */
  readonly events: readonly EventDraft[];
}

export function createInboxRecord(): InboxRecord {
  return { messages: [] };
}

/** The newest messages that fit into the record. */
function fit(messages: readonly KeptMessage[]): readonly KeptMessage[] {
  let kept = messages.slice(-inboxLimits.messages);
  while (kept.length > 1 && JSON.stringify(kept).length > inboxLimits.characters) kept = kept.slice(1);
  return kept;
}

/** Stores a verified message for this boot. */
export function keepMessage(record: InboxRecord, body: MessageBody): InboxStep {
  const { messageID, from, text, sentMs } = body;
  if (record.messages.some((kept) => kept.messageID === messageID)) return { record, events: [] };
  const confirmed: EventDraft = {
    statusCode: statusCodes.MESSAGE_RECEIVED.code,
    commandID: messageID,
    commandState: 'received',
    attributes: { from },
  };
  const messages = fit([...record.messages, { messageID, from, text, sentMs }]);
  return { record: { ...record, messages }, events: [confirmed] };
}
