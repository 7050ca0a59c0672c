// The compose files against the product: every variable is a setting that the broker takes, every file that is named is mounted, and
// nothing has a password of its own.
import { spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { checkout } from '../support/machine/checkout.ts';
import { imageSettings } from '../support/machine/image-settings.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

interface Mounted {
  readonly source: string;
  readonly target: string;
}
interface Service {
  readonly image: string;
  readonly user?: string;
  readonly hostname?: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly configs?: readonly Mounted[];
  readonly secrets?: readonly (Mounted | string)[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
  readonly configs?: Readonly<Record<string, { readonly file: string }>>;
}

const systemd = new URL('systemd/', checkout).pathname;
const read = (path: string): string => readFileSync(join(systemd, path), 'utf8');
const composeOf = (name: string): Compose => parse(read(`compose/${name}.yaml`), { merge: true }) as Compose;
const cluster = composeOf('cluster');
const composeFiles = readdirSync(join(systemd, 'compose')).filter((name) => name.endsWith('.yaml'));

/** Where a service finds each file that is mounted for it. */
const targetsOf = ({ volumes = [], configs = [], secrets = [] }: Service): readonly string[] => [
  ...volumes.map((one) => one.split(':')[1] ?? ''),
  ...[...configs, ...secrets].map((one) => (typeof one === 'string' ? `/run/secrets/${one}` : one.target)),
];
const isUnder = (path: string, targets: readonly string[]): boolean =>
  targets.some((target) => path === target || path.startsWith(`${target}/`));
/** Keys of a file of RabbitMQ's settings, with their values. */
const keysOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^([a-z][\w.]*) = (.+)$/gm)].map(([, key = '', value = '']) => [key, value]));

describe.each(composeFiles)('the compose file %s', (name) => {
  const services = Object.entries(composeOf(name.replace('.yaml', '')).services);
  const ours = services.filter(([, { image }]) => image.includes('fleetward'));

  it('gives the broker settings that it takes, and mounts every file that they name', () => {
    for (const [service, one] of ours) {
      const given = Object.entries({ ...imageSettings, ...one.environment }).map(([key, value]) => {
        return [key, value.replace(/\$\{FLEETWARD_HOST[^}]*\}/, 'fleet.example.com')] as const;
      });
      const env = Object.fromEntries(given.filter(([key]) => key.startsWith('FLEETWARD_')));
      expect(() => loadBrokerConfig({ file: null, env, flags: {} }), service).not.toThrow();
      const paths = given.map(([, value]) => value).filter((value) => /^\/[a-z]/.test(value));
      expect(paths.filter((path) => !isUnder(path, targetsOf(one)))).toEqual([]);
    }
    expect(ours.length).toBeGreaterThan(0);
  });

  it('runs everything without rights and on a file system that is read-only', () => {
    for (const [service, one] of services)
      expect([service, one.read_only, one.cap_drop]).toEqual([service, true, ['ALL']]);
  });

  it('holds no password', () => {
    expect(read(`compose/${name}`)).not.toMatch(
      /(password|secret|word)["']?\s*[:=]\s*["']?(?!\/run\/secrets|\{)[\w$]+/i,
    );
  });
});

