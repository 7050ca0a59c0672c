// The broker's Debian package as an operator meets it: built, installed on a copy of this machine with a real systemd, started
// hardened as its own user, watched, backed up, upgraded with all that was acknowledged, removed and purged.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage, repository, runTool, whyNoPackager } from '../support/machine/deb-package.ts';
import { whyNoMachine } from '../support/machine/machine.ts';
import { createPackagedService } from '../support/machine/packaged-service.ts';
import { requires } from '../support/machine/requires.ts';
import { hangMs } from '../support/machine/wait-until.ts';

const { missing } = requires({
  commands: ['dpkg-deb', 'lintian', 'strip', 'systemd-nspawn', 'systemd-analyze', 'nsenter', 'mosquitto_pub'],
  debian: [
    'dpkg-dev',
    'lintian',
    'binutils',
    'systemd-container',
    'systemd',
    'util-linux',
    'mosquitto-clients',
  ],
});
const why = missing ?? whyNoMachine() ?? whyNoPackager();
const lintian = (path: string) =>
  promisify(execFile)(
    'lintian',
    ['--no-cfg', '--fail-on', 'none', '--tag-display-limit', '0', '--allow-root', path],
    {
      maxBuffer: 16 * 1024 * 1024,
    },
  );
const unit = join(repository, 'systemd/fleetward-broker.service');

