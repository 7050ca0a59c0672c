// The Helm chart as it is rendered: by helm where it is installed, else with the Go packages of Debian that Helm is made of. The schemas of
// Kubernetes are not here; the checks are about what this broker needs.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { checkout } from '../support/machine/checkout.ts';
import { runTool } from '../support/machine/deb-package.ts';
import { imageSettings } from '../support/machine/image-settings.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

interface Named {
  readonly name: string;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container extends Named {
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly command?: readonly string[];
  readonly ports?: readonly (Named & { readonly containerPort: number })[];
  readonly securityContext: object;
  readonly volumeMounts: readonly (Named & { readonly mountPath: string })[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
}
interface Manifest {
  readonly kind: string;
  readonly metadata: Named & { readonly labels: object };
  readonly spec: {
    readonly replicas: number;
    readonly type?: string;
    readonly selector: Readonly<Record<string, unknown>>;
    readonly ports: readonly { readonly targetPort: string; readonly port: number }[];
    readonly ingress: readonly { readonly ports: readonly { readonly port: string }[] }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[];
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly enableServiceLinks: boolean;
        readonly automountServiceAccountToken: boolean;
        readonly securityContext: object;
        readonly containers: readonly [Container];
        readonly initContainers?: readonly Container[];
        readonly volumes: readonly Named[];
      };
    };
  };
}

const chart = new URL('systemd/chart/', checkout).pathname;
const hasHelm = spawnSync('helm', ['version']).status === 0;
const { missing } = hasHelm
  ? { missing: null }
  : requires({
      commands: ['go'],
      files: [],
      debian: ['golang-go', 'golang-github-masterminds-sprig-dev', 'golang-k8s-sigs-yaml-dev'],
    });

