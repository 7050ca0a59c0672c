// Carries out every operation of the HTTP service that changes something, against a real broker in an account of its own: as people and
// programs do, judged by what other operations then read, and by the audit log.
import { setTimeout as sleep } from 'node:timers/promises';
import { servedPaths } from '../../../broker/api/base/operation.ts';
import { operations } from '../../../broker/operations.ts';
import { ageUser } from '../../../simulator/age-user.ts';
import { noEventLimits } from '../../../simulator/broker-process.ts';
import { keyOf, readEntries } from '../../../simulator/run/exercises/audit.ts';
import { type AuditedChange, eventually } from '../../../simulator/run/exercises/exercise.ts';
import { openReceiver } from '../../../simulator/run/exercises/webhook.ts';
import { deviceLink } from '../../../simulator/run/link/device-link.ts';
import {
  type Login,
  openService,
  type Service,
  type ServiceCall,
} from '../../../simulator/run/service/service.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createEnrolmentCrypto } from '../../../src/adapters/enrolment-crypto.ts';
import { openHttpReceiver } from '../../../src/adapters/http-receiver.ts';
import { openMqttLink } from '../../../src/adapters/mqtt-link.ts';
import { createSystemClock, createSystemEntropy } from '../../../src/adapters/system.ts';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { decodeGrant, transcriptOf } from '../../../src/core/wire/enrolment.ts';
import { parseEnrolmentCode } from '../../../src/core/wire/enrolment-code.ts';
import { formatTopic } from '../../../src/core/wire/topics.ts';
import type { MqttLink } from '../../../src/ports.ts';
import { temporaryFolder } from '../machine/temporary-folder.ts';
import { type BrokerSetup, dist, runProgram, startBroker } from '../programs/fleet-processes.ts';
import { areas } from './areas.ts';
import {
  type Bench,
  type Call,
  type Caller,
  type DeviceConnection,
  type Enrolled,
  type OperationID,
  type UserName,
  userIDs,
} from './bench.ts';

const accountID = 'operations';
const roles = { second: 'admin', operator: 'operator', viewer: 'viewer' } as const;
/** Ends a hang. */
const patienceMs = 60_000;
const streamMost = 65_536;

const clock = createSystemClock();
const entropy = createSystemEntropy();
const enrolment = createEnrolmentCrypto(entropy);
const openDatabase: Parameters<typeof ageUser>[0]['openDatabase'] = (file) => openSqlite(file);
const createPassword = (): string => Buffer.from(entropy.bytes(24)).toString('base64url');

/** The broker, and its command line. */
interface Host {
  readonly setup: BrokerSetup;
  run(args: readonly string[], input?: string): string;
}

interface Account {
  readonly logins: Readonly<Record<UserName, Login>>;
  readonly services: Readonly<Record<UserName, Service>>;
  readonly changes: AuditedChange[];
  readonly secrets: string[];
  close(): Promise<void>;
}

function createAccount(host: Host, name: string): Login {
  const password = createPassword();
  host.run(['account', 'create', name, '--admin', userIDs.admin, '--password-file', '-'], password);
  return { accountID: name, userID: userIDs.admin, password };
}

const httpOf = ({ setup }: Host): string => `http://127.0.0.1:${setup.httpPort}`;

/** Adds the users of the account; all of them count as users of long ago. */
async function openAccount(host: Host, admin: Login): Promise<Account> {
  const changes: AuditedChange[] = [];
  const logIn = (login: Login): Promise<Service> => openService(httpOf(host), login);
  const service = await logIn(admin);
  const create = async (name: keyof typeof roles): Promise<Login> => {
    const login = { accountID, userID: userIDs[name], password: createPassword() };
    const { userID, password } = login;
    const body = { userID, password, roleID: roles[name], groups: ['all'] };
    await service.call({ method: 'POST', path: '/user/createuser/authorization', body });
    changes.push({ userID: admin.userID, action: 'user.create', object: userID });
    return login;
  };
  const logins = {
    admin,
    second: await create('second'),
    operator: await create('operator'),
    viewer: await create('viewer'),
  };
  const path = `${host.setup.folder}/fleet.db`;
  for (const { userID } of Object.values(logins)) await ageUser({ openDatabase, path, accountID, userID });
  const services = {
    admin: service,
    second: await logIn(logins.second),
    operator: await logIn(logins.operator),
    viewer: await logIn(logins.viewer),
  };
  return {
    logins,
    services,
    changes,
    secrets: Object.values(logins).map(({ password }) => password),
    async close() {
      for (const one of Object.values(services)) await one.close();
    },
  };
}

