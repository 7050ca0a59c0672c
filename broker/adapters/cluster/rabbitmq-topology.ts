// What the bridges need to exist in the cluster: two durable quorum queues bound to the topics of vehicles, made before the
// first vehicle publishes, since the cluster acknowledges and drops what no queue is bound to. It must never change, empty
// or remove a queue that is there.
import type { ChannelModel } from 'amqplib';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { UplinkVerb } from '../../../src/core/wire/topics.ts';
import { bindingOf, topicExchange } from '../../core/cluster/cluster-access.ts';

/**
 * No message is ever dropped for having been delivered too often, as 4.x does after 20 times by default. Its value for "no limit"
 * (-1) is invalid for 3.x, so both get a number that is not reached in years.
 */
const deliveryLimit = 2_000_000_000;

interface Queue {
  readonly name: string;
  readonly verbs: readonly UplinkVerb[];
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

/**
 * One bridge at a time takes each: the order of what a vehicle says stays. Two that share its events would each see gaps in their
 * numbers, and keep note of them, at three times the cost of an event.
 */
const quorum = {
  'x-queue-type': 'quorum',
  'x-delivery-limit': deliveryLimit,
  'x-single-active-consumer': true,
} as const;

export const queues = {
  events: { name: 'fleetward.events', verbs: ['events'], arguments: quorum },
  sessions: { name: 'fleetward.sessions', verbs: ['hello', 'presence'], arguments: quorum },
} as const satisfies Record<string, Queue>;

/** AMQP 0-9-1 reply codes: 406 precondition failed, 403 access refused, 404 not found. */
const lasting: readonly unknown[] = [406, 403, 404];

function faultOf(thrown: unknown, { name }: Queue): Error {
  const code: unknown =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : null;
  const reason = messageOf(thrown);
  if (!lasting.includes(code)) return new Error(reason, { cause: thrown });
  const hint =
    code === 406
      ? `A queue of that name was made by something else. See what is in it, then remove it with
  rabbitmqctl delete_queue ${name} --vhost <vhost>; a bridge makes it anew.`
      : "Give the bridge's user its permissions: see systemd/rabbitmq/README.md.";
  return new AppError('config', `the cluster refuses the queue ${name}: ${reason}`, { cause: thrown, hint });
}

/** Makes queues and bindings that are not there. @throws AppError `config` when a queue is there and is another. */
export async function declareTopology(connection: ChannelModel): Promise<void> {
  for (const queue of Object.values(queues)) {
    const channel = await connection.createChannel();
    // What went wrong comes with the rejection as well.
    channel.on('error', () => undefined);
    try {
      await channel.assertQueue(queue.name, { durable: true, arguments: { ...queue.arguments } });
      for (const verb of queue.verbs) await channel.bindQueue(queue.name, topicExchange, bindingOf(verb));
    } catch (thrown) {
      throw faultOf(thrown, queue);
    }
    await channel.close();
  }
}
