// Downlinks other than commands: firmware jobs and messages of operators. Pure. Each is answered once, however often it arrives.
// `update.ts` continues a feasible job; this file keeps the ids and answers for a unit that cannot update.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { FirmwareBody, MessageBody } from '../../../src/core/wire/wire.ts';
import type { EventDraft } from '../protection/command-record.ts';

export const inboxLimits = {
  /** Number of remembered ids of answered jobs. */
  jobs: 16,
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
  readonly jobs: readonly string[];
  /** The newest messages, newest last. */
  readonly messages: readonly KeptMessage[];
}

export interface InboxStep {
  readonly record: InboxRecord;
  /** Empty: it was known already. */
  readonly events: readonly EventDraft[];
}

export function createInboxRecord(): InboxRecord {
  return { jobs: [], messages: [] };
}

const noUpdate = 'this unit is updated by its package manager';

/** True when the job was answered before. */
export function isKnownJob({ jobs }: InboxRecord, commandID: string): boolean {
  return jobs.includes(commandID);
}

/** The record with a job marked as answered; the oldest one is removed. */
export function withJob(record: InboxRecord, commandID: string): InboxRecord {
  return { ...record, jobs: [...record.jobs, commandID].slice(-inboxLimits.jobs) };
}

/** Answers a verified firmware job for this boot that is withdrawn, or that this unit cannot carry out. */
export function answerJob(record: InboxRecord, body: FirmwareBody): InboxStep {
  const { commandID, version } = body;
  if (isKnownJob(record, commandID)) return { record, events: [] };
  const answered = withJob(record, commandID);
  if (body.cancel) {
    const attributes = { version, reason: 'withdrawn before it came' };
    const statusCode = statusCodes.COMMAND_CANCELLED.code;
    const cancelled: EventDraft = { statusCode, commandID, commandState: 'cancelled', attributes };
    return { record: answered, events: [cancelled] };
  }
  const events: readonly EventDraft[] = [
    {
      statusCode: statusCodes.CONFIG_START.code,
      commandID,
      commandState: 'executing',
      attributes: { version },
    },
    {
      statusCode: statusCodes.CONFIG_FAILED.code,
      commandID,
      commandState: 'refused',
      attributes: { version, reason: noUpdate },
    },
  ];
  return { record: answered, events };
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
