// The Debian package as an installer meets it: built, looked at, installed on a copy of this machine with a real systemd,
// started hardened as its own user through the launcher on simulated hardware, upgraded with events in the queue, given a
// signed release, and purged until nothing is left.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import {
  buildPackage as build,
  repository,
  runTool as run,
  whyNoPackager,
} from '../support/machine/deb-package.ts';
import { whyNoMachine } from '../support/machine/machine.ts';
import { createPackagedService } from '../support/machine/packaged-service.ts';
import { requires } from '../support/machine/requires.ts';

const { missing } = requires({
  commands: [
    'dpkg-deb',
    'lintian',
    'strip',
    'systemd-nspawn',
    'systemd-analyze',
    'nsenter',
    'socat',
    'udevadm',
    'openssl',
  ],
  debian: [
    'dpkg-dev',
    'lintian',
    'binutils',
    'systemd-container',
    'systemd',
    'util-linux',
    'socat',
    'udev',
    'openssl',
  ],
});
const why = missing ?? whyNoMachine() ?? whyNoPackager();

let folder: string;

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

describe('the unit', () => {
  const unit = join(repository, 'systemd/fleetward-agent.service');
  const text = readFileSync(unit, 'utf8');

  it.skipIf(why !== null)(
    `is exposed at most 2.0 by systemd's own measure${why === null ? '' : ` (${why})`}`,
    () => {
      const report = run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
      const [, exposure] = /Overall exposure level for \S+ (\d+\.\d+)/.exec(report) ?? [];
      expect(Number(exposure)).toBeLessThanOrEqual(2);
    },
  );

  it('lets the agent reach exactly its ports, and open none on the network', () => {
    const allowed = [...text.matchAll(/^(?:DevicePolicy|DeviceAllow|SocketBindDeny)=(.*)$/gm)].map(
      (match) => match[1],
    );
    expect(allowed).toEqual([
      'closed',
      '/dev/fleet-board rw',
      '/dev/fleet-gnss rw',
      '/dev/fleet-bus rw',
      '/dev/fleet-driver rw',
      '/dev/fleet-fuel rw',
      'any',
    ]);
  });

  it('never gives up and is watched', () => {
    for (const line of [
      'Restart=always',
      'StartLimitIntervalSec=0',
      'TimeoutStopSec=10',
      'SystemCallErrorNumber=EPERM',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^WatchdogSec=\d+$/m);
  });
});

describe.skipIf(why !== null)(`the package${why === null ? '' : ` (${why})`}`, { timeout: 900_000 }, () => {
  const { inside, show, until, boot, close } = createPackagedService('fleetward-agent', 240_000);
  let first: string;
  let second: string;
  let release: { path: string; version: string; sha256: string };
  const isUp = (): boolean => show('ActiveState') === 'active' && show('StatusText').includes('board open');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fleetward-deb-test-'));
    run('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', join(folder, 'release.key')]);
    run('chmod', ['600', join(folder, 'release.key')]);
    run('openssl', [
      'pkey',
      '-in',
      join(folder, 'release.key'),
      '-pubout',
      '-out',
      join(folder, 'release.pub'),
    ]);
    const common = ['--output', folder, '--release-key', join(folder, 'release.pub')];
    first = build(...common, '--version', '0.8.0');
    second = build(...common, '--version', '0.9.0');
    const packer = join(repository, 'dist/systemd/package-release.js');
    const args = ['--key', join(folder, 'release.key'), '--version', '1.0.0-rc.1', '--output', folder];
    release = JSON.parse(run(process.execPath, [packer, ...args])) as typeof release;
    await boot({ '/srv/fleetward': repository, '/srv/packages': folder });
  }, 900_000);
  afterAll(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is the same to the byte when it is built again', () => {
    const again = mkdtempSync(join(tmpdir(), 'fleetward-deb-again-'));
    try {
      const copy = build(
        '--version',
        '0.8.0',
        '--output',
        again,
        '--release-key',
        join(folder, 'release.pub'),
      );
      expect(sha256(copy)).toBe(sha256(first));
    } finally {
      rmSync(again, { recursive: true, force: true });
    }
  });

  it('belongs to root, can be changed by root only, and is of bearable size', () => {
    const lines = run('dpkg-deb', ['--contents', first]).trim().split('\n');
    for (const line of lines) expect(line).toMatch(/^[-d]rw(x|-)r-(x|-)r-(x|-) root\/root /);
    const megabytes = readFileSync(first).length / 1e6;
    expect(megabytes).toBeLessThan(50);
  });

  it('holds the agent, what it imports, native parts for one machine, and nothing of broker or simulator', () => {
    const paths = run('dpkg-deb', ['--contents', first])
      .split('\n')
      .map((line) => line.split(/\s+/)[5] ?? '');
    const app = './usr/lib/fleetward-agent/app/';
    const tops = new Set(
      paths.filter((path) => path.startsWith(`${app}dist/`)).map((path) => path.split('/')[6]),
    );
    expect(tops).toEqual(new Set(['', 'agent', 'src']));
    const packages = paths
      .filter((path) => path.startsWith(`${app}node_modules/`) && path.endsWith('/package.json'))
      .join('\n');
    for (const name of ['mqtt', 'better-sqlite3', 'serialport', 'pino', 'yargs', 'typebox', 'smol-toml'])
      expect(packages).toContain(`/node_modules/${name}/package.json`);
    for (const name of [
      'aedes',
      'fastify',
      '@node-rs',
      'nodemailer',
      'csv-parse',
      'prebuild-install',
      'vitest',
      'typescript',
    ])
      expect(packages).not.toContain(`/node_modules/${name}/`);
    expect(paths.filter((path) => path.endsWith('.node'))).toHaveLength(2);
  });

  it('names the licence of Node and of every package that is in it', () => {
    const text = run('sh', [
      '-c',
      `dpkg-deb --fsys-tarfile '${first}' | tar -xO ./usr/share/doc/fleetward-agent/copyright`,
    ]);
    for (const words of [
      'Node.js v20',
      'mqtt ',
      'better-sqlite3 ',
      '@bufbuild/protobuf ',
      'Copyright 2008 Google Inc.',
    ])
      expect(text).toContain(words);
  });

  it('has no errors by lintian', () => {
    const report = run('lintian', [
      '--no-cfg',
      '--fail-on',
      'none',
      '--tag-display-limit',
      '0',
      '--allow-root',
      first,
    ]);
    expect(report.split('\n').filter((line) => line.startsWith('E:'))).toEqual([]);
  });

  it('installs enabled and not started while the vehicle has no settings; brings its own Node', () => {
    const words = inside().must(`dpkg -i ${first.replace(folder, '/srv/packages')}`);
    expect(words).toContain('installed, not started');
    expect(inside().must('systemctl is-enabled fleetward-agent').trim()).toBe('enabled');
    expect(show('ActiveState')).toBe('inactive');
    expect(
      inside()
        .must(
          'mv /usr/bin/node /usr/bin/no-node; fleetward-agent --version; mv /usr/bin/no-node /usr/bin/node',
        )
        .trim(),
    ).toBe('0.8.0');
    expect(
      inside().must(
        'stat -c "%a %U:%G" /etc/fleetward-agent /var/lib/fleetward-agent /etc/fleetward-agent/release.pub',
      ),
    ).toBe('750 root:fleetward-agent\n700 fleetward-agent:fleetward-agent\n644 root:root\n');
    expect(inside().must('id -nG fleetward-agent').trim()).toBe('fleetward-agent dialout');
    expect(
      inside().must(
        'systemd-analyze verify /lib/systemd/system/fleetward-agent.service /lib/systemd/system/fleetward-agent-port@board.service 2>&1 | grep -v "man " || true',
      ),
    ).toBe('');
  });

  it('names the ports by a rule, and says what to do about a port that is not there', () => {
    const { run: attempt } = inside();
    expect(attempt('fleetward-agent-ports set --board /dev/ttyUSB77 --gnss /dev/ttyS0')).toMatchObject({
      code: 69,
      output: expect.stringContaining('fleetward-agent-ports list') as string,
    });
    expect(attempt('fleetward-agent-ports set --board /dev/ttyS0').code).toBe(64);
    // What udev says of two adapters of one hub, in the form of a Raspberry Pi 4; the container has no USB.
    const script = `set -e
      mkdir -p /run/bin
      cat > /run/bin/udevadm <<'END'
#!/bin/sh
case "$*" in *ttyS0*) socket=1.1 ;; *) socket=1.2 ;; esac
echo "ID_PATH=platform-fd500000.pcie-pci-0000:01:00.0-usb-0:$socket:1.0"
echo ID_MODEL=USB2.0-Serial
END
      chmod +x /run/bin/udevadm
      for port in /dev/ttyS0 /dev/ttyS1; do [ -c $port ] || mknod $port c 1 3; done
      PATH=/run/bin:$PATH fleetward-agent-ports set --board /dev/ttyS0 --gnss /dev/ttyS1 --no-reload
      cat /etc/udev/rules.d/70-fleetward.rules; rm -f /dev/ttyS0 /dev/ttyS1`;
    const words = inside().must(script);
    expect(words).toContain(
      'ENV{ID_PATH}=="platform-fd500000.pcie-pci-0000:01:00.0-usb-0:1.1:1.0", SYMLINK+="fleet-board", GROUP="dialout", MODE="0660", ENV{ID_MM_PORT_IGNORE}="1"',
    );
    expect(words).toContain('ENV{SYSTEMD_WANTS}+="fleetward-agent-port@gnss.service"');
  });

  it('runs as its own user through the launcher, hardened, on both ports, and reports readiness to systemd', async () => {
    const settings = readFileSync(join(repository, 'systemd/deb/agent.example.toml'), 'utf8');
    inside().must(`set -e
      cd /srv/fleetward
      setsid node dist/simulator/main.js hardware --link-board /dev/fleet-board --link-gnss /dev/fleet-gnss --json </dev/null >/run/bench.log 2>&1 &
      for turn in $(seq 300); do [ -e /dev/fleet-gnss ] && break; sleep 0.5; done
      chgrp dialout $(readlink -f /dev/fleet-board) $(readlink -f /dev/fleet-gnss)
      chmod 660 $(readlink -f /dev/fleet-board) $(readlink -f /dev/fleet-gnss)
      umask 077; echo 0123456789abcdef0123456789abcdef > /var/lib/fleetward-agent/secret
      chown fleetward-agent: /var/lib/fleetward-agent/secret
      cat > /etc/fleetward-agent/agent.toml <<'END'
${settings.replace('mqtts://broker.example.com:8883', 'mqtt://127.0.0.1:1883')}
END
      chgrp fleetward-agent /etc/fleetward-agent/agent.toml; chmod 640 /etc/fleetward-agent/agent.toml
      fleetward-agent config check
      systemctl start --no-block fleetward-agent`);
    await until('the agent', isUp);
    const pid = show('MainPID');
    const facts = inside().must(
      `ps -o user= -p ${pid}; grep -E 'NoNewPrivs|Seccomp:|CapEff' /proc/${pid}/status; tr '\\0' ' ' </proc/${pid}/cmdline`,
    );
    expect(facts.replace(/\s+/g, ' ')).toMatch(
      /^fleetwa\S+ CapEff: 0+ NoNewPrivs: 1 Seccomp: 2 \/usr\/lib\/fleetward-agent\/node( --[\w=-]+)* \/usr\/lib\/fleetward-agent\/app\/dist\/agent\/main.js start/,
    );
    // What it can write, it cannot run; what it can run, it cannot write. Where the container that systemd runs in allows no such
    // mounts, systemd silently leaves them out (ENOANO in its `namespace.c`); then there is nothing to look at.
    const options = inside().must(`findmnt -N ${pid} -no OPTIONS -T /usr/lib/fleetward-agent`).trim();
    if (!options.split(',').includes('ro')) {
      console.info(`the container allows no read-only mounts: ${options}`);
      return;
    }
    const reach = inside().run(
      `nsenter -t ${pid} -m sh -c 'cp /usr/bin/true /var/lib/fleetward-agent/x; /var/lib/fleetward-agent/x; echo $?; rm /var/lib/fleetward-agent/x; touch /usr/lib/fleetward-agent/y'`,
    ).output;
    expect(reach).toContain('Permission denied');
    expect(reach).toContain('126');
    expect(reach).toContain('Read-only file system');
  });

  it('takes the numbers of its devices anew when a port appears, again and again, without a restart', () => {
    const pid = show('MainPID');
    // What udev does on a replug (SYSTEMD_WANTS), also while the other port is not there.
    const script = `set -e
      for turn in 1 2 3; do systemctl start fleetward-agent-port@board.service fleetward-agent-port@gnss.service; done
      mv /dev/fleet-gnss /dev/pulled
      systemctl start fleetward-agent-port@board.service
      mv /dev/pulled /dev/fleet-gnss
      systemctl start fleetward-agent-port@gnss.service
      systemctl show fleetward-agent -p DeviceAllow -p DevicePolicy -p NeedDaemonReload
      cat /run/systemd/system.control/fleetward-agent.service.d/50-DeviceAllow.conf`;
    const lines = inside().must(script).split('\n');
    expect(lines.filter((line) => /^Device(Allow|Policy)=.|^NeedDaemonReload/.test(line)).sort()).toEqual([
      // As the manager has it, and as it will be after the next start.
      'DeviceAllow=/dev/fleet-board rw',
      'DeviceAllow=/dev/fleet-board rw',
      'DeviceAllow=/dev/fleet-bus rw',
      'DeviceAllow=/dev/fleet-bus rw',
      'DeviceAllow=/dev/fleet-driver rw',
      'DeviceAllow=/dev/fleet-driver rw',
      'DeviceAllow=/dev/fleet-fuel rw',
      'DeviceAllow=/dev/fleet-fuel rw',
      'DeviceAllow=/dev/fleet-gnss rw',
      'DeviceAllow=/dev/fleet-gnss rw',
      'DevicePolicy=closed',
      'NeedDaemonReload=no',
    ]);
    expect(show('MainPID')).toBe(pid);
    expect(inside().run('systemctl is-failed "fleetward-agent-port@*"').output).not.toContain('failed');
  });

  /** Numbers of all events in the queue; the agent is stopped for it. */
  async function queued(): Promise<Set<number>> {
    inside().must('systemctl stop fleetward-agent');
    const from = join(inside().root, 'var/lib/fleetward-agent/outbox.db');
    const to = join(folder, 'outbox.db');
    for (const suffix of ['', '-wal']) {
      rmSync(to + suffix, { force: true });
      if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
    }
    const database = openSqlite({ path: to, pageSize: 512 });
    const tables = await database.read({
      sql: "SELECT name FROM sqlite_master WHERE name GLOB 'p[0-9]'",
      params: [],
    });
    const ids = new Set<number>();
    for (const { name } of tables)
      for (const row of await database.read({ sql: `SELECT id FROM ${String(name)}`, params: [] }))
        ids.add(Number(row['id']));
    await database.close();
    return ids;
  }

  it('keeps queue, secret and settings over an upgrade, and refuses a downgrade in words', async () => {
    const before = await queued();
    expect(before.size).toBeGreaterThan(0);
    const kept = 'sha256sum /etc/fleetward-agent/agent.toml /var/lib/fleetward-agent/secret';
    const files = inside().must(kept);
    inside().must('systemctl start fleetward-agent');
    inside().must(`dpkg -i ${second.replace(folder, '/srv/packages')}`);
    await until('the upgraded agent', isUp);
    expect(inside().must('fleetward-agent --version').trim()).toBe('0.9.0');
    expect(inside().must(kept)).toBe(files);
    const down = inside().run(`dpkg -i ${first.replace(folder, '/srv/packages')}`);
    expect(down.code).not.toBe(0);
    expect(down.output).toContain('Nothing was changed');
    expect(inside().must('fleetward-agent --version').trim()).toBe('0.9.0');
    expect(isUp()).toBe(true);
    const after = await queued();
    expect([...before].filter((id) => !after.has(id))).toEqual([]);
    expect(after.size).toBeGreaterThan(before.size);
  });

  it('runs a signed release on trial from memory, and goes back to the packaged one when it is not confirmed', async () => {
    expect(sha256(release.path)).toBe(release.sha256);
    const trial = { version: release.version, attempts: 2, confirmWithinS: 90 };
    const state = JSON.stringify({ floor: '0.0.0', confirmed: null, trial, rejected: [] });
    inside().must(`set -e
      to=/var/lib/fleetward-agent/releases; mkdir -p $to/${release.version}
      tar -xzf ${release.path.replace(folder, '/srv/packages')} -C $to/${release.version}
      echo '${state}' > $to/state.json; chown -R fleetward-agent: $to
      systemctl start --no-block fleetward-agent`);
    const command = (): string => inside().run(`tr '\\0' ' ' </proc/${show('MainPID')}/cmdline`).output;
    await until('the release', () =>
      command().includes(`/usr/lib/fleetward-agent/release/${release.version}/dist/agent/main.js`),
    );
    await until('the release to work', () => isUp() || !command().includes('/release/'));
    await until(
      'the way back',
      () => command().includes('/usr/lib/fleetward-agent/app/dist/agent/main.js') && isUp(),
    );
    const words = inside().must('journalctl -u fleetward-agent -o cat --no-pager');
    expect(words).toContain(`release ${release.version} runs, on trial for 90 s`);
    expect(words).toContain('was not confirmed in 90 s and is stopped');
    expect(words).toContain(
      `release ${release.version} is given up: it was started 3 times and never confirmed`,
    );
  });

  it('keeps everything on removal, and leaves nothing on a purge', () => {
    inside().must('dpkg -r fleetward-agent');
    inside().must('test -s /var/lib/fleetward-agent/outbox.db && test -s /etc/fleetward-agent/agent.toml');
    expect(inside().run('pgrep -u fleetward-agent').output).toBe('');
    inside().must('dpkg -P fleetward-agent');
    const left = inside().must(`getent passwd fleetward-agent; getent group fleetward-agent
      find /etc /var/lib /usr /lib /run /dev -xdev \\( -name '*fleetward*' -o -name 'fleet-*' \\) 2>/dev/null | grep -v -e '^/dev/fleet-' -e '^/run/.*journal'; true`);
    expect(left).toBe('');
    expect(inside().run('systemctl cat fleetward-agent').code).not.toBe(0);
  });
});
