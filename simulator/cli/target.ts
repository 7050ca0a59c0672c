// Flags that name a running broker, shared by every command that works with one: address, login, key, authority.
import { readFile } from 'node:fs/promises';
import type { Argv } from 'yargs';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { MetricsAddress } from '../run/measure/broker-watch.ts';
import type { Target } from '../run/service/broker-access.ts';
import type { Login } from '../run/service/service.ts';

/** Flags of every command that uses the HTTP service. */
export function withLogin<T>(command: Argv<T>) {
  return command
    .option('target', { type: 'string', describe: 'HTTP service of a running broker, http://… or https://…' })
    .option('account', { type: 'string', describe: 'account of the broker' })
    .option('user', { type: 'string', default: 'admin', describe: 'an administrator of the account' })
    .option('password-file', {
      type: 'string',
      nargs: 1,
      describe: 'file with the password of that user; - reads standard input',
    })
    .option('ca', {
      type: 'string',
      describe: 'PEM of the authority to trust, for https:// and mqtts://, and for --metrics',
    });
}

/** Further flags for vehicles. Without `--target` the run starts its own broker. */
export function withTarget<T>(command: Argv<T>) {
  return withLogin(command)
    .option('mqtt', { type: 'string', describe: 'MQTT listener of that broker, mqtt://… or mqtts://…' })
    .option('public-key', { type: 'string', describe: "the broker's public key, which vehicles pin" })
    .option('approver', {
      type: 'string',
      describe: 'a second user of the account, who approves cuts where the account requires that',
    })
    .option('approver-password-file', {
      type: 'string',
      nargs: 1,
      describe: "file with that user's password",
    })
    .implies('approver', ['target', 'approver-password-file'])
    .implies('approver-password-file', 'approver')
    .implies('target', ['mqtt', 'account', 'password-file', 'public-key'])
    .implies('mqtt', 'target')
    .implies('ca', 'target');
}

/** Address of the broker's metrics, for the report. */
export function withMetrics<T>(command: Argv<T>) {
  return command
    .option('metrics', {
      type: 'string',
      describe: "address of the broker's metrics, http://…/metrics; known for the run's own broker",
    })
    .option('metrics-token-file', {
      type: 'string',
      nargs: 1,
      describe: 'file with the token of the metrics',
    })
    .implies('metrics-token-file', 'metrics');
}

export interface LoginFlags {
  readonly target?: string | undefined;
  readonly account?: string | undefined;
  readonly user: string;
  readonly 'password-file'?: string | undefined;
  readonly ca?: string | undefined;
}

export interface TargetFlags extends LoginFlags {
  readonly mqtt?: string | undefined;
  readonly 'public-key'?: string | undefined;
  readonly approver?: string | undefined;
  readonly 'approver-password-file'?: string | undefined;
}

export interface MetricsFlags {
  readonly metrics?: string | undefined;
  readonly ca?: string | undefined;
  readonly 'metrics-token-file'?: string | undefined;
}

/** The first line of the file that `--<what>-file` names; - reads standard input. */
async function readSecret(
  file: string,
  what: 'password' | 'approver-password' | 'metrics-token',
): Promise<string> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((thrown: unknown) => {
    throw new AppError('usage', `Cannot read the file of --${what}-file: ${messageOf(thrown)}`, {
      hint: `Check the path and its rights, or give - to read the ${what} from standard input.`,
    });
  });
  const [secret = ''] = text.split('\n');
  if (secret !== '') return secret;
  throw new AppError('usage', `The first line of --${what}-file ${file} is empty`, {
    hint: `Write the ${what} into the first line.`,
  });
}

async function readAuthority(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw new AppError('usage', `Cannot read the file of --ca: ${messageOf(thrown)}`, {
      hint: 'Check the path and its rights.',
    });
  });
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new AppError('usage', `--ca ${file} holds no certificate in PEM`, {
    hint: 'Give the certificate of the authority (ca.crt of `fleetward-broker ca init`), not a key.',
  });
}

/** An address with one of these schemes. @throws AppError `usage`. */
function assertUrl(text: string, flag: string, schemes: readonly string[]): void {
  if (URL.canParse(text) && schemes.includes(new URL(text).protocol)) return;
  const words = schemes.map((scheme) => `${scheme}//…`).join(' or ');
  throw new AppError('usage', `--${flag} ${text} is not ${words}`, {
    hint: `Give the address with its scheme, for example --${flag} ${schemes[0] ?? ''}//broker.example.com.`,
  });
}

/** Address of the HTTP service and login. @throws AppError `usage`. */
export async function loginOf(
  flags: LoginFlags,
): Promise<{ readonly http: string; readonly login: Login; readonly ca: string | null }> {
  const { target, account, user } = flags;
  const passwordFile = flags['password-file'];
  if (target === undefined || account === undefined || passwordFile === undefined)
    throw new AppError('usage', 'Name the broker: --target, --account and --password-file');
  assertUrl(target, 'target', ['http:', 'https:']);
  const login = { accountID: account, userID: user, password: await readSecret(passwordFile, 'password') };
  return { http: target, login, ca: await readAuthority(flags.ca) };
}

/** The second user, where given. @throws AppError `usage`. */
async function approverOf(flags: TargetFlags, login: Login): Promise<Login | null> {
  const { approver: userID, 'approver-password-file': file } = flags;
  if (userID === undefined || file === undefined) return null;
  if (userID === login.userID)
    throw new AppError('usage', '--approver is the same user as --user: a cut needs two users', {
      hint: 'Name another confirmed operator of the account.',
    });
  return { accountID: login.accountID, userID, password: await readSecret(file, 'approver-password') };
}

/** The given broker; null: none. @throws AppError `usage`. */
export async function targetOf(flags: TargetFlags): Promise<Target | null> {
  const { target, mqtt } = flags;
  const publicKey = flags['public-key'];
  if (target === undefined) return null;
  if (mqtt === undefined || publicKey === undefined)
    throw new AppError('usage', '--target needs --mqtt, --account, --password-file and --public-key');
  assertUrl(mqtt, 'mqtt', ['mqtt:', 'mqtts:']);
  const named = await loginOf(flags);
  const approver = await approverOf(flags, named.login);
  return { ...named, mqtt, publicKey, approver };
}

/** Address of the broker's metrics, where given. @throws AppError `usage`. */
export async function metricsOf(flags: MetricsFlags): Promise<{ readonly metrics?: MetricsAddress }> {
  const { metrics: url } = flags;
  const file = flags['metrics-token-file'];
  if (url === undefined) return {};
  assertUrl(url, 'metrics', ['http:', 'https:']);
  const token = file === undefined ? null : await readSecret(file, 'metrics-token');
  return { metrics: { url, token, ca: await readAuthority(flags.ca) } };
}
