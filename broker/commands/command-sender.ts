// Signed messages to devices: commands, firmware jobs, texts of users, and the welcome, each with a separate type. A command is recorded with a fresh
// counter before it is sent; one that has expired or ended is never sent.
import type { FeatureName } from '../../src/core/events/event.ts';
import {
  type CommandBody,
  decodeFirmwareContent,
  encodeJsonMessage,
  type FirmwareBody,
  type Hello,
  type MessageBody,
  type OwnerBody,
  signedTypes,
  type Welcome,
} from '../../src/core/wire/wire.ts';
import type { Clock, Database, Log, Signer } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { Downlink } from '../ports/mqtt-server.ts';
import { numberOf, textOrNull } from '../store/base/row.ts';
import { recordSending, type SendingReason } from '../store/commands/command-sending.ts';
import { type CommandRow, reservedOf } from '../store/commands/commands.ts';
import type { MessageRow } from '../store/commands/messages.ts';
import { documentFor } from '../store/commands/owner-documents.ts';
import { readDeviceConfig } from '../store/devices/device-configs.ts';
import { selectUpTo } from '../store/events/projections.ts';

export interface SenderOptions {
  /** Writes may be grouped with others; each must be durable when it resolves. */
  readonly db: Database;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly log: Log;
  /** False when the device is not connected or does not subscribe to that topic. */
  readonly publish: (device: DeviceRef, message: Downlink) => Promise<boolean>;
  /** Offered to every device that says hello; absent: the MQTT server does not take it. */
  readonly eventsTopic?: Welcome['eventsTopic'];
}

export interface CommandSender {
  /**
   * Sends the command bound to `boot`, or its withdrawal if it was withdrawn or replaced. Sends nothing if it has ended, or another process has sent
   * it on the same occasion.
   */
  command(row: CommandRow, boot: string, occasion: SendingReason): Promise<void>;
  /** Sends a command whose sending was recorded together with it. @param envelope as recorded with the command. */
  recorded(row: CommandRow, envelope: Envelope): Promise<void>;
  /** Sends a text message bound to `boot`; false: it was not sent. */
  message(row: MessageRow, boot: string): Promise<boolean>;
  welcome(device: DeviceRef, hello: Hello): Promise<void>;
  /** Sends the owner's document where the unit holds an older one. */
  ownerDocument(device: DeviceRef, boot: string): Promise<void>;
}

const isReplaced = ({ commandState, isFinal }: CommandRow): boolean =>
  commandState === 'superseded' || (commandState === 'refused' && isFinal);
const isWithdrawn = (row: CommandRow): boolean => row.cancelBy !== null || isReplaced(row);

/** Boot and counter to which a signed command is bound. */
export interface Envelope {
  readonly boot: string;
  readonly counter: number;
}

/** Users behind a command, as text for the device's record. */
function issuerOf({ issuer, approver, cancelBy }: CommandRow): string {
  if (cancelBy !== null) return cancelBy;
  return approver === null ? issuer : `${issuer}, approved by ${approver}`;
}

/** Assertions hold for the envelope that they were given for, and no other. */
function assertionsOf(
  { reservedBoot, reservedCounter, assertions }: CommandRow,
  { boot, counter }: Envelope,
): Pick<CommandBody, 'assertions'> {
  return assertions !== null && boot === reservedBoot && counter === reservedCounter ? { assertions } : {};
}

function commandBody(row: CommandRow, feature: FeatureName, envelope: Envelope): CommandBody {
  return {
    accountID: row.accountID,
    deviceID: row.deviceID,
    commandID: row.commandID,
    boot: envelope.boot,
    counter: envelope.counter,
    issuedMs: row.issuedMs,
    expiresMs: row.expiresMs,
    feature,
    state: row.state,
    mode: 'interlock',
    reason: row.reason,
    issuer: issuerOf(row),
    cancel: isWithdrawn(row),
    ...assertionsOf(row, envelope),
  };
}

/** A firmware job is no command to a relay: its separate type ensures that it is never taken for one. */
function firmwareBody(row: CommandRow, envelope: Envelope): FirmwareBody | null {
  const content = decodeFirmwareContent(new TextEncoder().encode(row.content ?? ''));
  if (content === null) return null;
  const { accountID, deviceID, commandID, issuedMs, expiresMs } = row;
  return {
    accountID,
    deviceID,
    commandID,
    boot: envelope.boot,
    issuedMs,
    expiresMs,
    ...content,
    issuer: issuerOf(row),
    cancel: isWithdrawn(row),
  };
}

