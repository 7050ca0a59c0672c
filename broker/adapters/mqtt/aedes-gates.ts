// The hooks of aedes: authentication, and authorization to publish, subscribe and receive. A hook must never throw, because that would end the
// process, and never answer before the work behind it is done.
import type { Duplex } from 'node:stream';
import type { Aedes, AuthenticateError, Client, ConnectPacket } from 'aedes';
import { messageOf } from '../../../src/core/errors.ts';
import { pause } from '../../../src/timeout.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import {
  type ConnackCode,
  type ConnectVerdict,
  connackCodes,
  judgePublish,
  mayReceive,
} from '../../core/mqtt/mqtt-access.ts';
import type { Rates } from '../../core/scheduling/rate.ts';
import type { MqttCount, MqttLimits, MqttServerOptions } from '../../ports/mqtt-server.ts';
import type { Reader } from './aedes-reader.ts';
import { createSession, type Pressure, type Session, type SessionRules } from './aedes-session.ts';
import type { Peer } from './mqtt-listener.ts';

const authenticateTimeoutMs = 10_000;
const failureDelayMs = 2000;
/** Maximum number of bytes waiting for a client that does not read; beyond it the client is dropped. */
const backlogMost = 1024 * 1024;

export interface Connection {
  readonly peer: Peer;
  readonly reader: Reader;
  /** Verdict on its CONNECT; null before it and after the login. */
  verdict: ConnectVerdict | null;
  session: Session | null;
}

/** State shared by the hooks of one server. */
export interface ServerState {
  readonly options: MqttServerOptions;
  readonly limits: MqttLimits;
  readonly rules: SessionRules;
  /** Facts about each connection, from its acceptance on. */
  readonly connections: WeakMap<Client, Connection>;
  /** The newest connection of each user name. */
  readonly sessions: Map<string, Session>;
  readonly pressure: Pressure;
  readonly failures: Rates;
  isClosing: boolean;
}

const socketOf = (client: Client): Duplex => client.conn;
/** Address of the peer; empty if it was gone at once. */
export const addressOf = (state: ServerState, client: Client): string =>
  state.connections.get(client)?.peer.address ?? '';
export const sessionOf = (state: ServerState, client: Client): Session | null =>
  state.connections.get(client)?.session ?? null;

/** Facts of a CONNECT and its connection, for the judge. */
export function factsOf(packet: ConnectPacket, peer: Peer | undefined) {
  const { will, username, password, clientId, keepalive } = packet;
  return {
    clientId,
    username: username ?? null,
    keepaliveS: keepalive ?? 0,
    hasPassword: password !== undefined && password !== null && password.length > 0,
    will: will
      ? { topic: will.topic, qos: will.qos ?? 0, retain: will.retain === true, messageId: undefined }
      : null,
    certificate: peer?.certificate ?? null,
    certificateSuffices: peer?.certificateSuffices === true,
  };
}

/** Name under which a refusal is counted. */
function countOf(refused: AuthenticateError): MqttCount {
  const code: unknown = refused.returnCode;
  if (code === connackCodes.unavailable) return 'refused_unavailable';
  return code === connackCodes.badCredentials ? 'refused_credentials' : 'refused_identity';
}

function refusal(code: ConnackCode, reason: string): AuthenticateError {
  const error: Error & { returnCode?: number } = new Error(reason);
  error.returnCode = code;
  // The type's enum is `const` and only declared, so its numbers cannot be imported; this cast supplies them.
  return error as unknown as AuthenticateError;
}

/** Resolves to the device or to the refusal; never rejects. */
async function logIn(
  state: ServerState,
  client: Client,
  secret: Uint8Array | null,
): Promise<DeviceRef | AuthenticateError> {
  const { clock, log, authenticate, isOverloaded, onRefused } = state.options;
  const connection = state.connections.get(client);
  const verdict = connection?.verdict ?? null;
  if (connection === undefined || verdict === null)
    return refusal(connackCodes.notAuthorized, 'no CONNECT was judged');
  const { device: named } = verdict;
  const refused = verdict.ok ? null : refusal(verdict.code, verdict.reason);
  if (named === undefined) return refused ?? refusal(connackCodes.badCredentials, 'no device is named');
  if (isOverloaded() || state.isClosing)
    return refusal(connackCodes.unavailable, 'the broker cannot keep up');
  connection.verdict = null;
  const { address, certificate } = connection.peer;
  const network = networkOf(address);
  // A resumed TLS session is not verified again: its certificate may have expired since.
  if (certificate !== null && certificate.untilMs <= clock.utcMs())
    return refusal(connackCodes.notAuthorized, 'the certificate has expired');
  if (state.failures.isSpent(network, clock.monoMs())) {
    await pause(clock, failureDelayMs);
  }
  try {
    const device = await authenticate(named, { secret, certificate });
    // Only with the right secret, because anyone may name a device.
    if (device !== null && refused !== null) onRefused?.(device, refused.message);
    if (device !== null) return refused ?? device;
    state.failures.take(network, clock.monoMs());
    return refusal(connackCodes.badCredentials, 'unknown device, wrong secret or revoked certificate');
  } catch (thrown) {
    log.error('device_login_failed', { reason: messageOf(thrown) });
    return refusal(connackCodes.unavailable, 'the broker cannot check the secret now');
  }
}

