// Signed messages to devices: commands and the welcome. A command is recorded with a fresh counter before it leaves, and
// one that is past its time or at its end never leaves.
import {
  type CommandBody,
  encodeJsonMessage,
  type Hello,
  signedTypes,
  type Welcome,
} from '../src/core/wire.ts';
import type { Clock, Database, Log, Signer } from '../src/ports.ts';
import type { Downlink } from './mqtt-server.ts';
import { type CommandRow, recordSending } from './store/commands.ts';
import { type DeviceRef, findDevice } from './store/devices.ts';
import { selectUpTo } from './store/projections.ts';
import { numberOf } from './store/row.ts';

export interface SenderOptions {
  /** Writes may be grouped with others; each must be durable when it resolves. */
  readonly db: Database;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly log: Log;
  /** False when the device is not connected or does not listen to that topic. */
  readonly publish: (device: DeviceRef, message: Downlink) => Promise<boolean>;
}

export interface CommandSender {
  /** Sends the command, or its withdrawal when somebody asked for that, bound to `boot`. */
  command(row: CommandRow, boot: string): Promise<void>;
  /** Answers a hello. */
  welcome(device: DeviceRef, hello: Hello): Promise<void>;
}

function bodyOf(row: CommandRow, envelope: { readonly boot: string; readonly counter: number }): CommandBody {
  return {
    accountID: row.accountID,
    deviceID: row.deviceID,
    commandID: row.commandID,
    boot: envelope.boot,
    counter: envelope.counter,
    issuedMs: row.issuedMs,
    expiresMs: row.expiresMs,
    feature: row.feature,
    state: row.state,
    mode: 'interlock',
    reason: row.reason,
    issuer: row.cancelBy ?? row.issuer,
    cancel: row.cancelBy !== null,
  };
}

export function createSender(options: SenderOptions): CommandSender {
  const { db, clock, signer, log, publish } = options;
  const signed = (message: CommandBody | Welcome, type: string): Uint8Array =>
    new TextEncoder().encode(signer.sign(encodeJsonMessage(message), type));
  return {
    async command(row: CommandRow, boot: string): Promise<void> {
      const { deviceNo, commandID } = row;
      const results = await db.write(recordSending({ deviceNo, commandID, boot, atMs: clock.utcMs() }));
      const sent = results[1]?.rows[0];
      if (sent === undefined) return;
      const counter = numberOf(sent, 'sent_counter');
      const payload = signed(bodyOf(row, { boot, counter }), signedTypes.command);
      const left = await publish(row, { verb: 'commands', payload, qos: 1 });
      const { accountID, deviceID, feature, state } = row;
      log.info('command sent', { accountID, deviceID, commandID, feature, state, counter, boot, left });
    },
    async welcome(device: DeviceRef, hello: Hello): Promise<void> {
      const { accountID, deviceID, deviceNo } = device;
      const [row] = await db.read(selectUpTo(deviceNo, hello.boot));
      const known = await findDevice(db, device);
      const welcome: Welcome = {
        accountID,
        deviceID,
        boot: hello.boot,
        nonce: hello.nonce,
        serverTimeMs: Math.round(clock.utcMs()),
        upTo: row === undefined ? 0 : numberOf(row, 'up_to'),
        configVersion: known?.configVersion ?? 0,
      };
      await publish(device, { verb: 'welcome', payload: signed(welcome, signedTypes.welcome), qos: 1 });
    },
  };
}
