// The tour of broker/api/README.md as a newcomer meets it: every line of its shell blocks, in order, in one bash, against a demo
// that runs. A block without a check here fails the test, and so does a line that complains.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signWebhook } from '../../broker/adapters/delivery/webhook.ts';
import { freePort } from '../support/machine/free-port.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type Program, startProgram } from '../support/programs/fleet-processes.ts';

const root = new URL('../..', import.meta.url).pathname;
const { missing } = requires({ commands: ['bash', 'curl'], debian: ['bash', 'curl'] });
const why = missing ?? (existsSync(join(root, 'dist')) ? null : 'skipped, dist is missing: npm run build');

interface Answer {
  readonly success?: string;
  readonly error?: { readonly code: string };
  readonly [member: string]: unknown;
}

interface Printed {
  readonly text: string;
  /** The JSON answers in it, in order. */
  readonly answers: readonly Answer[];
}

const allGood = ({ answers }: Printed): void => {
  expect(answers.filter((answer) => answer.success !== '1')).toEqual([]);
};
type Check = (printed: Printed, out: string) => void;
const good = (count: number) => (printed: Printed) => {
  allGood(printed);
  expect(printed.answers).toHaveLength(count);
};

const cutAnEngine: Check = ({ answers }) => {
  const [cut, cancelled, restore, list] = answers;
  expect(answers).toHaveLength(4);
  expect([cut?.success, restore?.success, list?.success]).toEqual(['1', '1', '1']);
  // A vehicle that stands is cut before the withdrawal can arrive; one that drives says why it waits.
  if (cut?.['commandState'] === 'armed') expect(cut['detail']).toMatch(/.{8}/);
  if (cut?.['commandState'] === 'confirmed') expect(cancelled?.error?.code).toBe('conflict');
  else expect(cancelled?.error?.code ?? 'none').toMatch(/^(none|conflict)$/);
  expect(list?.['commands']).toMatchObject([
    { commandID: restore?.['commandID'], feature: 'enginecutoff', state: '0' },
    { commandID: cut?.['commandID'], feature: 'enginecutoff', state: '1', reason: 'stolen' },
  ]);
};
const restoreMany: Check = ({ answers }) => {
  expect(answers).toHaveLength(1);
  expect(JSON.stringify(answers[0])).toMatch(/van-01.*van-02.*nope/);
};