/** Admits a device with the right secret; every refusal is a CONNACK with its code. */
export function authenticator(state: ServerState): Aedes['authenticate'] {
  const { clock, log, count } = state.options;
  return (client, username, password, done) => {
    let isAnswered = false;
    const answer = (outcome: DeviceRef | AuthenticateError): void => {
      if (isAnswered) return;
      isAnswered = true;
      cancel();
      if (outcome instanceof Error) {
        const user = (username ?? '').slice(0, 140);
        const facts = { user, clientId: client.id.slice(0, 140), address: addressOf(state, client) };
        log.info('connection_refused', { ...facts, reason: outcome.message });
        count?.(countOf(outcome));
        done(outcome, false);
        return;
      }
      const security = openSession(state, client, outcome);
      if (security === null) return done(refusal(connackCodes.unavailable, 'no reader'), false);
      count?.('accepted');
      count?.(`login_${security}`);
      done(null, true);
    };
    const timedOut = (): void =>
      answer(refusal(connackCodes.unavailable, 'the check of the secret took too long'));
    const cancel = clock.after(authenticateTimeoutMs, timedOut);
    const secret =
      password === undefined || password === null || password.length === 0 ? null : new Uint8Array(password);
    void logIn(state, client, secret).then(answer);
  };
}

/** Opens a session and returns the security of its connection; null: the connection is unknown. */
function openSession(state: ServerState, client: Client, device: DeviceRef): Peer['security'] | null {
  const connection = state.connections.get(client);
  if (connection === undefined) return null;
  const { reader, peer } = connection;
  const socket = socketOf(client);
  const parts = { device, client, socket, reader, network: networkOf(peer.address) };
  connection.session = createSession(state.rules, parts);
  return peer.security;
}

/** Judges what the session did not take: wills, and publishes to refuse, which end the connection. */
export function publishGate(state: ServerState): Aedes['authorizePublish'] {
  const { log } = state.options;
  return (client, packet, done) => {
    const session = client === null ? null : sessionOf(state, client);
    // A will of another process, or of a connection that never logged in: no client receives it.
    if (client === null || session === null)
      return done(client === null ? null : new Error('not authorized'));
    const { accountID, deviceID } = session.device;
    const verdict = judgePublish(session.device, {
      topic: packet.topic,
      qos: packet.qos,
      retain: packet.retain,
      messageId: packet.messageId,
    });
    // Only a will comes from a closed client. The socket itself reports the end of the connection.
    if (verdict.ok && client.closed) return done(null);
    const reason = verdict.ok ? 'it was not taken' : verdict.reason;
    state.options.count?.('publish_refused');
    log.warn('publish_refused', { accountID, deviceID, topic: packet.topic.slice(0, 200), reason });
    state.options.onRefused?.(session.device, reason);
    done(new Error(reason));
  };
}

/** Grants a device its own downlink topics; anything else is SUBACK 0x80. */
export function subscribeGate(state: ServerState): Aedes['authorizeSubscribe'] {
  return (client, subscription, done) => {
    const session = sessionOf(state, client);
    if (session !== null && mayReceive(session.device, subscription.topic)) return done(null, subscription);
    const topic = subscription.topic.slice(0, 200);
    state.options.count?.('subscription_refused');
    state.options.log.warn('subscription_refused', { user: client.id.slice(0, 140), topic });
    done(null, null);
  };
}

/** Checks each delivery, and closes a client that does not read. */
export function forwardGate(state: ServerState): Aedes['authorizeForward'] {
  return (client, packet) => {
    const session = sessionOf(state, client);
    if (session === null || !mayReceive(session.device, packet.topic)) return null;
    if (session.socket.writableLength > backlogMost) {
      state.options.log.warn('client_not_reading', { user: client.id });
      state.options.count?.('unread');
      session.socket.destroy();
      return null;
    }
    return packet;
  };
}
