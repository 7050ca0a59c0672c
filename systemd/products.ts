// The two Debian packages, agent and broker, and the image as data: what each starts at, which files of this folder go where, and what
// its control file says. What npm packages are in it is found by following imports, never listed.
import { join } from 'node:path';

/** What is laid out as a tree. */
export interface Program {
  readonly name: string;
  /** Entry points below `dist`. */
  readonly entries: readonly string[];
  /** First folders below `dist` that its own files may come from. */
  readonly folders: readonly string[];
  /** Folders of data that are copied beside the compiled files. */
  readonly data: readonly string[];
  /** Folders below `dist` that a build of their own has made, copied whole. */
  readonly built: readonly string[];
  /** npm packages of which a native part must be there. */
  readonly natives: readonly string[];
}

export interface Product extends Program {
  /** Of the package, its folders, its user and its service. */
  readonly name: 'fleetward-agent' | 'fleetward-broker';
  /** In the copyright file. */
  readonly title: string;
  /** Debian packages besides those of the C and C++ libraries. */
  readonly depends: readonly string[];
  /** Description of the control file, as it stands there. */
  readonly description: string;
  /** Folder of this one with the maintainer scripts. */
  readonly scripts: string;
  /** Below this folder, and where it goes. */
  readonly files: readonly { readonly from: string; readonly to: string; readonly mode?: 0o755 }[];
  /** The service mounts a memory file system of its own here, below the package's folder. */
  readonly mounts: readonly string[];
}

const common = ['libgcc-s1', 'init-system-helpers (>= 1.54)', 'passwd', 'systemd (>= 252)'];

export const agentProduct: Product = {
  name: 'fleetward-agent',
  title: 'Fleetward agent',
  entries: ['agent/main.js', 'agent/cli/launch.js'],
  folders: ['agent', 'src'],
  data: ['agent/boards'],
  built: [],
  natives: ['better-sqlite3', '@serialport/bindings-cpp'],
  depends: [...common, 'udev'],
  description: `agent that protects one vehicle and its cargo
 Reads the I/O board and the GNSS receiver of a vehicle, keeps every event on
 disk until the broker has acknowledged it, and obeys signed commands. It never
 stops a moving vehicle.
 .
 Node.js is part of the package; nothing else has to be installed.`,
  scripts: 'deb',
  files: [
    { from: 'fleetward-agent.service', to: 'lib/systemd/system/fleetward-agent.service' },
    { from: 'fleetward-agent-port@.service', to: 'lib/systemd/system/fleetward-agent-port@.service' },
    { from: 'fleetward-agent-sleep.path', to: 'lib/systemd/system/fleetward-agent-sleep.path' },
    { from: 'fleetward-agent-sleep.service', to: 'lib/systemd/system/fleetward-agent-sleep.service' },
    { from: 'sleep.sh', to: 'usr/lib/fleetward-agent/sleep', mode: 0o755 },
    { from: 'deb/sysusers.conf', to: 'usr/lib/sysusers.d/fleetward-agent.conf' },
    { from: 'deb/fleetward-agent', to: 'usr/bin/fleetward-agent', mode: 0o755 },
    { from: 'fleetward-agent-ports.sh', to: 'usr/sbin/fleetward-agent-ports', mode: 0o755 },
    { from: 'launch.sh', to: 'usr/lib/fleetward-agent/launch', mode: 0o755 },
    { from: 'deb/lintian-overrides', to: 'usr/share/lintian/overrides/fleetward-agent' },
    { from: 'deb/agent.example.toml', to: 'usr/share/doc/fleetward-agent/examples/agent.toml' },
    { from: '70-fleetward.rules', to: 'usr/share/doc/fleetward-agent/examples/70-fleetward.rules' },
  ],
  mounts: ['release'],
};

export const brokerProduct: Product = {
  name: 'fleetward-broker',
  title: 'Fleetward broker',
  entries: ['broker/main.js'],
  folders: ['broker', 'src', 'build'],
  data: [],
  built: ['broker/console', 'node_modules/@fastify/swagger-ui'],
  natives: ['better-sqlite3', '@node-rs/argon2-linux-'],
  depends: common,
  description: `broker of a fleet: MQTT, command ledger and HTTP service
 Takes the events of vehicles over MQTT and acknowledges them once they are on
 disk, signs commands for them, and serves apps over HTTP/JSON with live
 streams and notifications.
 .
 Node.js is part of the package; nothing else has to be installed.`,
  scripts: 'deb-broker',
  files: [
    { from: 'fleetward-broker.service', to: 'lib/systemd/system/fleetward-broker.service' },
    { from: 'deb-broker/sysusers.conf', to: 'usr/lib/sysusers.d/fleetward-broker.conf' },
    { from: 'deb-broker/fleetward-broker', to: 'usr/bin/fleetward-broker', mode: 0o755 },
    { from: 'deb-broker/lintian-overrides', to: 'usr/share/lintian/overrides/fleetward-broker' },
    { from: 'deb-broker/broker.toml', to: 'etc/fleetward-broker/broker.toml' },
    { from: 'grafana/fleetward.json', to: 'usr/share/doc/fleetward-broker/examples/grafana-fleetward.json' },
    {
      from: 'prometheus/fleetward.rules.yml',
      to: 'usr/share/doc/fleetward-broker/examples/fleetward.rules.yml',
    },
  ],
  mounts: [],
};

/** Everything that one container may run: `systemd/image/entry.ts` chooses. */
export const imageProgram: Program = {
  name: 'fleetward',
  entries: ['systemd/image/entry.js'],
  folders: ['systemd', 'broker', 'simulator', 'agent', 'src', 'build'],
  data: ['agent/boards', 'simulator/scenarios', 'simulator/pages'],
  built: ['broker/console', 'node_modules/@fastify/swagger-ui', 'node_modules/uplot'],
  natives: ['better-sqlite3', '@node-rs/argon2-linux-'],
};

/** The product of a word of the command line. Throws when there is none. */
export function productOf(word: string | undefined): Product {
  if (word === undefined || word === 'agent') return agentProduct;
  if (word === 'broker') return brokerProduct;
  throw new Error(`there is a package of the agent and one of the broker, none of ${word}`);
}

/** Folder of the package, without the slash in front. */
export const homeOf = ({ name }: Product): string => join('usr/lib', name);
