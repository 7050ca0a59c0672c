// Faults of a broker in its commands, seeded in front of its ingest: commands that never leave, restores that go to the other relay, and
// commands that the ledger calls confirmed although none was sent. The broker's own code is untouched.
import { createSigner, createVerifier } from '../../../src/adapters/signing.ts';
import { decodeCommand, signedTypes } from '../../../src/core/wire/wire.ts';
import { sql } from '../../../src/sql.ts';
import type { BrokerFault, BrokerInside } from './faulty-broker.ts';

type SignedCommand = NonNullable<ReturnType<typeof decodeCommand>>;

/** The command in a message to a device; null for every other message. */
function createReader({ publicKey }: BrokerInside) {
  const verifier = createVerifier(publicKey);
  return (message: { readonly verb: string; readonly payload: Uint8Array }): SignedCommand | null => {
    if (message.verb !== 'commands') return null;
    const bytes = verifier.verify(new TextDecoder().decode(message.payload), signedTypes.command);
    return bytes === null ? null : decodeCommand(bytes);
  };
}

const isSwitch = (body: SignedCommand | null): body is SignedCommand => body !== null && !body.cancel;

/** No command reaches a vehicle; the broker believes that each has left. */
export function dropsCommands(key: BrokerInside): BrokerFault {
  const read = createReader(key);
  const done: string[] = [];
  return {
    done,
    onUplink: (device, message, { onUplink }) => onUplink(device, message),
    publish(device, message, publish) {
      const body = read(message);
      if (body === null) return publish(device, message);
      if (isSwitch(body)) done.push(`${device.deviceID} ${body.commandID}`);
      return Promise.resolve(true);
    },
  };
}

/** Every restore goes to the other relay, signed as it should be. */
export function restoresOtherRelay(key: BrokerInside): BrokerFault {
  const read = createReader(key);
  const signer = createSigner(key.privatePem);
  const done: string[] = [];
  return {
    done,
    onUplink: (device, message, { onUplink }) => onUplink(device, message),
    publish(device, message, publish) {
      const body = read(message);
      if (!isSwitch(body) || body.state !== '0') return publish(device, message);
      done.push(`${device.deviceID} ${body.commandID}`);
      const feature = body.feature === 'enginecutoff' ? 'cargoaccess' : 'enginecutoff';
      const text = new TextEncoder().encode(JSON.stringify({ ...body, feature }));
      const payload = new TextEncoder().encode(signer.sign(text, signedTypes.command));
      return publish(device, { ...message, payload });
    },
  };
}

/** No command reaches a vehicle, and the ledger says of each that it was confirmed. */
export function confirmsUnsent(key: BrokerInside): BrokerFault {
  const read = createReader(key);
  const done: string[] = [];
  return {
    done,
    onUplink: (device, message, { onUplink }) => onUplink(device, message),
    publish(device, message, publish) {
      const body = read(message);
      if (body === null) return publish(device, message);
      if (!isSwitch(body)) return Promise.resolve(true);
      done.push(`${device.deviceID} ${body.commandID}`);
      const confirm = sql`UPDATE commands SET command_state = 'confirmed', state_rank = 6, is_final = 1
        WHERE command_id = ${body.commandID}`;
      setTimeout(() => void key.db.write([confirm]).catch(() => undefined), 200);
      return Promise.resolve(true);
    },
  };
}