/** The service that calls, and the token in place of its own. */
function callerOf(
  { services }: Account,
  caller: Caller,
): { readonly service: Service; readonly token?: string | null } {
  if (caller === null) return { service: services.admin, token: null };
  return typeof caller === 'string' ? { service: services[caller] } : { service: services.admin, ...caller };
}

/** Method and path below `/api/v1` of an operation, with its parameters. */
function routeOf(id: OperationID, params: Readonly<Record<string, string>>) {
  const operation = operations.find((one) => one.id === id);
  const served = operation === undefined ? [] : servedPaths(operation);
  const path = served.find((one) => one.startsWith(base))?.slice(base.length);
  if (operation === undefined || path === undefined) throw new Error(`${id} is served nowhere below ${base}`);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  return { method: operation.method, path: filled };
}
const base = '/api/v1';

/** Up to the end of its first message with data. */
async function readBegin(service: Service, path: string, token: string): Promise<string> {
  const abort = new AbortController();
  const { signal } = abort;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort.abort();
  }, patienceMs);
  let text = '';
  try {
    const decoder = new TextDecoder();
    for await (const chunk of await service.stream(path, { signal, headers: { authorization: token } })) {
      text += decoder.decode(chunk, { stream: true });
      if (/^data: .*\n\n/m.test(text) || text.length > streamMost) return text;
    }
    return text;
  } catch (thrown) {
    if (isLate) return text;
    throw thrown;
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** Connects as a device, over MQTT. */
function connect({ setup }: Host, { deviceID, secret }: Enrolled): Promise<DeviceConnection> {
  const url = `mqtt://127.0.0.1:${setup.mqttPort}`;
  return new Promise((done) => {
    let link: MqttLink | null = null;
    const end = (isIn: boolean): void => {
      clearTimeout(timer);
      done({
        isIn,
        async publish(verb, text) {
          const topic = formatTopic({ accountID, deviceID }, verb);
          const sent = link?.publish({ topic, payload: new TextEncoder().encode(text), qos: 1 });
          await Promise.race([sent, sleep(patienceMs)]);
        },
        close: () => void link?.close(),
      });
      if (!isIn) void link?.close();
    };
    const timer = setTimeout(() => end(false), patienceMs);
    link = openMqttLink(deviceLink({ url, accountID, deviceID, secret }), {
      onUp: () => end(true),
      onMessage: () => undefined,
      onDown: () => end(false),
    });
  });
}

/** Enrols as a unit does. @returns null when the answer is not sealed to it. */
async function enrol(call: Bench['call'], code: string): Promise<Enrolled | null> {
  const parsed = parseEnrolmentCode(code);
  if (!parsed.ok) throw new AppError('internal', `The code of the service is none: ${parsed.reason}`);
  const { seed, verifier } = await enrolment.deriveCodeKey(parsed);
  const { privateKey, publicKey: deviceKey } = enrolment.createExchangeKey();
  const nonce = Buffer.from(entropy.bytes(16)).toString('base64url');
  const unsigned = { codeID: parsed.codeID, deviceKey, nonce };
  const request = { ...unsigned, proof: enrolment.sign(seed, transcriptOf(unsigned)) };
  const answer = await call<{ brokerKey: string; sealed: string }>('enrolDevice', {
    as: null,
    body: request,
  });
  const plain = enrolment.open({ verifier, privateKey, request }, answer);
  return plain === null ? null : decodeGrant(plain);
}

function createBench(host: Host, account: Account, look: Bench['look']): Bench {
  const { changes, logins, secrets } = account;
  const ask = <T>(as: Caller, call: ServiceCall): Promise<T> => {
    const { service, ...token } = callerOf(account, as);
    return service.call<T>({ ...call, ...token });
  };
  const call = <T>(operation: OperationID, { as = 'admin', params = {}, body }: Call = {}): Promise<T> => {
    const route = routeOf(operation, params);
    return ask<T>(as, route.method === 'POST' ? { ...route, body: body ?? {} } : route);
  };
  return {
    accountID,
    call,
    read(path, as = 'admin') {
      const [plain = '', query] = path.split('?');
      return ask(as, { path: `${plain}/authorization${query === undefined ? '' : `?${query}`}` });
    },
    readBegin(operation, as) {
      const { service, token } = callerOf(account, as);
      return readBegin(service, routeOf(operation, {}).path, token ?? '');
    },
    look,
    changed(action, object, by = 'admin') {
      if (typeof by === 'object') changes.push({ ...by, action, object });
      else changes.push({ userID: by === 'device' ? by : userIDs[by], action, object });
    },
    secret: (text) => void secrets.push(text),
    eventually: (isSo) => eventually({ isStopped: () => false }, isSo),
    nowS: () => Math.floor(clock.utcMs() / 1000),
    unique: createPassword,
    passwordOf: (user) => logins[user].password,
    loginCode(userID) {
      const printed = host.run(['account', 'login-code', accountID, userID, '--json']);
      return Promise.resolve((JSON.parse(printed) as { code: string }).code);
    },
    connect: (device) => connect(host, device),
    enrol: (code) => enrol(call, code),
    openReceiver: () => openReceiver({ openHttpReceiver, clock }),
  };
}

/** Each change stands in the log of the account, and no secret does. */
async function lookAtAudit({ services, changes, secrets }: Account, look: Bench['look']): Promise<void> {
  const entries = await readEntries(services.admin);
  const has = new Set(entries.map(keyOf));
  for (const change of changes) look(has.has(keyOf(change)), `no audit entry ${keyOf(change)}`);
  const text = JSON.stringify(entries);
  look(!secrets.some((secret) => text.includes(secret)), 'a password, code or token stands in the audit log');
}

async function carryOut(host: Host, admin: Login, look: Bench['look']): Promise<void> {
  const account = await openAccount(host, admin);
  try {
    const bench = createBench(host, account, look);
    for (const area of areas) {
      await area.carryOut(bench).catch((thrown: unknown) => {
        if (!(thrown instanceof AppError) || thrown.code === 'unavailable') throw thrown;
        look(false, messageOf(thrown));
      });
    }
    await lookAtAudit(account, look);
  } finally {
    await account.close();
  }
}

/** What the service did wrong. @param build of the broker, with a slash at its end. @throws when it could not be carried out. */
export async function exerciseOperations(build = dist): Promise<readonly string[]> {
  const setup: BrokerSetup = { folder: temporaryFolder('exercises'), password: '', httpPort: 0, mqttPort: 0 };
  const database = ['--database', `${setup.folder}/fleet.db`];
  const host: Host = {
    setup,
    run: (args, input = '') => runProgram('broker', [...args, ...database], input, build),
  };
  const admin = createAccount(host, accountID);
  // One whose objects the users of the other must not reach.
  createAccount(host, 'simulation');
  const broker = await startBroker(setup, ['--notify-allow-private-targets', ...noEventLimits], {}, build);
  const wrong: string[] = [];
  try {
    await carryOut(host, admin, (isRight, words) => void (isRight || wrong.push(words)));
  } finally {
    broker.signal('SIGTERM');
    await broker.ended();
  }
  return wrong;
}
