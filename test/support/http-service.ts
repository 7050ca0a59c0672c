// A whole broker in this process for tests of the HTTP service: real store, ingest, ledger and host, in memory, on a
// clock that the test may move. Requests go in without a socket.

import { createMqttServer } from '../../broker/adapters/aedes.ts';
import { createHttpServer } from '../../broker/adapters/fastify.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { createAccount, createDevice } from '../../broker/administration.ts';
import { operations } from '../../broker/api/operations.ts';
import { createBroker } from '../../broker/broker.ts';
import type { Role } from '../../broker/core/session.ts';
import { createServices } from '../../broker/services.ts';
import { insertUser } from '../../broker/store/accounts.ts';
import { findDevice } from '../../broker/store/devices.ts';
import { createSigner, generateSigningKey } from '../../src/adapters/signing.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import type { Log, LogFields } from '../../src/ports.ts';

export const password = 'correct horse battery staple';

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text, which is sent as it is. */
  readonly body?: unknown;
  readonly from?: string;
}

function recordingLog(lines: string[]): Log {
  const write = (event: string, fields: LogFields = {}) =>
    void lines.push(JSON.stringify({ event, ...fields }));
  return { debug: write, info: write, warn: write, error: write, with: () => recordingLog(lines) };
}

/** Starts it; `close` must be called. */
export async function startHttpService() {
  const entropy = createSystemEntropy();
  const system = createSystemClock();
  let laterMs = 0;
  const clock = { ...system, utcMs: () => system.utcMs() + laterMs, monoMs: () => system.monoMs() + laterMs };
  const logLines: string[] = [];
  const db = openSqlite({ path: ':memory:', pageSize: 4096 });
  const signer = createSigner(generateSigningKey().privatePem);
  const log = recordingLog(logLines);
  const broker = await createBroker({
    openMqttServer: createMqttServer,
    db,
    clock,
    entropy,
    signer,
    log,
    mqtt: { host: '127.0.0.1', port: 0 },
  });
  const passwords = createPasswords();
  const services = createServices({ broker: broker.services, passwords });
  let faults: string[] = [];
  const http = await createHttpServer({
    services: services.api,
    operations,
    version: '0.0.0',
    readiness: async () => [
      { name: 'database', fault: null },
      ...faults.map((name) => ({ name, fault: 'is broken' })),
    ],
  });
  const ports = { db, clock, entropy, passwords };
  const call = async (request: Call) => {
    const { method = 'GET', path, token, headers = {}, body, from = '127.0.0.1' } = request;
    const isText = typeof body === 'string';
    const answer = await http.inject({
      method,
      url: path,
      remoteAddress: from,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: token }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: isText ? body : JSON.stringify(body) }),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      json: () => answer.json<Record<string, unknown>>(),
    };
  };
  return {
    call,
    logLines,
    http,
    advance: (ms: number) => void (laterMs += ms),
    breakPart: (name: string) => void (faults = [...faults, name]),
    async login(accountID: string, userID: string): Promise<string> {
      const answer = await call({
        method: 'POST',
        path: '/api/v1/auth/login',
        body: { accountID, userID, password },
      });
      return String(answer.json()['token']);
    },
    account: (accountID: string) => createAccount(ports, { accountID, userID: 'admin', password }),
    async user(accountID: string, userID: string, role: Role): Promise<void> {
      const passwordHash = await passwords.hash(password);
      await db.write([insertUser({ accountID, userID, passwordHash, role, createdS: 1 })]);
    },
    device: (accountID: string, deviceID: string) => createDevice(ports, { accountID, deviceID }),
    /** Takes events in as if the device had sent them in the JSON form. */
    async events(accountID: string, deviceID: string, batch: object): Promise<void> {
      const row = await findDevice(db, { accountID, deviceID });
      if (row === null) throw new Error(`no device ${deviceID}`);
      const payload = new TextEncoder().encode(JSON.stringify(batch));
      const outcome = await broker.services.ingest.submit(row, payload);
      if (outcome.kind !== 'stored') throw new Error(`the batch was not stored: ${JSON.stringify(outcome)}`);
    },
    sql: (text: string) => db.write([{ sql: text, params: [] }]),
    async close(): Promise<void> {
      await http.close();
      await services.close();
      await broker.close();
    },
  };
}
