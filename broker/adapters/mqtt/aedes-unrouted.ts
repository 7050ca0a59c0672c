// aedes 1.2 without its routing and its store. A publish of one vehicle never goes to another connection, nothing is retained and no session outlives
// its connection, so there is nothing to match, look up or keep. It must hold nothing, whatever comes in. Messages to a vehicle bypass all of this
// (`Client.publish`).
import { Readable } from 'node:stream';
import type { AedesOptions } from 'aedes';

type Done = (error?: Error | null) => void;

/** The emitter of aedes (mqemitter): accepts and drops subscriptions and messages. */
const emitter = {
  concurrency: 0,
  current: 0,
  on(_topic: string, _listener: unknown, done?: Done) {
    done?.();
    return this;
  },
  removeListener(_topic: string, _listener: unknown, done?: Done) {
    done?.();
    return this;
  },
  emit(_packet: unknown, done?: Done) {
    done?.();
    return this;
  },
  close(done: Done) {
    setImmediate(done);
    return this;
  },
};

const done = async (): Promise<void> => undefined;
const missing = async (): Promise<never> => {
  throw new Error('nothing is kept');
};

/** The persistence of aedes, always empty. Clients are clean sessions, so little of it is ever called. */
const persistence = {
  setup: done,
  storeRetained: done,
  // Only its `pipe` is called, to send retained messages.
  createRetainedStreamCombi: () => ({ pipe: () => undefined }),
  addSubscriptions: done,
  removeSubscriptions: done,
  cleanSubscriptions: done,
  subscriptionsByClient: async () => [],
  subscriptionsByTopic: async () => [],
  outgoingEnqueue: done,
  outgoingEnqueueCombi: done,
  outgoingUpdate: missing,
  outgoingClearMessageId: done,
  outgoingStream: () => Readable.from([]),
  // QoS 2 is refused before; a PUBREL of nothing gets its PUBCOMP (MQTT-4.3.3-2).
  incomingStorePacket: missing,
  incomingGetPacket: missing,
  incomingDelPacket: missing,
  cleanIncoming: done,
  putWill: done,
  delWill: done,
  streamWill: () => Readable.from([]),
};

/** For the constructor of Aedes. */
export const unroutedOptions = { mq: emitter, persistence } as const satisfies AedesOptions;
