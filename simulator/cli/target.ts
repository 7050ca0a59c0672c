// Flags that name a running broker, shared by every command that works with one: address, login, key, authority.
import { readFile } from 'node:fs/promises';
import type { Argv } from 'yargs';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { MetricsAddress } from '../run/broker-watch.ts';
import type { Target } from '../run/own-broker.ts';
import type { Login } from '../run/service.ts';

/** What every command that asks the HTTP service needs. */
export function withLogin<T>(command: Argv<T>) {
  return command
    .option('target', { type: 'string', describe: 'HTTP service of a running broker, http://… or https://…' })
    .option('account', { type: 'string', describe: 'account at it' })
    .option('user', { type: 'string', default: 'admin', describe: 'an administrator of the account' })
    .option('password-file', {
      type: 'string',
      nargs: 1,
      describe: 'file with his password; - reads standard input',
    })
    .option('ca', {
      type: 'string',
      describe: 'PEM of the authority to trust, for https:// and mqtts://, and for --metrics',
    });
}

/** What vehicles need besides. Without `--target` a broker is started for the run. */
export function withTarget<T>(command: Argv<T>) {
  return withLogin(command)
    .option('mqtt', { type: 'string', describe: 'its MQTT listener, mqtt://… or mqtts://…' })
    .option('public-key', { type: 'string', describe: "the broker's public key, which vehicles pin" })
    .implies('target', ['mqtt', 'account', 'password-file', 'public-key'])
    .implies('mqtt', 'target')
    .implies('ca', 'target');
}

/** Where the broker shows its own figures, for the report. */
export function withMetrics<T>(command: Argv<T>) {
  return command
    .option('metrics', {
      type: 'string',
      describe:
        "where the broker shows its own figures, http://…/metrics; known for a broker of the run's own",
    })
    .option('metrics-token-file', {
      type: 'string',
      nargs: 1,
      describe: 'file with the token that they ask for',
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
}

export interface MetricsFlags {
  readonly metrics?: string | undefined;
  readonly ca?: string | undefined;
  readonly 'metrics-token-file'?: string | undefined;
}

/** The first line of the file that `--<what>-file` names; - reads standard input. */
async function readSecret(file: string, what: 'password' | 'metrics-token'): Promise<string> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((thrown: unknown) => {
    throw new AppError('usage', `The file of --${what}-file cannot be read: ${messageOf(thrown)}`);
  });
  const [secret = ''] = text.split('\n');
  if (secret !== '') return secret;
  throw new AppError('usage', `--${what}-file ${file} has nothing in its first line`);
}

async function readAuthority(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw new AppError('usage', `The authority cannot be read: ${messageOf(thrown)}`);
  });
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new AppError('usage', `--ca ${file} holds no certificate in PEM`);
}

/** An address with one of these schemes. @throws AppError `usage`. */
function assertUrl(text: string, flag: string, schemes: readonly string[]): void {
  if (URL.canParse(text) && schemes.includes(new URL(text).protocol)) return;
  const words = schemes.map((scheme) => `${scheme}//…`).join(' or ');
  throw new AppError('usage', `--${flag} ${text} is not ${words}`);
}

/** Where the HTTP service is and who logs in. @throws AppError `usage`. */
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

/** The broker that was named; null: none. @throws AppError `usage`. */
export async function targetOf(flags: TargetFlags): Promise<Target | null> {
  const { target, mqtt } = flags;
  const publicKey = flags['public-key'];
  if (target === undefined) return null;
  if (mqtt === undefined || publicKey === undefined)
    throw new AppError('usage', '--target needs --mqtt, --account, --password-file and --public-key');
  assertUrl(mqtt, 'mqtt', ['mqtt:', 'mqtts:']);
  return { ...(await loginOf(flags)), mqtt, publicKey };
}

/** Where the broker shows its own figures, if that was told. @throws AppError `usage`. */
export async function metricsOf(flags: MetricsFlags): Promise<{ readonly metrics?: MetricsAddress }> {
  const { metrics: url } = flags;
  const file = flags['metrics-token-file'];
  if (url === undefined) return {};
  assertUrl(url, 'metrics', ['http:', 'https:']);
  const token = file === undefined ? null : await readSecret(file, 'metrics-token');
  return { metrics: { url, token, ca: await readAuthority(flags.ca) } };
}
