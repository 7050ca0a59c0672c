// The interfaces of a run to the outside world. The command line provides the implementations.
import type { OutboxOptions } from '../../../agent/outbox.ts';
import type { Clock, Entropy, OpenMqttLink, Verifier } from '../../../src/ports.ts';

/** A request to a receiver of the run. */
export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export interface HttpReceiver {
  readonly url: string;
  close(): void;
}

export interface RunPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly openMqttLink: OpenMqttLink;
  createVerifier(publicKey: string): Verifier;
  readonly openDatabase: OutboxOptions['openDatabase'];
  /** Listens on a free port of this machine. @param take gives the status of the answer. */
  openHttpReceiver(take: (request: ReceivedRequest) => number): Promise<HttpReceiver>;
}

/** The time of a run: ms since its start, in every process. */
export interface RunTime {
  nowMs(): number;
}