const messageBody = (row: MessageRow, boot: string): MessageBody => {
  const { accountID, deviceID, messageID, text, sender: from, sentMs, expiresMs } = row;
  return { accountID, deviceID, messageID, boot, sentMs, expiresMs, from, text };
};

/** Null: the unit holds as new a document as the service, or pins no key. */
async function ownerBodyFor(
  db: Database,
  { accountID, deviceID, deviceNo }: DeviceRef,
  boot: string,
): Promise<OwnerBody | null> {
  const text = await documentFor(db, deviceNo);
  return text === null ? null : { accountID, deviceID, boot, document: JSON.parse(text) };
}

export function createSender(options: SenderOptions): CommandSender {
  const { db, clock, signer, log, publish, eventsTopic } = options;
  const signed = (
    message: CommandBody | FirmwareBody | MessageBody | Welcome | OwnerBody,
    type: string,
  ): Uint8Array => new TextEncoder().encode(signer.sign(encodeJsonMessage(message), type));
  const signedCommand = (row: CommandRow, envelope: Envelope): Uint8Array | null => {
    if (row.feature !== 'firmware') {
      return signed(commandBody(row, row.feature, envelope), signedTypes.command);
    }
    const body = firmwareBody(row, envelope);
    return body === null ? null : signed(body, signedTypes.firmware);
  };
  const recorded = async (row: CommandRow, envelope: Envelope): Promise<void> => {
    const { commandID } = row;
    const payload = signedCommand(row, envelope);
    if (payload === null) return log.error('command_unreadable', { commandID });
    // A slow database must not delay it past its expiry.
    if (clock.utcMs() >= row.expiresMs) return log.warn('command_expired_unsent', { commandID });
    const left = await publish(row, { verb: 'commands', payload, qos: 1 });
    const { accountID, deviceID, feature, state } = row;
    log.info('command_sent', { accountID, deviceID, commandID, feature, state, ...envelope, left });
  };
  return {
    async command(read: CommandRow, boot: string, occasion: SendingReason): Promise<void> {
      const { deviceNo, commandID } = read;
      const sending = {
        deviceNo,
        commandID,
        boot,
        occasion,
        atMs: clock.utcMs(),
        isReplaced: isReplaced(read),
        reserved: reservedOf(read),
      };
      const results = await db.write(recordSending(sending));
      const sent = results[1]?.rows[0];
      if (sent === undefined) return;
      const counter = numberOf(sent, 'sent_counter');
      // It may have been withdrawn since it was read.
      const row = { ...read, cancelBy: textOrNull(sent, 'cancel_by') };
      await recorded(row, { boot, counter });
    },
    recorded,
    async message(row: MessageRow, boot: string): Promise<boolean> {
      const { accountID, deviceID, messageID } = row;
      const payload = signed(messageBody(row, boot), signedTypes.message);
      const left = await publish(row, { verb: 'commands', payload, qos: 1 });
      log.info('message_sent', { accountID, deviceID, messageID, left });
      return left;
    },
    async welcome(device: DeviceRef, hello: Hello): Promise<void> {
      const { accountID, deviceID, deviceNo } = device;
      const [row] = await db.read(selectUpTo(deviceNo, hello.boot));
      const config = await readDeviceConfig(db, deviceNo);
      const welcome: Welcome = {
        accountID,
        deviceID,
        boot: hello.boot,
        nonce: hello.nonce,
        serverTimeMs: Math.round(clock.utcMs()),
        upTo: row === undefined ? 0 : numberOf(row, 'up_to'),
        configVersion: config.version,
        ...(eventsTopic === undefined ? {} : { eventsTopic }),
      };
      await publish(device, { verb: 'welcome', payload: signed(welcome, signedTypes.welcome), qos: 1 });
    },
    async ownerDocument(device: DeviceRef, boot: string): Promise<void> {
      const body = await ownerBodyFor(db, device, boot);
      if (body === null) return;
      const payload = signed(body, signedTypes.owner);
      const left = await publish(device, { verb: 'commands', payload, qos: 1 });
      log.info('owner_document_sent', { accountID: body.accountID, deviceID: body.deviceID, left });
    },
  };
}
