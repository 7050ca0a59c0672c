// The agent's MQTT session: connects, sends hello and events and deletes them as ordered by `core/link/delivery.ts`,
// and passes messages on only after their signature was checked. It must never delete an event by itself, nor
// acknowledge a command before it is on disk.

import { messageOf } from '../src/core/errors.ts';
import { encodeProtobuf } from '../src/core/events/event-protobuf.ts';
import { hexId } from '../src/core/ids.ts';
import {
  type DownlinkVerb,
  formatDeviceUser,
  formatTopic,
  shortEventsTopic,
  type UplinkVerb,
} from '../src/core/wire/topics.ts';
import {
  decodeAck,
  decodeCommand,
  decodeWelcome,
  encodeJsonMessage,
  type Hello,
  signedTypes,
} from '../src/core/wire/wire.ts';
import type {
  Clock,
  Entropy,
  Log,
  MqttLink,
  MqttLinkOptions,
  MqttMessage,
  OpenMqttLink,
  Verifier,
} from '../src/ports.ts';
import { pause } from '../src/timeout.ts';
import type { AgentConfig } from './config.ts';
import { createConfigInbox } from './config-unpacking.ts';
import type { VehicleEvent } from './core/kernel/vehicle-events.ts';
import {
  type DeliveryEffect,
  type DeliveryInput,
  type DeliveryState,
  isDrained,
  type Lanes,
} from './core/link/delivery.ts';
import { agentModules } from './modules.ts';
import type { Batch, Outbox } from './outbox.ts';

const limits = {
  batchEvents: 50,
  batchBytes: 16 * 1024,
  /** Unanswered QoS 1 messages held at most; beyond it they are dropped unacknowledged and come again. */
  receipts: 100,
  connectTimeoutMs: 20_000,
} as const;

interface SessionPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly openMqttLink: OpenMqttLink;
  readonly verifier: Verifier;
}

interface SessionOptions {
  readonly config: AgentConfig;
  readonly ports: SessionPorts;
  readonly outbox: Outbox;
  readonly boot: string;
  hello(nonce: string): Hello;
  dispatch(event: VehicleEvent): void;
}

const downlinks = agentModules.flatMap((module) => module.downlinks ?? []);

type Topic = (verb: UplinkVerb | DownlinkVerb) => string;

/** Checks messages and passes them on; keeps the receipts of commands until they are persisted. */
function createInbox({ config, ports, boot, dispatch }: SessionOptions, topic: Topic) {
  const { log, verifier } = ports;
  const { accountID, deviceID } = config;
  const configs = createConfigInbox({
    verifier,
    log,
    mine: { accountID, deviceID, boot },
    onConfig: (received) => dispatch({ kind: 'config', received }),
  });
  const receipts = new Map<number, () => void>();
  let nextReceipt = 1;
  let ackedMs: number | null = null;
  const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);

  const handleWelcome = (payload: Uint8Array): void => {
    const body = verifier.verify(text(payload), signedTypes.welcome);
    const welcome = body === null ? null : decodeWelcome(body);
    if (welcome !== null) return dispatch({ kind: 'welcome', welcome });
    log.error('welcome_invalid', {
      reason: 'bad signature',
      hint: 'Is broker.publicKey that of this broker?',
    });
  };

  /** Other messages on the topic of the commands, each under a type of its own. */
  const handleOther = (token: string): boolean =>
    downlinks.some(({ kind, type, decode }) => {
      const payload = verifier.verify(token, type);
      const body = payload === null ? null : decode(payload);
      // The module decodes what its own kind of event has.
      if (body !== null) dispatch({ kind, body } as VehicleEvent);
      return body !== null;
    });

  const handleCommand = (payload: Uint8Array, acknowledge: () => void): void => {
    const token = text(payload);
    const body = verifier.verify(token, signedTypes.command);
    const command = body === null ? null : decodeCommand(body);
    if (command === null && handleOther(token)) return acknowledge();
    if (command === null) {
      log.error('command_invalid', {
        reason: 'bad signature or content',
        hint: 'Is broker.publicKey that of this broker?',
      });
      return acknowledge();
    }
    if (receipts.size >= limits.receipts) return;
    const receipt = nextReceipt++;
    receipts.set(receipt, acknowledge);
    dispatch({ kind: 'command', body: command, receipt, token });
  };

  return {
    handle({ topic: name, payload }: MqttMessage, acknowledge: () => void): void {
      if (name === topic('commands')) return handleCommand(payload, acknowledge);
      acknowledge();
      if (name === topic('welcome')) return handleWelcome(payload);
      if (name === topic('config')) return configs.handle(text(payload));
      const ack = name === topic('ack') ? decodeAck(payload) : null;
      if (ack === null) return;
      ackedMs = ports.clock.monoMs();
      dispatch({ kind: 'ack', ack });
    },
    /** When the last acknowledgement came (monotonic); null when none did. */
    ackedMs: (): number | null => ackedMs,
    acknowledge(receipt: number): void {
      receipts.get(receipt)?.();
      receipts.delete(receipt);
    },
    clear: (): void => receipts.clear(),
  };
}