describe("the broker's unit", () => {
  const lines = readFileSync(unit, 'utf8').split('\n');

  it.skipIf(why !== null)(
    `is exposed at most 2.0 by systemd's own measure${why === null ? '' : ` (${why})`}`,
    () => {
      const report = runTool('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
      const [, exposure] = /Overall exposure level for \S+ (\d+\.\d+)/.exec(report) ?? [];
      expect(Number(exposure)).toBeLessThanOrEqual(2);
    },
  );

  it('reports readiness, is watched, restarts for ever, and stops on its signal', () => {
    for (const line of [
      'Type=notify',
      'Restart=always',
      'StartLimitIntervalSec=0',
      'KillMode=mixed',
      'LimitNOFILE=65536',
    ])
      expect(lines).toContain(line);
    expect(lines.some((line) => /^WatchdogSec=\d+$/.test(line))).toBe(true);
    expect(lines).toContain('ExecReload=/bin/kill -HUP $MAINPID');
  });

  it('keeps the heap below the memory that the service may have', () => {
    const text = lines.join('\n');
    const heapMb = Number(/--max-old-space-size=(\d+)/.exec(text)?.[1]);
    const memoryMb = Number(/^MemoryMax=(\d+)G$/m.exec(text)?.[1]) * 1024;
    expect(heapMb).toBeLessThan(memoryMb * 0.8);
  });
});

/** Ends a hang: lintian alone reads 2,000 files. */
const toolMostMs = 900_000;
/** Of the broker under test: seconds for it to feed its watchdog on a machine that stands still now and then. */
const watchdogS = 30;

describe.skipIf(why !== null)(
  `the broker's package${why === null ? '' : ` (${why})`}`,
  { timeout: toolMostMs },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-deb-broker-'));
    const { inside, show, until, boot, close } = createPackagedService('fleetward-broker', hangMs);
    let first = '';
    let second = '';
    let secret = '';
    let watched = { pid: '', sinceMs: 0 };
    /** Looks at the package beside everything else: it takes the longest. */
    let report: ReturnType<typeof lintian> | undefined;
    const isUp = (): boolean => show('ActiveState') === 'active' && show('SubState') === 'running';
    /** Asks one after the other, in one process; status and text of each, a line each. */
    const fetchInside = (...urls: readonly string[]): readonly string[] => {
      const script = `(async () => { for (const url of process.argv.slice(1)) {
        const answer = await fetch(url);
        console.log(JSON.stringify(answer.status + ' ' + (await answer.text()).slice(0, 60000))); } })()`;
      const args = urls.map((url) => `'${url}'`).join(' ');
      const answers = inside().must(`/usr/lib/fleetward-broker/node -e "${script}" ${args}`);
      return answers
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string);
    };
    /** Sends one event and waits for its PUBACK. */
    const sendEvent = (timestamp: number): void => {
      const event = JSON.stringify({ timestamp, statusCode: 61_472, latitude: 52, longitude: 5 });
      inside().must(
        `mosquitto_pub -q 1 -k 60 -i acme/truck-1 -u acme/truck-1 -P '${secret}' -t fleet/v1/acme/truck-1/events -m '${event}'`,
      );
    };
    const eventsStored = (): number =>
      Number(
        /^fleetward_table_rows\{table="events"\} (\d+)$/m.exec(
          fetchInside('http://127.0.0.1:9464/metrics')[0] ?? '',
        )?.[1],
      );

    beforeAll(async () => {
      first = buildPackage('broker', '--output', folder, '--version', '0.8.0');
      report = lintian(first);
      report.catch(() => undefined);
      // The machine comes up while the second one is built.
      const booting = boot({ '/srv/packages': folder });
      second = buildPackage('broker', '--output', folder, '--version', '0.9.0');
      await booting;
    }, toolMostMs);
    afterAll(async () => {
      report?.child.kill('SIGKILL');
      await close();
      rmSync(folder, { recursive: true, force: true });
    }, toolMostMs);
    const packageInside = (path: string): string => path.replace(folder, '/srv/packages');

    it('holds the broker and nothing of agent or simulator; belongs to root', () => {
      const lines = runTool('dpkg-deb', ['--contents', first]).trim().split('\n');
      for (const line of lines) expect(line).toMatch(/^[-d]rw(x|-)r-(x|-)r-(x|-) root\/root /);
      const paths = lines.map((line) => line.split(/\s+/)[5] ?? '');
      const dist = './usr/lib/fleetward-broker/app/dist/';
      const tops = new Set(paths.filter((path) => path.startsWith(dist)).map((path) => path.split('/')[6]));
      expect(tops).toEqual(new Set(['', 'broker', 'build', 'src']));
      // The compiled catalogues.
      expect(paths.filter((path) => new RegExp(`^${dist}build/(?!$|words/)`).test(path))).toEqual([]);
      for (const name of ['serialport', 'vitest', 'typescript'])
        expect(paths.filter((path) => path.includes(`/node_modules/${name}/`))).toEqual([]);
    });

    it('installs, enables and starts it, on this machine only, as its own user, hardened', async () => {
      const output = inside().must(`dpkg -i ${packageInside(first)}`);
      expect(output).toContain('listens on this machine only');
      await until('the broker', isUp);
      expect(inside().must('systemctl is-enabled fleetward-broker').trim()).toBe('enabled');
      const facts = inside().must(
        `ps -o user:20= -p ${show('MainPID')}; grep -E 'NoNewPrivs|Seccomp:|CapEff' /proc/${show('MainPID')}/status`,
      );
      expect(facts.replace(/\s+/g, ' ')).toMatch(/^fleetward-broker CapEff: 0+ NoNewPrivs: 1 Seccomp: 2/);
      const modes =
        'stat -c "%a %U:%G" /etc/fleetward-broker /var/lib/fleetward-broker /var/lib/fleetward-broker/fleetward.db';
      expect(inside().must(modes)).toBe(
        '750 root:fleetward-broker\n700 fleetward-broker:fleetward-broker\n600 fleetward-broker:fleetward-broker\n',
      );
      const served = [
        'readyz',
        'docs/',
        'docs/static/swagger-ui-bundle.js',
        'docs/static/swagger-initializer.js',
        'console/',
        'console/licences.txt',
      ];
      const answers = fetchInside(...served.map((path) => `http://127.0.0.1:8080/${path}`));
      expect(answers).toHaveLength(served.length);
      for (const answer of answers) expect(answer).toMatch(/^200 /);
      expect(inside().must("ss -Hltn | awk '{ print $4 }'")).not.toMatch(
        /^(0\.0\.0\.0|\*|\[::\]):(8080|1883|9464)/m,
      );
      expect(
        inside().must(
          'systemd-analyze verify /lib/systemd/system/fleetward-broker.service 2>&1 | grep -v "man " || true',
        ),
      ).toBe('');
    });

    it('is operated by root with short commands that leave nothing of root behind', async () => {
      // From here on it is watched closely: the next test sees that it was fed all the while.
      inside().must(`mkdir -p /run/systemd/system/fleetward-broker.service.d
        printf '[Service]\\nWatchdogSec=${watchdogS}\\n' > /run/systemd/system/fleetward-broker.service.d/test.conf
        systemctl daemon-reload && systemctl restart fleetward-broker`);
      await until('the broker', isUp);
      watched = { pid: show('MainPID'), sinceMs: Date.now() };
      const password = 'correct horse battery staple';
      inside().must(
        `echo '${password}' | fleetward-broker account create acme --admin ann --password-file -`,
      );
      const made = inside().must('fleetward-broker device create acme truck-1 --json');
      secret = (JSON.parse(made) as { secret: string }).secret;
      for (const timestamp of [1_767_000_001, 1_767_000_002]) sendEvent(timestamp);
      inside().must('fleetward-broker backup /root/one.db && fleetward-broker check');
      expect(inside().must('stat -c "%a %U" /root/one.db').trim()).toBe('600 root');
      expect(inside().must('find /var/lib/fleetward-broker -not -user fleetward-broker')).toBe('');
      await until('its line for people', () => show('StatusText').includes('vehicles connected'));
      const man = inside().must('zcat /usr/share/man/man8/fleetward-broker.8.gz | head -3');
      expect(man).toContain('FLEETWARD-BROKER 8');
      expect(
        inside().must(`bash -c '. /usr/share/bash-completion/completions/fleetward-broker
          COMP_WORDS=(fleetward-broker ba); COMP_CWORD=1; _fleetward_broker; echo "\${COMPREPLY[@]}"'`),
      ).toContain('backup');
    });

    it('takes paths on the command line as the caller means them, from the folder of the caller', () => {
      const password = 'correct horse battery staple';
      inside().must(`cd /root && umask 077 && echo '${password}' > pw
        fleetward-broker account create bcme --admin ann --password-file pw
        fleetward-broker account create ccme --admin ann --password-file=/root/pw
        fleetward-broker audit heads > heads && fleetward-broker audit verify --head heads
        fleetward-broker backup rehearsal.backup && fleetward-broker restore rehearsal.backup --database rehearsal.db
        fleetward-broker check --database rehearsal.db`);
      inside().must('fleetward-broker admin-token --file /etc/fleetward-broker/view-token');
      const rights = inside().must('stat -c "%a %U:%G" /etc/fleetward-broker/view-token').trim();
      expect(rights).toBe('640 root:fleetward-broker');
      const settings = 'cp /etc/fleetward-broker/broker.toml /root/own.toml';
      inside().must(`${settings}; chmod 644 /root/own.toml; cp /root/own.toml /srv/own.toml`);
      inside().must('cd /srv && fleetward-broker config check --config /srv/own.toml');
      expect(inside().must('find /var/lib/fleetward-broker -not -user fleetward-broker')).toBe('');
    });

    it('makes no fleet for a user that forgot sudo', () => {
      const { code, output } = inside().run(
        'mkdir -m 777 -p /tmp/home && cd /tmp/home && setpriv --reuid nobody --regid nogroup --clear-groups fleetward-broker account create acme --admin ann',
      );
      expect([code, output]).toEqual([78, expect.stringContaining('sudo')]);
      expect(inside().must('ls /tmp/home')).toBe('');
    });

    it('checks its settings as the service would meet them, drop-ins included', () => {
      const check = (...flags: readonly string[]) =>
        inside().run(`fleetward-broker config check ${flags.join(' ')}`);
      expect(check()).toMatchObject({ code: 0, output: expect.stringContaining('is valid') });
      inside().must('install -m 640 -g fleetward-broker /etc/fleetward-broker/view-token /home/view-token');
      inside().must('mkdir -p /srv/fleet && chown fleetward-broker /srv/fleet');
      const refused: readonly (readonly [string, string])[] = [
        ['--http-port=443', 'below 1024'],
        ['--admin-view-token-file=/home/view-token', 'admin.viewTokenFile /home/view-token'],
        ['--admin-view-token-file=/root/pw', 'admin.viewTokenFile /root/pw'],
        ['--database=/srv/fleet/fleetward.db', 'ReadWritePaths=/srv/fleet'],
        ['--http-tls-cert-file=/etc/ssl/none.pem --http-tls-key-file=/etc/ssl/none.key', '/etc/ssl/none.pem'],
      ];
      for (const [flags, message] of refused)
        expect(check(flags)).toMatchObject({ code: 78, output: expect.stringContaining(message) });
      inside().must(`printf '%s\n' '[Service]' ReadWritePaths=/srv/fleet AmbientCapabilities=CAP_NET_BIND_SERVICE \
          CapabilityBoundingSet=CAP_NET_BIND_SERVICE PrivateUsers=no > /run/systemd/system/fleetward-broker.service.d/disk.conf
        systemctl daemon-reload`);
      expect(check('--http-port=443', '--database=/srv/fleet/fleetward.db')).toMatchObject({ code: 0 });
      inside().must('rm /run/systemd/system/fleetward-broker.service.d/disk.conf && systemctl daemon-reload');
      expect(inside().must('ls /srv/fleet')).toBe('');
    });

    it('is started again when it hangs, and an upgrade keeps all that was acknowledged', async () => {
      const { pid, sinceMs } = watched;
      // Longer than the watchdog waits: it is fed.
      await sleep(Math.max(0, sinceMs + (watchdogS + 5) * 1000 - Date.now()));
      expect(show('MainPID')).toBe(pid);
      inside().must(`kill -STOP ${pid}`);
      // Its number first: what is up after that is the new one, and none is 0.
      await until('another process', () => !['0', pid].includes(show('MainPID')) && isUp());
      expect(inside().must('journalctl -u fleetward-broker -o cat --no-pager')).toContain('Watchdog timeout');
      sendEvent(1_767_000_003);
      const kept = 'sha256sum /etc/fleetward-broker/broker.toml /var/lib/fleetward-broker/*.pem';
      const files = inside().must(kept);
      inside().must(`dpkg -i ${packageInside(second)}`);
      await until('the upgraded broker', isUp);
      expect(inside().must('fleetward-broker --version').trim()).toBe('0.9.0');
      expect(inside().must(kept)).toBe(files);
      await until('the figures of its tables', () => !Number.isNaN(eventsStored()));
      expect(eventsStored()).toBe(3);
      expect(inside().run(`dpkg -i ${packageInside(first)}`).output).toContain('Nothing was changed');
      expect(isUp()).toBe(true);
    });

    it('restores a backup by the steps of the manual', async () => {
      inside().must(`set -e
        systemctl stop fleetward-broker
        mkdir /var/lib/fleetward-broker/old; mv /var/lib/fleetward-broker/fleetward.db* /var/lib/fleetward-broker/old/
        mv /var/lib/fleetward-broker/old/*.pem /var/lib/fleetward-broker/
        fleetward-broker restore /root/one.db
        systemctl start fleetward-broker`);
      await until('the restored broker', isUp);
      const strange = 'find /var/lib/fleetward-broker -not -user fleetward-broker -not -name old';
      expect(inside().must(strange)).toBe('');
      await until('the figures of its tables', () => !Number.isNaN(eventsStored()));
      expect(eventsStored()).toBe(2);
      sendEvent(1_767_000_004);
    });

    it('runs with its data on another disk, by a link', async () => {
      inside().must(`set -e
        systemctl stop fleetward-broker
        mkdir -p /srv/disk && mv /var/lib/fleetward-broker /srv/disk/data && ln -s /srv/disk/data /var/lib/fleetward-broker
        fleetward-broker config check
        systemctl start fleetward-broker`);
      await until('the broker on another disk', isUp);
      sendEvent(1_767_000_005);
      inside().must(`set -e
        systemctl stop fleetward-broker
        rm /var/lib/fleetward-broker && mkdir /var/lib/fleetward-broker
        mount -t tmpfs tmpfs /var/lib/fleetward-broker && dpkg-reconfigure fleetward-broker
        systemctl stop fleetward-broker
        mv /srv/disk/data/* /var/lib/fleetward-broker/ && systemctl start fleetward-broker`);
      await until('the broker on a mounted disk', isUp);
      sendEvent(1_767_000_006);
    });

    it('has no errors by lintian', async () => {
      if (report === undefined) throw new Error('lintian did not start');
      const { stdout } = await report;
      expect(stdout.split('\n').filter((line) => line.startsWith('E:'))).toEqual([]);
    });

    it('keeps everything on removal, and leaves nothing on a purge', () => {
      inside().must('dpkg -r fleetward-broker');
      inside().must(
        'test -s /var/lib/fleetward-broker/fleetward.db && test -s /etc/fleetward-broker/broker.toml',
      );
      expect(inside().run('pgrep -u fleetward-broker').output).toBe('');
      inside().must('dpkg -P fleetward-broker </dev/null');
      const left = inside().must(`getent passwd fleetward-broker; getent group fleetward-broker
        find /etc /var/lib /usr /lib /run -xdev -name '*fleetward-broker*' 2>/dev/null | grep -v journal; true`);
      // The disk that is mounted there stays, with nothing on it.
      expect(left.trim()).toBe('/var/lib/fleetward-broker');
      expect(inside().must('ls -A /var/lib/fleetward-broker')).toBe('');
    });
  },
);
