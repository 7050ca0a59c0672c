// Every operation of the HTTP service that changes something, in an account of its own: carried out as people and programs do, judged by
// what other operations then read, and by the audit log of that account.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { decodeGrant, transcriptOf } from '../../../src/core/wire/enrolment.ts';
import { parseEnrolmentCode } from '../../../src/core/wire/enrolment-code.ts';
import { logInAsDevice } from '../link/device-login.ts';
import { type Login, openService, type Service, type ServiceCall } from '../service/service.ts';
import { createSecretText } from '../shared/secret-text.ts';
import { keyOf, readEntries } from './audit.ts';
import {
  type AuditedChange,
  createFindings,
  type Exercise,
  type ExerciseContext,
  eventually,
} from './exercise.ts';
import { areas } from './operations/areas.ts';
import {
  type Bench,
  type Call,
  type Caller,
  type Enrolled,
  type UserName,
  userIDs,
} from './operations/bench.ts';
import { type OperationID, operationPaths } from './operations/paths.ts';
import { openReceiver } from './webhook.ts';

const accountID = 'operations';
const roles = { second: 'admin', operator: 'operator', viewer: 'viewer' } as const;
/** A stream begins at once. */
const streamMs = 15_000;
const streamMost = 65_536;

interface Account {
  readonly logins: Readonly<Record<UserName, Login>>;
  readonly services: Readonly<Record<UserName, Service>>;
  readonly changes: AuditedChange[];
  readonly secrets: string[];
  close(): Promise<void>;
}

/** Creates the account with its users; all of them count as users of long ago. */
async function openAccount(context: ExerciseContext): Promise<Account> {
  const { own, target } = context.access;
  const admin = await own.createAccount(accountID);
  const changes: AuditedChange[] = [];
  const logIn = (login: Login): Promise<Service> => openService(target.http, login, target.ca ?? null);
  const create = async (by: Service, name: keyof typeof roles): Promise<Login> => {
    const login = { accountID, userID: userIDs[name], password: createSecretText(context.ports.entropy) };
    const { userID, password } = login;
    const body = { userID, password, roleID: roles[name], groups: ['all'] };
    await by.call({ method: 'POST', path: '/user/createuser/authorization', body });
    changes.push({ userID: admin.userID, action: 'user.create', object: userID });
    return login;
  };
  const service = await logIn(admin);
  const logins = {
    admin,
    second: await create(service, 'second'),
    operator: await create(service, 'operator'),
    viewer: await create(service, 'viewer'),
  };
  for (const { userID } of Object.values(logins)) await own.ageUser(userID);
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

/** Who calls, and with which token. */
function callerOf(
  { access }: ExerciseContext,
  { services }: Account,
  caller: Caller,
): { readonly service: Service; readonly token?: string | null } {
  if (caller === 'run') return { service: access.service };
  if (caller === null) return { service: services.admin, token: null };
  return typeof caller === 'string' ? { service: services[caller] } : { service: services.admin, ...caller };
}

/** Method and path of an operation, with its parameters. */
function routeOf(operation: OperationID, params: Readonly<Record<string, string>>) {
  const [method = '', path = ''] = operationPaths[operation].split(' ');
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  return { method: method === 'POST' ? 'POST' : 'GET', path: filled } as const;
}

/** Up to the end of its first message with data. */
async function readBegin(service: Service, path: string, token: string): Promise<string> {
  const abort = new AbortController();
  const { signal } = abort;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort.abort();
  }, streamMs);
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

/** Enrols as a unit does. @returns null when the answer is not sealed to it. */
async function enrol(
  { ports }: ExerciseContext,
  bench: Bench['call'],
  code: string,
): Promise<Enrolled | null> {
  const { enrolment, entropy } = ports;
  const parsed = parseEnrolmentCode(code);
  if (!parsed.ok) throw new AppError('internal', `The code of the service is none: ${parsed.reason}`);
  const { seed, verifier } = await enrolment.deriveCodeKey(parsed);
  const { privateKey, publicKey: deviceKey } = enrolment.createExchangeKey();
  const nonce = Buffer.from(entropy.bytes(16)).toString('base64url');
  const unsigned = { codeID: parsed.codeID, deviceKey, nonce };
  const request = { ...unsigned, proof: enrolment.sign(seed, transcriptOf(unsigned)) };
  const answer = await bench<{ brokerKey: string; sealed: string }>('enrolDevice', {
    as: null,
    body: request,
  });
  const plain = enrolment.open({ verifier, privateKey, request }, answer);
  return plain === null ? null : decodeGrant(plain);
}

function createBench(context: ExerciseContext, account: Account, look: Bench['look']): Bench {
  const { access, ports, vehicles } = context;
  const { own, target } = access;
  const { changes, logins, secrets } = account;
  const ask = <T>(as: Caller, call: ServiceCall): Promise<T> => {
    const { service, ...token } = callerOf(context, account, as);
    return service.call<T>({ ...call, ...token });
  };
  const call = <T>(operation: OperationID, { as = 'admin', params = {}, body }: Call = {}): Promise<T> => {
    const route = routeOf(operation, params);
    return ask<T>(as, route.method === 'POST' ? { ...route, body: body ?? {} } : route);
  };
  return {
    accountID,
    vehicleID: vehicles.at(-1)?.deviceID ?? '',
    call,
    read(path, as = 'admin') {
      const [plain = '', query] = path.split('?');
      return ask(as, { path: `${plain}/authorization${query === undefined ? '' : `?${query}`}` });
    },
    readBegin(operation, as) {
      const { service, token } = callerOf(context, account, as);
      return readBegin(service, routeOf(operation, {}).path, token ?? '');
    },
    look,
    changed(action, object, by = 'admin') {
      if (by === 'run') context.changes.push({ userID: target.login.userID, action, object });
      else if (typeof by === 'object') changes.push({ ...by, action, object });
      else changes.push({ userID: by === 'device' ? by : userIDs[by], action, object });
    },
    secret: (text) => void secrets.push(text),
    eventually: (isSo) => eventually(context, isSo),
    isStopped: () => context.isStopped(),
    nowS: () => Math.floor(ports.clock.utcMs() / 1000),
    unique: () => createSecretText(context.ports.entropy),
    passwordOf: (user) => logins[user].password,
    loginCode: (userID) => own.loginCode({ accountID, userID }),
    connect: (device) => logInAsDevice(ports, { ...target, login: logins.admin }, device),
    enrol: (code) => enrol(context, call, code),
    openReceiver: () => openReceiver(ports),
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

export const exerciseOperations: Exercise = async (context) => {
  const findings = createFindings('operationsWrong');
  const look: Bench['look'] = (isRight, words) => findings.look('', isRight ? null : words);
  const account = await openAccount(context);
  try {
    const bench = createBench(context, account, look);
    for (const area of areas) {
      await area.carryOut(bench).catch((thrown: unknown) => {
        if (!(thrown instanceof AppError) || thrown.code === 'unavailable') throw thrown;
        look(false, messageOf(thrown));
      });
    }
    if (!context.isStopped()) await lookAtAudit(account, look);
  } finally {
    await account.close();
  }
  return () => Promise.resolve(findings.outcome());
};