/** What each block must print: the blocks of a section in their order, by its heading. */
const checks: Readonly<Record<string, Check | readonly Check[]>> = {
  'Before you start': good(0),
  Vehicles: (printed) => {
    good(3)(printed);
    expect(printed.answers.map((answer) => answer['deviceID'])).toEqual([undefined, undefined, 'van-01']);
    expect(printed.answers[1]?.['devices']).toHaveLength(2);
  },
  History: (printed) => {
    allGood(printed);
    expect(printed.answers.length).toBeGreaterThanOrEqual(4);
    const [latest, , , page] = printed.answers;
    // Empty until the receiver of the vehicle has its first fix.
    const { devices: last } = (latest?.['eventdata'] ?? { devices: [] }) as { devices: readonly Answer[] };
    expect(last.length).toBeLessThanOrEqual(1);
    for (const one of last) expect(one).toMatchObject({ deviceID: 'van-01', isPositionValid: true });
    expect(page).toMatchObject({ eventdata: { devices: { length: expect.any(Number) } } });
    expect(printed.answers.at(-1)).toMatchObject({ more: false });
  },
  Live: (printed) => {
    good(1)(printed);
    const [first = '', second = ''] = printed.text.split(/^\{.*\}$/m);
    expect(first).toContain('event: hello');
    expect(first).not.toContain('"statusCode":63553');
    expect(second).toContain('"statusCode":63553');
    expect(second).not.toContain('event: reset');
  },
  'Alarms and inbox': (printed) => {
    good(4)(printed);
    expect(printed.answers[1]?.['activations']).toBeGreaterThanOrEqual(1);
  },
  'Shared alarms': (printed) => {
    good(6)(printed);
    expect(printed.answers.at(-1)).toMatchObject({ alarmState: 'closed', owner: 'admin', notes: 1 });
  },
  Geozones: (printed) => {
    good(3)(printed);
    expect(printed.answers[1]).toMatchObject({ geozones: { harbour: { geozoneRadius: 800 } } });
  },
  'Cut an engine': [cutAnEngine, restoreMany],
  Releases(printed) {
    good(6)(printed);
    expect(printed.answers[2]).toMatchObject({ units: 1 });
    expect(printed.answers[4]).toMatchObject({ units: [{ deviceID: 'van-01', stage: 1 }] });
  },
  'Users, groups and tokens': [
    (printed) => {
      good(3)(printed);
      const devices = (printed.answers[2]?.['devices'] ?? []) as readonly Answer[];
      expect(devices.map((device) => device['deviceID'])).toEqual(['van-01', 'van-02']);
    },
    good(1),
  ],
  'Share a vehicle': (printed) => {
    good(3)(printed);
    expect(JSON.stringify(printed.answers[1])).not.toMatch(/demo|admin/);
  },
  'Notifications and webhooks': [
    (printed) => {
      good(3)(printed);
      expect(printed.answers[0]?.['webhookSecret']).toMatch(/^[\w-]{43}$/);
    },
    good(2),
  ],
  'Reports and exports': [
    (printed, out) => {
      good(1)(printed);
      const file = (format: string) => readFileSync(join(out, `van-01.${format}`), 'utf8');
      expect(file('gpx')).toMatch(/<\/gpx>\s*$/);
      expect(file('csv')).toMatch(/^deviceID,.*\r\nvan-01,/);
      expect(JSON.parse(file('geojson'))).toMatchObject({ type: 'FeatureCollection' });
    },
    (printed) => {
      good(3)(printed);
      expect(printed.answers[2]).toMatchObject({ schedules: [{ scheduleID: 'weekly', kind: 'trips' }] });
    },
  ],
  Drivers: (printed) => {
    good(4)(printed);
    expect(printed.answers[1]?.['drivers']).toMatchObject([
      { driverID: 'ann', keys: [{ keyID: '3F0000001A2B3C01', startTime: 0, endTime: 0 }] },
    ]);
  },
  'Import devices': (printed) => {
    good(2)(printed);
    expect(printed.answers[0]).toMatchObject({ created: 1, updated: 1, lines: { length: 2 } });
    expect(printed.answers[1]).toMatchObject({ created: 1, updated: 1 });
  },
  'Enrolment and service codes': (printed) => {
    good(4)(printed);
    const [made, listed, , service] = printed.answers;
    expect(made?.['code']).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4})+$/);
    expect(listed?.['codes']).toMatchObject([{ deviceID: 'truck-9', codeID: made?.['codeID'] }]);
    expect(service).toMatchObject({ deviceID: 'van-02', code: expect.stringMatching(/^[0-9]{8}$/) });
  },
  'Diagnostics of a unit': (printed) => {
    good(3)(printed);
    const [asked, seen, located] = printed.answers;
    expect(asked).toMatchObject({ requestID: expect.stringMatching(/.{8}/) });
    expect(seen).toMatchObject({ requestID: asked?.['requestID'] });
    expect(located).toMatchObject({ commandID: expect.stringMatching(/.{8}/) });
  },
  'Idempotency and caching': (printed) => {
    good(2)(printed);
    expect(printed.answers[1]).toEqual(printed.answers[0]);
    expect(printed.text).toMatch(/^304$/m);
  },
  Errors: ({ answers }) => {
    expect(answers).toMatchObject([{ error: { status: 404, code: 'not_found' } }]);
  },
  'Status codes of events': ({ text }) => {
    expect(text).toMatch(/"statusCode":63553/);
  },
  'Accounts, for the operator of the service': ({ text }) => {
    expect(text).toMatch(/^demo +active/m);
    expect(text).toContain('(at most 50)');
    expect(text).toContain('all hold');
  },
};

interface Block {
  readonly title: string;
  readonly text: string;
}

const guide = readFileSync(join(root, 'broker/api/README.md'), 'utf8');

