// Checks before a run that its vehicles reach the given broker and that the key they pin is the key of that broker. With a wrong key
// every vehicle would refuse the welcome, and the run would only report that everything was lost.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import { encodeJsonMessage, signedTypes } from '../../src/core/wire/wire.ts';
import type { MqttLink, Verifier } from '../../src/ports.ts';
import { deviceLink } from './link/device-link.ts';
import type { Target } from './service/broker-access.ts';
import type { Provisioned } from './service/provision.ts';
import type { RunPorts } from './shared/run-ports.ts';

const patienceMs = 15_000;

function verifierOf({ createVerifier }: RunPorts, publicKey: string): Verifier {
  try {
    return createVerifier(publicKey);
  } catch (thrown) {
    throw new AppError('usage', `--public-key is not a key: ${messageOf(thrown)}`, {
      hint: '`fleetward-broker device secret` shows the key of the broker.',
    });
  }
}

function refusal(target: Target, reason: string): AppError {
  const isTls = target.mqtt.startsWith('mqtts:');
  const hint = isTls
    ? 'Does its MQTT listener use TLS there, and is --ca the authority of its certificate?'
    : 'Does its MQTT listener accept connections without TLS there?';
  return new AppError('unavailable', `No vehicle can connect to ${target.mqtt}: ${reason}`, { hint });
}

/**
 * Connects once as this device and waits for the signed welcome.
 * @throws AppError `unavailable` without a broker there, `usage` when it signs with another key.
 */
export async function preflight(ports: RunPorts, target: Target, device: Provisioned): Promise<void> {
  const { publicKey } = target;
  if (publicKey === null) return;
  const verifier = verifierOf(ports, publicKey);
  const user = `${target.login.accountID}/${device.deviceID}`;
  const root = `fleet/v1/${user}`;
  let link: MqttLink | null = null;
  const hello = encodeJsonMessage({
    boot: hexId(ports.entropy.bytes(8)),
    nonce: hexId(ports.entropy.bytes(8)),
    agentVersion: 'preflight',
    features: [],
    sensors: [],
    configVersion: 0,
    commandCounter: 0,
    timeQuality: 'none',
  });
  await new Promise<void>((done, fail) => {
    const cancel = ports.clock.after(patienceMs, () => fail(refusal(target, 'no welcome came')));
    const end = (error: AppError | null): void => {
      cancel();
      if (error === null) done();
      else fail(error);
    };
    const greet = async (open: MqttLink): Promise<void> => {
      await open.subscribe([`${root}/welcome`]);
      await open.publish({ topic: `${root}/hello`, payload: hello, qos: 1 });
    };
    const opened = ports.openMqttLink(
      deviceLink({ ...device, url: target.mqtt, ca: target.ca, accountID: target.login.accountID }),
      {
        onUp: () => void greet(opened).catch((thrown: unknown) => end(refusal(target, messageOf(thrown)))),
        onMessage({ payload }, acknowledge) {
          acknowledge();
          const isOurs = verifier.verify(new TextDecoder().decode(payload), signedTypes.welcome) !== null;
          const hint = '`fleetward-broker device secret` shows the key of the broker.';
          end(isOurs ? null : new AppError('usage', '--public-key is not the key of this broker', { hint }));
        },
        onDown: (reason) => end(refusal(target, reason)),
      },
    );
    link = opened;
  }).finally(() => void link?.close());
}
