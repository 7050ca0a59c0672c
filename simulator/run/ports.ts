// What a run needs of the outside world; the composition root joins the real things.
import type { OutboxOptions } from '../../agent/outbox.ts';
import type { Clock, Entropy, OpenMqttLink, Verifier } from '../../src/ports.ts';

export interface RunPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly openMqttLink: OpenMqttLink;
  createVerifier(publicKey: string): Verifier;
  readonly openDatabase: OutboxOptions['openDatabase'];
}
