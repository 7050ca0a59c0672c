// Messages between driver and fleet as a module of the vehicle: keeps those of operators and confirms each once, however often it arrives; records
// those of the driver.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { MessageBody } from '../../../src/core/wire/wire.ts';
import type { StepContext, VehicleModule } from '../kernel/module.ts';
import { commitDrafts, isOurs, log, put, record } from '../kernel/vehicle-state.ts';
import type { EventDraft } from '../protection/command-record.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** The newest messages of operators, newest last. */
    readonly messages: readonly KeptMessage[];
  }
  interface ModuleRows {
    readonly messages: readonly KeptMessage[];
  }
  interface ModuleEvents {
    /** Verified, and acknowledged at once: one that was not kept comes again on the next connect. */
    readonly message: { readonly body: MessageBody };
    /** A message of the driver to the fleet. */
    readonly driverMessage: { readonly text: string };
  }
  interface ModuleFacts {
    /** Messages of operators to the vehicle, newest last. */
    readonly messages: readonly KeptMessage[];
  }
}

export const messageLimits = {
  kept: 20,
  /** Maximum size of them as JSON, in characters; a value of the outbox's state holds 8192. */
  characters: 7500,
} as const;

export interface KeptMessage {
  readonly messageID: string;
  readonly from: string;
  readonly text: string;
  /** UTC ms of the broker's clock. */
  readonly sentMs: number;
}

/** Keeps a message, with the event that confirms it; null: it was known already. */
export function keepMessage(
  known: readonly KeptMessage[],
  { messageID, from, text, sentMs }: MessageBody,
): { readonly messages: readonly KeptMessage[]; readonly confirmed: EventDraft } | null {
  if (known.some((kept) => kept.messageID === messageID)) return null;
  let messages = [...known, { messageID, from, text, sentMs }].slice(-messageLimits.kept);
  while (messages.length > 1 && JSON.stringify(messages).length > messageLimits.characters)
    messages = messages.slice(1);
  const statusCode = statusCodes.MESSAGE_RECEIVED.code;
  const attributes = { from };
  return { messages, confirmed: { statusCode, commandID: messageID, commandState: 'received', attributes } };
}

function handleMessage(context: StepContext, body: MessageBody): void {
  const { messageID, from } = body;
  if (!isOurs(context, body)) return log(context, 'error', 'message_not_for_this_boot', { messageID });
  const kept = keepMessage(context.state.messages, body);
  if (kept === null) return;
  put(context, { messages: kept.messages });
  commitDrafts(context, [kept.confirmed]);
  // Not its content: a log can be requested remotely, and messages are private.
  log(context, 'info', 'message_received', { messageID, from });
}

export const messagesModule: VehicleModule = {
  // One that is lost costs nothing but its text.
  create: ({ rows: { messages } }) => ({ messages: Array.isArray(messages) ? messages : [] }),
  rows: ({ messages }) => ({ messages }),
  on: {
    message: (context, { body }) => handleMessage(context, body),
    driverMessage: (context, { text }) =>
      record(context, { statusCode: statusCodes.MESSAGE.code, attributes: { message: text } }),
  },
  facts: ({ messages }) => ({ messages }),
};
