// The setting of a practice fleet: the account whose simulated vehicles users may operate in the console. The demonstration sets it for the
// broker that it starts. It must never take effect in a service that others reach, or that is not a child of a demonstration.
import { type Static, Type } from 'typebox';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import { AppError } from '../../src/core/errors.ts';
import { isLoopback, type ListenersConfig } from './listener-config.ts';

export const practiceSchema = Type.Object({
  account: Type.String({
    default: '',
    pattern: '^[A-Za-z0-9_-]{0,64}$',
    description:
      'Account of a practice fleet, whose simulated vehicles users operate in the console. Only `fleetward-simulator demo` can set it; empty: none',
  }),
});

export type PracticeConfig = Static<typeof practiceSchema>;

interface Checked extends ListenersConfig {
  readonly practice: PracticeConfig;
  readonly database: string;
  readonly ingress?: string | undefined;
}

const hint = 'Leave practice.account out: npm start sets it for the broker of the demonstration.';

/** @throws AppError `config` for a practice fleet in a service that others reach. */
export function checkPractice(config: Checked): void {
  if (config.practice.account === '') return;
  const fail = (why: string): never => {
    throw new AppError('config', `practice.account is set, but ${why}`, { hint });
  };
  for (const name of ['http', 'mqtt', 'ws', 'admin'] as const)
    if (!isLoopback(config[name].host))
      fail(`${name}.host ${config[name].host} is not of this machine alone`);
  if (config.http.trustedProxies.length > 0) fail('http.trustedProxies opens the service to a network');
  if (config.http.origins.length > 0) fail('http.origins opens the service to other web pages');
  if (config.ingress !== undefined) fail('ingress connects a cluster');
  if (isPostgresUrl(config.database)) fail('the database is not a file of this machine');
}