describe.skipIf(missing !== null)(
  `the chart${missing === null ? '' : ` (${missing})`}`,
  { timeout: 900_000 },
  () => {
    const folder = temporaryFolder('chart');
    const program = join(folder, 'render-chart');

    function render(values: string): readonly Manifest[] {
      const file = join(folder, 'values.yaml');
      writeFileSync(file, values);
      const text = hasHelm
        ? runTool('helm', ['template', 'fleet', chart, '--values', file])
        : runTool(program, [chart, 'fleet', file]);
      // Kubernetes reads YAML 1.1, in which 0400 is octal.
      return parseAllDocuments(text, { version: '1.1' }).flatMap((one) =>
        one.contents === null ? [] : one.toJS(),
      );
    }
    const find = (manifests: readonly Manifest[], kind: string, name = 'fleet'): Manifest => {
      const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
      if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
      return found;
    };
    const podOf = (manifests: readonly Manifest[]) => find(manifests, 'StatefulSet').spec.template.spec;
    const cluster = 'cluster: { enabled: true, bridges: 3 }\ningress: { enabled: true, tlsSecret: web }\n';
    const secured = 'mqtt: { tlsSecret: mqtt-tls }\nenv: { FLEETWARD_HTTP_TRUSTED_PROXIES: 10.1.2.3 }\n';
    const variants = [
      ['one broker', '{}'],
      ['one broker with TLS', secured],
      ['bridges', cluster],
    ] as const;

    beforeAll(() => {
      if (hasHelm) return;
      const source = new URL('test/support/chart/render-chart.go', checkout).pathname;
      const go = [
        'GO111MODULE=off',
        'GOPATH=/usr/share/gocode',
        `GOCACHE=${join(folder, 'cache')}`,
        'CGO_ENABLED=0',
      ];
      runTool('env', [...go, 'go', 'build', '-o', program, source]);
    }, 900_000);

    it('has at most 300 lines', () => {
      const files = readdirSync(chart, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      const lines = files.map(
        (entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n').length - 1,
      );
      expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(300);
    });

    it.each(variants)('gives %s settings that it takes', (_, values) => {
      const [{ env = [] }] = podOf(render(values)).containers;
      const given = { ...imageSettings, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) };
      const settings = Object.fromEntries(
        Object.entries(given).filter(([name]) => name.startsWith('FLEETWARD_')),
      );
      expect(() => loadBrokerConfig({ file: null, env: settings, flags: {} })).not.toThrow();
    });

    it.each(variants)('mounts what the settings of %s name, and has a volume for each mount', (_, values) => {
      const { spec } = find(render(values), 'StatefulSet');
      const { containers, initContainers = [], volumes } = spec.template.spec;
      const claimed = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
      const there = new Set([...volumes.map(({ name }) => name), ...claimed]);
      const wanted = [...containers, ...initContainers].flatMap(({ volumeMounts }) => volumeMounts);
      expect(wanted.filter(({ name }) => !there.has(name))).toEqual([]);
      const [{ env = [], volumeMounts }] = containers;
      const paths = env.map(({ value }) => value).filter((value) => /^\/[a-z]/.test(value));
      const isMounted = (path: string): boolean =>
        volumeMounts.some((one) => path.startsWith(`${one.mountPath}/`));
      expect(paths.filter((path) => !isMounted(path))).toEqual([]);
    });

    it.each(variants)(
      'runs %s without rights, and no variable of a service becomes a setting',
      (_, values) => {
        const pod = podOf(render(values));
        expect(pod).toMatchObject({
          enableServiceLinks: false,
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroupChangePolicy: 'OnRootMismatch' },
        });
        for (const { securityContext } of [...pod.containers, ...(pod.initContainers ?? [])])
          expect(securityContext).toEqual({
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          });
      },
    );

    it.each(variants)('selects the pods of %s, by ports that they have', (_, values) => {
      const manifests = render(values);
      const { template } = find(manifests, 'StatefulSet').spec;
      const [{ ports = [], ...container }] = template.spec.containers;
      const named = ports.map(({ name }) => name);
      for (const { spec } of manifests.filter(({ kind }) => kind === 'Service')) {
        expect(template.metadata.labels).toMatchObject(spec.selector);
        expect(named).toEqual(expect.arrayContaining(spec.ports.map(({ targetPort }) => targetPort)));
      }
      const open = find(manifests, 'NetworkPolicy').spec.ingress.flatMap((one) =>
        one.ports.map(({ port }) => port),
      );
      expect(new Set(open)).toEqual(new Set(named));
      const { livenessProbe, readinessProbe, startupProbe } = container;
      const probed = [livenessProbe, readinessProbe, startupProbe].map(({ httpGet }) => httpGet);
      expect(probed.map(({ path }) => path)).toEqual(['/livez', '/readyz', '/livez']);
      expect(named).toEqual(expect.arrayContaining(probed.map(({ port }) => port)));
    });

    it('keeps one broker with one volume, and shows vehicles to the network with TLS only', () => {
      const { spec } = find(render('{}'), 'StatefulSet');
      expect([spec.replicas, spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name)]).toEqual([
        1,
        ['data'],
      ]);
      expect(find(render('{}'), 'Service', 'fleet-mqtt').spec.type).toBeUndefined();
      expect(find(render(secured), 'Service', 'fleet-mqtt').spec.type).toBe('LoadBalancer');
    });

    it('copies the keys of bridges into files that belong to their user alone', () => {
      const manifests = render(cluster);
      expect(find(manifests, 'StatefulSet').spec.replicas).toBe(3);
      const [keys] = podOf(manifests).initContainers ?? [];
      const [, ...args] = keys?.command ?? [];
      const folders = temporaryFolder('chart-keys');
      runTool('sh', ['-c', 'mkdir "$0/mounted" "$0/secrets" && echo word > "$0/mounted/pgpass"', folders]);
      const script = args.map((one) =>
        one.replaceAll('/mounted', `${folders}/mounted`).replaceAll('/secrets', `${folders}/secrets`),
      );
      runTool(process.execPath, script);
      expect(runTool('stat', ['-c', '%a %s', join(folders, 'secrets/pgpass')]).trim()).toBe('600 5');
    });
  },
);
