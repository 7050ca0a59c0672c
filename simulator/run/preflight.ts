// Looks before a run whether its vehicles can reach the broker that it was pointed at, and whether the key that they are to pin is
// that broker's: a wrong one would make every vehicle refuse its welcome, and the run would only say that all was lost.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import { encodeJsonMessage, signedTypes } from '../../src/core/wire.ts';
import type { MqttLink, Verifier } from '../../src/ports.ts';
import type { Target } from './own-broker.ts';
import type { RunPorts } from './ports.ts';
import type { Provisioned } from './provision.ts';

const patienceMs = 15_000;

function verifierOf({ createVerifier }: RunPorts, publicKey: string): Verifier {
  try {
    return createVerifier(publicKey);
  } catch (thrown) {
    throw new AppError('usage', `--public-key is no key: ${messageOf(thrown)}`, {
      hint: '`fleetward-broker device secret` shows the one of the broker.',
    });
  }
}

function refusal(target: Target, reason: string): AppError {
  const isTls = target.mqtt.startsWith('mqtts:');
  const hint = isTls
    ? 'Does its MQTT listener speak TLS there, and is --ca the authority of its certificate?'
    : 'Is its MQTT listener there, and does it take connections without TLS?';
  return new AppError('unavailable', `No vehicle can connect to ${target.mqtt}: ${reason}`, { hint });
}

/**
 * Connects once as this device and waits for the signed welcome.
 * @throws AppError `unavailable` where there is no broker; `usage` where it signs with another key.
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
      {
        url: target.mqtt,
        clientId: user,
        username: user,
        password: device.secret,
        keepaliveS: 60,
        connectTimeoutMs: 10_000,
        will: { topic: `${root}/presence`, payload: new TextEncoder().encode('offline'), qos: 1 },
        ...(target.ca === null || target.ca === undefined ? {} : { ca: target.ca }),
      },
      {
        onUp: () => void greet(opened).catch((thrown: unknown) => end(refusal(target, messageOf(thrown)))),
        onMessage({ payload }, acknowledge) {
          acknowledge();
          const isOurs = verifier.verify(new TextDecoder().decode(payload), signedTypes.welcome) !== null;
          const hint = '`fleetward-broker device secret` shows the right one.';
          end(isOurs ? null : new AppError('usage', '--public-key is not the key of this broker', { hint }));
        },
        onDown: (reason) => end(refusal(target, reason)),
      },
    );
    link = opened;
  }).finally(() => void link?.close());
}
