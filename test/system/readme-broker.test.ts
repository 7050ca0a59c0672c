// The guide of the broker, followed as printed on the installed package in a clean machine: every command of its blocks and
// every script works, or stands here with the reason why it is not run.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage, repository, whyNoPackager } from '../support/machine/deb-package.ts';
import { whyNoMachine } from '../support/machine/machine.ts';
import { createPackagedService } from '../support/machine/packaged-service.ts';
import { requires } from '../support/machine/requires.ts';
import { hangMs } from '../support/machine/wait-until.ts';

const { missing } = requires({
  commands: ['dpkg-deb', 'strip', 'systemd-nspawn', 'nsenter', 'openssl'],
  debian: ['dpkg-dev', 'binutils', 'systemd-container', 'systemd', 'util-linux', 'openssl'],
});
const why = missing ?? whyNoMachine() ?? whyNoPackager();
const guide = readFileSync(join(repository, 'broker/README.md'), 'utf8');

interface Step {
  readonly line: string;
  readonly heading: string;
}

/** Commands of the `console` blocks, in order, without comments. */
const steps: readonly Step[] = guide.split(/^## /m).flatMap((chapter) => {
  const heading = chapter.split('\n', 1)[0] ?? '';
  const blocks = [...chapter.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks
    .flatMap((block) => block.split('\n').filter((line) => line.startsWith('$ ')))
    .map((line) => ({ line: line.slice(2).replace(/\s+# .*$/, ''), heading }));
});

/** Scripts of the `sh` blocks by the path that their comment names. */
const scripts = [...guide.matchAll(/^```sh\n(#!\/bin\/sh\n# (\S+) \(chmod 755\).*?)^```$/gms)].map(
  ([, text = '', path = '']) => ({ path, text }),
);

const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/^fleetward-agent /, 'on the unit'],
  [/^pmtiles |toronto\.pmtiles/, 'a tool and a map of others'],
  [/^ssh /, 'on the computer of the operator'],
  [/^man /, 'looked at by the test of the package'],
];

/** What a step says when it is right to refuse: there is no such user yet. */
const refused: Readonly<Record<string, number>> = { 'fleetward-broker account confirm acme otto': 66 };

describe.skipIf(why !== null)(
  `the guide of the broker${why === null ? '' : ` (${why})`}`,
  { timeout: 900_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-readme-broker-'));
    const { inside, show, until, boot, close } = createPackagedService('fleetward-broker', hangMs);
    const isUp = (): boolean => show('ActiveState') === 'active' && show('SubState') === 'running';
    beforeAll(async () => {
      buildPackage('broker', '--output', folder, '--version', '0.8.0');
      await boot({ '/srv/packages': folder });
      inside().must('mkdir -p /srv/disk /etc/cron.daily');
    }, 900_000);
    afterAll(async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    }, 900_000);

    it('has commands and scripts to follow', () => {
      expect(steps.length).toBeGreaterThan(20);
      expect(scripts.map(({ path }) => path)).toEqual([
        '/etc/letsencrypt/renewal-hooks/deploy/fleetward',
        '/etc/cron.daily/fleetward-broker',
      ]);
    });

    it.each(steps)('$heading: $line', async ({ line }) => {
      if (elsewhere.some(([pattern]) => pattern.test(line))) return;
      const command = line.replace(/^sudo /, '').replace(/ (fleetward-broker_\*\.deb)/, ' /srv/packages/$1');
      const { code, output } = inside().run(`cd /root && ${command}`);
      expect([code, output]).toEqual([refused[line] ?? 0, output]);
      if (/^(sudo )?(dpkg|systemctl)/.test(line) && !line.includes(' stop ')) return;
      if (line.includes('restart')) await until('the broker', isUp);
    });

    it('gives the certificates of certbot to the service', () => {
      inside().must(`mkdir -p /etc/letsencrypt/live/fleet && cd /etc/letsencrypt/live/fleet && umask 077
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout privkey.pem -out fullchain.pem -days 2 -subj /CN=fleet 2>&1`);
      const [hook] = scripts;
      inside().must(`cat > /root/hook.sh <<'END'\n${hook?.text}END
        RENEWED_LINEAGE=/etc/letsencrypt/live/fleet sh /root/hook.sh`);
      const tls =
        '--http-tls-cert-file=/etc/fleetward-broker/tls/fullchain.pem --http-tls-key-file=/etc/fleetward-broker/tls/privkey.pem';
      expect(inside().must(`fleetward-broker config check ${tls}`)).toContain('is valid');
    });

    it('makes a backup by its script, rehearses it and restores it by the steps', async () => {
      const [, nightly] = scripts;
      inside().must(`cat > /root/nightly.sh <<'END'\n${nightly?.text}END
        sh /root/nightly.sh && test "$(ls /var/backups/fleetward | wc -l)" = 1`);
      const commands = [
        ...guide.matchAll(
          /`(fleetward-broker (?:backup|restore|check)[^`]*\/[^`]*|systemctl (?:stop|start) [^`]*)`/g,
        ),
      ].map(([, command = '']) => command.replace(/\s+/g, ' '));
      expect(commands).toHaveLength(6);
      inside().must('mkdir -p /backup');
      for (const command of commands) {
        if (/restore \S+$/.test(command))
          inside().must(
            'mkdir /root/away && mv /var/lib/fleetward-broker/fleetward.db* /root/away/; mv /root/away/*.pem /var/lib/fleetward-broker/',
          );
        expect([command, inside().run(`cd /root && ${command}`).code]).toEqual([command, 0]);
      }
      await until('the restored broker', isUp);
    });
  },
);