/** What goes out over one link. */
function createOutlet({ config, outbox }: Pick<SessionOptions, 'config' | 'outbox'>, topic: Topic) {
  const { accountID, deviceID, broker } = config;
  const user = formatDeviceUser({ accountID, deviceID });
  const presence = (word: 'online' | 'offline'): MqttMessage => ({
    topic: topic('presence'),
    payload: new TextEncoder().encode(word),
    qos: 1,
  });
  const say = (link: MqttLink, hello: Hello): void =>
    void link.publish({ topic: topic('hello'), payload: encodeJsonMessage(hello), qos: 1 });
  return {
    presence,
    linkOptions: {
      url: broker.url,
      clientId: user,
      username: user,
      password: broker.secret,
      connectTimeoutMs: limits.connectTimeoutMs,
      will: presence('offline'),
      ...(broker.ca === undefined ? {} : { ca: broker.ca }),
      ...(broker.client === undefined ? {} : broker.client),
    },
    hello: say,
    async greet(link: MqttLink, hello: Hello): Promise<void> {
      await link.subscribe([topic('welcome'), topic('ack'), topic('commands'), topic('config')]);
      say(link, hello);
      void link.publish(presence('online'));
    },
    /** The next events of one packet: live positions go with the change of state that they were committed with, alarms alone. */
    async nextBatch({ backlog, urgentOnly }: Lanes): Promise<Batch | null> {
      const want = { limit: limits.batchEvents, bytes: limits.batchBytes, backlog };
      const first = await outbox.next({ ...want, ...(urgentOnly ? { skip: [2, 3] } : {}) });
      const limit = limits.batchEvents - (first?.events.length ?? 0);
      if (first === null || first.isBacklog || first.priority !== 2 || limit === 0) return first;
      const more = await outbox.next({ ...want, limit, backlog: 0, skip: [0, 1], boot: first.boot });
      const events = [...first.events, ...(more?.events ?? [])].sort((a, b) => a.seq - b.seq);
      return { ...first, events };
    },
    /** Gives the bytes of the payloads. */
    send(link: MqttLink, batch: Batch, isShort: boolean): number {
      const name = isShort ? shortEventsTopic : topic('events');
      let left = batch.events;
      let bytes = 0;
      while (left.length > 0) {
        const { payload, count } = encodeProtobuf(batch.boot, left);
        void link.publish({ topic: name, payload, qos: 1 });
        bytes += payload.length;
        left = left.slice(count);
      }
      return bytes;
    },
  };
}

/** One link at a time, by generation: callbacks of replaced links are ignored. */
function createConnection(options: SessionOptions, inbox: ReturnType<typeof createInbox>) {
  const { ports, dispatch } = options;
  let link: MqttLink | null = null;
  let generation = 0;
  let connects = 0;
  const drop = (): MqttLink | null => {
    const dropped = link;
    generation += 1;
    link = null;
    inbox.clear();
    return dropped;
  };
  return {
    link: (): MqttLink | null => link,
    /** Connections that came about since the start. */
    connects: (): number => connects,
    drop,
    open(linkOptions: MqttLinkOptions): void {
      drop();
      const mine = generation;
      const isCurrent = (): boolean => generation === mine;
      const deliver = (input: DeliveryInput): void => dispatch({ kind: 'delivery', input });
      link = ports.openMqttLink(linkOptions, {
        onUp: () => {
          if (!isCurrent()) return;
          connects += 1;
          deliver({ kind: 'up', nonce: hexId(ports.entropy.bytes(8)) });
        },
        onMessage: (message, acknowledge) => isCurrent() && inbox.handle(message, acknowledge),
        onDown: (reason, isSilent = false) => {
          if (!isCurrent()) return;
          drop();
          deliver({ kind: 'down', reason, isSilent });
        },
      });
    },
  };
}