describe('the cluster of the compose file', () => {
  it('has the nodes, names and ports that RabbitMQ, the bridges and the balancer name', () => {
    const settings = keysOf(read('rabbitmq/rabbitmq.conf'));
    const nodes = [1, 2, 3].map((no) => settings.get(`cluster_formation.classic_config.nodes.${no}`));
    const hosts = Object.values(cluster.services).flatMap(({ hostname }) => hostname ?? []);
    expect(nodes).toEqual(hosts.map((host) => `rabbit@${host}`));
    const servers = [...read('compose/haproxy.cfg').matchAll(/^\tserver (\S+) (\S+):(\d+)/gm)];
    expect(new Set(servers.map(([, , host]) => host))).toEqual(new Set([...hosts, 'bridge1', 'bridge2']));
    const ports = [settings.get('mqtt.listeners.ssl.default'), '8080', '8083'];
    expect(new Set(servers.map(([, , , port]) => port))).toEqual(new Set(ports));
    const bridge = cluster.services['bridge1']?.environment ?? {};
    expect(bridge['FLEETWARD_INGRESS']).toContain(`@${hosts.join(',')}/${settings.get('mqtt.vhost')}`);
    const management = hosts.map((host) => `https://${host}:${settings.get('management.ssl.port')}`);
    expect(bridge['FLEETWARD_CLUSTER_MANAGEMENT_URLS']).toBe(management.join(','));
  });

  it('mounts the files that the settings of RabbitMQ name, and every file of the repository that it names is there', () => {
    const node = cluster.services['mq1'];
    if (node === undefined) throw new Error('there is no mq1');
    const named = [...read('rabbitmq/rabbitmq.conf').matchAll(/^\w.* = (\/etc\/\S+)$/gm)].map(
      ([, path = '']) => path,
    );
    expect(named.filter((path) => !targetsOf(node).includes(path))).toEqual([]);
    const files = Object.values(cluster.configs ?? {}).map(({ file }) => join(systemd, 'compose', file));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});

const { missing } = requires({ commands: ['openssl'], debian: ['openssl'] });
const why = missing ?? (process.getuid?.() === 0 ? null : 'skipped, needs root');

describe.skipIf(why !== null)(`the secrets of the cluster${why === null ? '' : ` (${why})`}`, () => {
  const folder = join(temporaryFolder('compose-secrets'), 'secrets');
  const script = join(systemd, 'compose/cluster-secrets.sh');
  const run = (...args: readonly string[]) => spawnSync('sh', [script, ...args], { encoding: 'utf8' });
  const at = (name: string): string => readFileSync(join(folder, name), 'utf8');

  it('are all made but the certificate for browsers, each for the user that reads it alone', () => {
    expect(run('fleet.example.com', folder)).toMatchObject({ status: 0, stderr: '' });
    const named = Object.keys(cluster.secrets ?? {}).filter((name) => name !== 'site.pem');
    expect(readdirSync(folder).sort()).toEqual([...named, 'ca-key.pem'].sort());
    for (const [service, { image, user = '10001', secrets = [] }] of Object.entries(cluster.services)) {
      const names = secrets.map((one) => (typeof one === 'string' ? one : one.source));
      for (const name of names.filter(
        (one) => one !== 'site.pem' && one !== 'ca.pem' && !image.startsWith('haproxy'),
      )) {
        const { uid, mode } = statSync(join(folder, name));
        expect([service, name, uid, (mode & 0o777).toString(8)]).toEqual([
          service,
          name,
          Number(user.split(':')[0]),
          '400',
        ]);
      }
    }
    expect(statSync(join(folder, 'ca-key.pem')).mode & 0o077).toBe(0);
  });

  it('are certificates of one authority for the names in use', () => {
    const authority = new X509Certificate(at('ca.pem'));
    const namesOf = (name: string): string | undefined => {
      const one = new X509Certificate(at(`${name}.pem`));
      expect(one.verify(authority.publicKey)).toBe(true);
      return one.subjectAltName?.replaceAll('DNS:', '');
    };
    expect(['node', 'bridge', 'db'].map(namesOf)).toEqual([
      'mq1, mq2, mq3, fleet.example.com',
      'bridge1, bridge2, balancer',
      'db',
    ]);
  });

  it('are known to RabbitMQ as hashes, and to its questions as a path', () => {
    const { users } = JSON.parse(at('definitions.json')) as {
      users: { name: string; password_hash: string }[];
    };
    expect(users.map(({ name }) => name)).toEqual(['fleetward-bridge', 'fleetward-management']);
    for (const { name, password_hash } of users) {
      const kept = Buffer.from(password_hash, 'base64');
      const password = at(`${name.replace('fleetward-', '')}-password`).trim();
      const hash = createHash('sha256').update(kept.subarray(0, 4)).update(password).digest();
      expect(kept.subarray(4).equals(hash), name).toBe(true);
      expect(at('definitions.json')).not.toContain(password);
    }
    const settings = keysOf(at('rabbitmq.conf'));
    const base = `https://balancer:8083/auth/${at('auth-word').trim()}`;
    const asked = ['user', 'vhost', 'resource', 'topic'];
    expect(asked.map((one) => settings.get(`auth_http.${one}_path`))).toEqual(
      asked.map((one) => `${base}/${one}`),
    );
  });

  it('are not made twice, nor for what is no host', () => {
    expect(run('fleet.example.com', folder)).toMatchObject({ status: 73 });
    expect(run('a b', join(folder, 'other'))).toMatchObject({ status: 64 });
    const words = ['bridge-password', 'management-password', 'auth-word', 'db-password', 'erlang-cookie'].map(
      at,
    );
    expect(new Set(words.map((word) => word.trim())).size).toBe(5);
  });
});