function blocksOf(language: string): readonly Block[] {
  const found = guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...found]
    .filter(([, info]) => info === language)
    .map((match) => {
      const before = guide.slice(0, match.index);
      const title = [...before.matchAll(/^## (.+)$/gm)].at(-1)?.[1];
      return { title: title ?? '', text: match[2] ?? '' };
    });
}

/** Puts in what a reader would; each must be named by the page. */
function adapt(text: string, put: Readonly<Record<string, string>>): string {
  return Object.entries(put).reduce((so, [printed, meant]) => {
    expect(so).toContain(printed);
    return so.replaceAll(printed, meant);
  }, text);
}

function runBash(script: string, folder: string): Promise<{ text: string; complaints: string }> {
  const child = spawn('bash', ['-u', '-c', script], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
  });
  const said = { text: '', complaints: '' };
  child.stdout.on('data', (chunk: Buffer) => void (said.text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (said.complaints += chunk.toString()));
  return new Promise((done) => child.once('close', () => done(said)));
}

const separator = '@@ next block @@\n';

function printedBy(text: string): Printed {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return { text, answers: lines.map((line) => JSON.parse(line) as Answer) };
}

describe.skipIf(why !== null)(
  why === null ? 'the tour of the API guide' : `the tour of the API guide [${why}]`,
  () => {
    const folder = temporaryFolder('readme');
    const files = join(folder, 'files');
    const blocks = blocksOf('sh');
    let demo: Program | undefined;
    let complaints = '';
    let printed: readonly Printed[] = [];

    beforeAll(async () => {
      mkdirSync(files);
      const [http, mqtt] = [await freePort(), await freePort()];
      const state = join(folder, 'state');
      const ports = ['--http-port', `${http}`, '--mqtt-port', `${mqtt}`];
      const started = startProgram('simulator', ['demo', '--state', state, '--vehicles', '2', ...ports]);
      demo = started;
      const said = () => started.lines.map(({ msg }) => msg).join('\n');
      const isServing = (): boolean => /2 of 2 online, .* [1-9]\d* events/.test(said());
      await waitUntil('two vehicles online', isServing, { seen: said });
      const password = /Password\s+(\S+)\s+\(shown once\)/.exec(said())?.[1] ?? '';
      const script = adapt(blocks.map(({ text }) => text).join(`printf '%s' '${separator}'\n`), {
        'http://127.0.0.1:8080': `http://127.0.0.1:${http}`,
        'the one that npm start printed': password,
        '.fleetward/': `${state}/`,
        'node dist/': `'${process.execPath}' dist/`,
      });
      const ran = await runBash(script, files);
      complaints = ran.complaints;
      printed = ran.text.split(separator).map(printedBy);
    });

    afterAll(async () => {
      demo?.signal('SIGTERM');
      await demo?.ended();
      rmSync(folder, { recursive: true, force: true });
    });

    it('checks every block', () => {
      const expected = Object.entries(checks).flatMap(([title, of]) => [of].flat().map(() => title));
      expect(blocks.map(({ title }) => title)).toEqual(expected);
      expect(printed).toHaveLength(blocks.length);
    });

    it.each(blocks.map(({ title }, at) => [title, at] as const))('%s', (title, at) => {
      const out = join(files, readdirSync(files)[0] ?? '');
      const nth = blocks.slice(0, at).filter((block) => block.title === title).length;
      [checks[title] ?? []].flat()[nth]?.(printed[at] ?? { text: '', answers: [] }, out);
    });

    it('prints no complaint but that of the two streams that --max-time ends', () => {
      const lines = complaints.split('\n').filter((line) => line !== '');
      expect(lines.map((line) => line.replace(/ after .*/, ''))).toEqual([
        'curl: (28) Operation timed out',
        'curl: (28) Operation timed out',
      ]);
    });

    it('accepts a webhook of ours, and refuses a forged or an old one', async () => {
      const path = join(folder, 'receiver.mjs');
      writeFileSync(path, blocksOf('js')[0]?.text ?? '');
      const { isGenuine } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as {
        isGenuine(secret: string, headers: Readonly<Record<string, string>>, body: Buffer): boolean;
      };
      const body = '{"deviceDisplayName":"Lieferwagen für Öl"}';
      const headersAt = (timestampS: number) => ({
        'fleetward-timestamp': String(timestampS),
        'fleetward-signature': `v1=${signWebhook('secret', timestampS, body)}`,
      });
      const nowS = Math.floor(Date.now() / 1000);
      expect(isGenuine('secret', headersAt(nowS), Buffer.from(body))).toBe(true);
      expect(isGenuine('another', headersAt(nowS), Buffer.from(body))).toBe(false);
      expect(isGenuine('secret', headersAt(nowS), Buffer.from(`${body} `))).toBe(false);
      expect(isGenuine('secret', headersAt(nowS - 400), Buffer.from(body))).toBe(false);
    });
  },
);