/** The session of one agent. */
export function createSession(options: SessionOptions) {
  const { config, ports, outbox, dispatch } = options;
  const { log, clock } = ports;
  const topic: Topic = (verb) =>
    formatTopic({ accountID: config.accountID, deviceID: config.deviceID }, verb);
  const inbox = createInbox(options, topic);
  const outlet = createOutlet(options, topic);
  const connection = createConnection(options, inbox);
  const deliver = (input: DeliveryInput): void => dispatch({ kind: 'delivery', input });

  const greet = async (nonce: string): Promise<void> => {
    const link = connection.link();
    if (link === null) return;
    // Events stored from now on are live, and precede those stored until now.
    await outbox.rewind();
    await outlet.greet(link, options.hello(nonce));
    if (link === connection.link()) deliver({ kind: 'greeted' });
  };

  /** Sends another hello for the time in the answer; events in flight stay so. */
  const renew = (): void => {
    const link = connection.link();
    if (link === null) return;
    const nonce = hexId(ports.entropy.bytes(8));
    deliver({ kind: 'renewed', nonce });
    outlet.hello(link, options.hello(nonce));
  };

  const fetch = async (lanes: Lanes, isShort: boolean): Promise<void> => {
    const link = connection.link();
    const batch = await outlet.nextBatch(lanes);
    // The link changed meanwhile: what was read is handed out again.
    if (link === null || link !== connection.link()) return outbox.rewind();
    if (batch === null) return deliver({ kind: 'empty' });
    const bytes = outlet.send(link, batch, isShort);
    const { boot, isBacklog } = batch;
    deliver({ kind: 'fetched', boot, seqs: batch.events.map((event) => event.seq), bytes, isBacklog });
  };

  const failed = (what: string) => (thrown: unknown) => {
    log.warn(what, { reason: messageOf(thrown) });
    connection.link()?.destroy(`${what}: ${messageOf(thrown)}`);
  };

  return {
    acknowledge: inbox.acknowledge,
    facts: () => ({ connects: connection.connects(), ackedMs: inbox.ackedMs() }),
    perform(effect: DeliveryEffect): void {
      switch (effect.kind) {
        case 'connect':
          return connection.open({ ...outlet.linkOptions, keepaliveS: effect.keepaliveS });
        case 'greet':
          return void greet(effect.nonce).catch(failed('subscribing failed'));
        case 'renew':
          return renew();
        case 'destroy':
          log.warn('connection_abandoned', { reason: effect.reason });
          return connection.drop()?.destroy(effect.reason);
        case 'rewind':
          return void outbox.rewind().catch(failed('rewinding the outbox failed'));
        case 'fetch':
          return void fetch(effect, effect.isShort).catch(failed('reading the outbox failed'));
        case 'forget':
          return void outbox.acknowledge(effect.boot, effect.ranges).catch((thrown: unknown) => {
            log.warn('outbox_removal_failed', { reason: messageOf(thrown) });
          });
      }
    },
    /** Resolves when everything stored has been acknowledged, the link is down, or time is up. */
    async drained(untilMs: number, delivery: () => DeliveryState): Promise<void> {
      const isDone = (): boolean => {
        const state = delivery();
        const { phase, inFlight } = state;
        return (
          phase.kind !== 'up' || (isDrained(state) && inFlight.length === 0) || clock.monoMs() >= untilMs
        );
      };
      while (!isDone()) await pause(clock, 20);
    },
    async close(): Promise<void> {
      const link = connection.drop();
      if (link === null) return;
      void link.publish(outlet.presence('offline'));
      await link.close();
    },
  };
}
