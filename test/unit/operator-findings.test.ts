// What the operator of the service is told to look at: every limit with a value at it and one past it, the order, counts of the last hour, and
// that the page of the operator never takes an old value for a new one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ageOfView,
  firstOperatorState,
  isOld,
  oldAfterMs,
  oldestOf,
  withOperatorFault,
  withStatus,
} from '../../broker/console/state/operator/operator-state.ts';
import { type Finding, findingLimits, findingsOf, levelOf } from '../../broker/core/operating/findings.ts';
import { createHourCounts, otherKind } from '../../broker/core/operating/hour-counts.ts';
import type { AccountFacts, QueueName, ServiceFacts } from '../../broker/core/operating/service-facts.ts';
import { mainTexts as ar } from '../../build/words/main/ar.ts';
import { operatorPageTexts as arabic } from '../../build/words/operatorPage/ar.ts';
import { operatorPageTexts as german } from '../../build/words/operatorPage/de.ts';
import { operatorPageTexts as english } from '../../build/words/operatorPage/en.ts';
import { operatorPageTexts as spanish } from '../../build/words/operatorPage/es.ts';
import { operatorPageTexts as french } from '../../build/words/operatorPage/fr.ts';
import { createBenchClock } from '../support/broker/broker-bench.ts';
import { sevens } from '../support/http/console-words.ts';

const nowS = 1_795_000_000;
const lateAfterS = 93_600;
const dayS = 86_400;

/** A service in which all is well. */
const good: ServiceFacts = {
  timestamp: nowS,
  service: {
    version: '1.0.0',
    nodeVersion: 'v20.0.0',
    startedAtS: nowS - 1000,
    database: 'sqlite',
    ingress: 'own',
    checks: [{ name: 'database', fault: '' }],
  },
  accounts: { atS: nowS, total: 0, devices: 0, devicesOnline: 0, oldestAtS: nowS - 90 * dayS, listed: [] },
  quarantine: { atS: nowS, payloads: 0, bytes: 0, examined: 0, lastHour: 0, reasons: [] },
  backup: {
    atS: nowS,
    lateAfterS,
    good: { atS: nowS - 3600, file: 'fleet.db', bytes: 1, durationS: 1, hasSigningKey: false },
    failed: null,
    archive: null,
  },
  queues: { atS: nowS, listed: [{ name: 'commits', waiting: 0, oldestS: 0 }] },
  connections: { devices: 0, devicesWaiting: 0, apps: 0, streams: 0, refused: [], overLimit: [] },
  storage: {
    atS: nowS,
    databaseBytes: 1e9,
    walBytes: 1e6,
    freeBytes: 1e12,
    slices: { open: 1, closed: 0, retired: 0, dropping: 0 },
    oldestSliceAtS: 0,
    lastEventNo: 500_000,
    notifiedEventNo: 500_000,
  },
  bridges: null,
  leases: [],
  certificates: [],
  advisories: null,
  errors: { sinceAtS: nowS - 3600, listed: [] },
};

type Changes = { readonly [Name in keyof ServiceFacts]?: object | readonly object[] };
/** The good service with some groups changed; lists are replaced. */
function changed(changes: Changes): ServiceFacts {
  const groups = Object.entries(changes).map(([name, value]) => {
    const before: unknown = good[name as keyof ServiceFacts];
    return [name, Array.isArray(value) ? value : Object.assign({}, before, value)];
  });
  return { ...good, ...(Object.fromEntries(groups) as Partial<ServiceFacts>) };
}
const judge = (changes: Changes): readonly Finding[] => findingsOf(changed(changes));
const briefly = (changes: Changes) =>
  judge(changes).map(({ code, level, subject }) => [code, level, subject]);

const account = (changes: Partial<AccountFacts>): AccountFacts => ({
  accountID: 'acme',
  accountDisplayName: 'Acme',
  state: 'active',
  devices: 10,
  devicesOnline: 0,
  maximumDevices: 0,
  users: 1,
  createdAtS: 0,
  expiresAtS: 0,
  retainedDays: 0,
  ...changes,
});
const queue = (name: QueueName, oldestS: number) => ({ queues: { listed: [{ name, waiting: 1, oldestS }] } });
const refused = (name: string, lastHour: number, agoS = 10) => ({
  connections: { refused: [{ name, lastHour, lastAtS: nowS - agoS }] },
});
const goodBackup = (ageS: number) => ({ backup: { good: { ...good.backup?.good, atS: nowS - ageS } } });
const free = (freeBytes: number) => ({ storage: { freeBytes } });
const behind = (events: number) => ({ storage: { notifiedEventNo: 500_000 - events } });
const ends = (days: number) => ({ certificates: [{ setting: 'mqtt.tls', untilAtS: nowS + days * dayS }] });

describe('what an operator is told to look at', () => {
  it('is nothing where all is well, and where nothing is known yet', () => {
    expect(findingsOf(good)).toEqual([]);
    expect(levelOf([])).toBe('good');
    const groups = { accounts: null, quarantine: null, backup: null, queues: null, storage: null };
    expect(findingsOf({ ...good, ...groups })).toEqual([]);
  });

  it.each<[name: string, at: Changes, past: Changes, code: string, level: 'look' | 'act', subject: string]>([
    ['a slow disk', queue('commits', 1), queue('commits', 1.1), 'commits_late', 'look', ''],
    ['a disk at which vehicles wait', queue('commits', 5), queue('commits', 5.1), 'commits_late', 'act', ''],
    ['old notices', queue('deliveries', 900), queue('deliveries', 901), 'queue_old', 'look', 'deliveries'],
    [
      'very old notices',
      queue('deliveries', 7200),
      queue('deliveries', 7201),
      'queue_old',
      'act',
      'deliveries',
    ],
    ['occurrences', queue('occurrences', 900), queue('occurrences', 901), 'queue_old', 'look', 'occurrences'],
    ['a chain', queue('audit', 900), queue('audit', 901), 'queue_old', 'look', 'audit'],
    ['a late backup', goodBackup(lateAfterS), goodBackup(lateAfterS + 1), 'backup_late', 'look', ''],
    ['a very late one', goodBackup(3 * lateAfterS), goodBackup(3 * lateAfterS + 1), 'backup_late', 'act', ''],
    ['a small disk', free(5e9), free(5e9 - 1), 'disk_low', 'look', ''],
    ['a full disk', free(1e9), free(1e9 - 1), 'disk_low', 'act', ''],
    [
      'a long log',
      { storage: { walBytes: 2e9 } },
      { storage: { walBytes: 2e9 + 1 } },
      'wal_large',
      'look',
      '',
    ],
    ['late rules', behind(10_000), behind(10_001), 'notifier_behind', 'look', ''],
    ['very late rules', behind(100_000), behind(100_001), 'notifier_behind', 'act', ''],
    ['a certificate', ends(30), ends(29), 'certificate_ends', 'look', 'mqtt.tls'],
    ['one of days', ends(7), ends(6), 'certificate_ends', 'act', 'mqtt.tls'],
    [
      'unreadable payloads',
      { quarantine: { lastHour: 10 } },
      { quarantine: { lastHour: 11 } },
      'quarantine_grows',
      'look',
      '',
    ],
    [
      'a full account',
      { accounts: { listed: [account({ devices: 90, maximumDevices: 100 })] } },
      { accounts: { listed: [account({ devices: 91, maximumDevices: 100 })] } },
      'account_near_limit',
      'look',
      'acme',
    ],
    [
      'an account that ends',
      { accounts: { listed: [account({ expiresAtS: nowS + 14 * dayS })] } },
      { accounts: { listed: [account({ expiresAtS: nowS + 14 * dayS - 1 })] } },
      'account_ends',
      'look',
      'acme',
    ],
    [
      'wrong secrets',
      refused('refused_credentials', 100),
      refused('refused_credentials', 101),
      'wrong_secrets',
      'look',
      'refused_credentials',
    ],
    [
      'a vehicle that sends too much',
      { connections: { overLimit: [] } },
      { connections: { overLimit: [{ name: 'acme/truck-17', lastHour: 1, lastAtS: nowS }] } },
      'device_over_limit',
      'look',
      'acme/truck-17',
    ],
    ['takeovers', refused('takeover', 100), refused('takeover', 101), 'takeovers', 'look', 'takeover'],
    [
      'vehicles that are turned away',
      refused('refused_full', 0),
      refused('refused_full', 1),
      'devices_refused',
      'look',
      'refused_full',
    ],
    [
      'many of them now',
      refused('refused_full', 100),
      refused('refused_full', 101),
      'devices_refused',
      'act',
      'refused_full',
    ],
    [
      'work that no bridge does',
      { leases: [{ name: 'upkeep', holder: 'a', isOwn: false, silentS: 15 }] },
      { leases: [{ name: 'upkeep', holder: 'a', isOwn: false, silentS: 15.1 }] },
      'lease_silent',
      'look',
      'upkeep',
    ],
    [
      'figures of the past',
      { accounts: { atS: nowS - 120 } },
      { accounts: { atS: nowS - 121 } },
      'figures_old',
      'look',
      'accounts',
    ],
    [
      'figures of long ago',
      { storage: { atS: nowS - 600 } },
      { storage: { atS: nowS - 601 } },
      'figures_old',
      'act',
      'storage',
    ],
  ])('names %s past its limit, and not at it', (_name, ...[at, past, code, level, subject]) => {
    expect(briefly(at)).not.toContainEqual([code, level, subject]);
    expect(briefly(past)).toEqual([[code, level, subject]]);
  });

  it('has the value, the limit and their unit', () => {
    expect(judge(free(2e9))).toEqual([
      {
        code: 'disk_low',
        level: 'look',
        subject: '',
        value: 2e9,
        limit: findingLimits.freeBytes.look,
        unit: 'B',
      },
    ]);
    const full = judge({ accounts: { listed: [account({ devices: 480, maximumDevices: 500 })] } });
    expect(full).toMatchObject([{ value: 96, limit: 90, unit: '%' }]);
  });

  it('names a part that does not work, and errors by the most frequent', () => {
    expect(briefly({ service: { checks: [{ name: 'mqtt', fault: 'is stopping' }] } })).toEqual([
      ['not_ready', 'act', 'mqtt'],
    ]);
    const listed = [
      { name: 'rare', lastHour: 1, lastAtS: nowS, level: 'error' },
      { name: 'often', lastHour: 3, lastAtS: nowS, level: 'error' },
      { name: 'mild', lastHour: 9, lastAtS: nowS, level: 'warn' },
    ];
    expect(judge({ errors: { listed } })).toMatchObject([
      { code: 'errors_logged', subject: 'often', value: 4, unit: 'count' },
    ]);
    expect(judge({ errors: { listed: listed.slice(2) } })).toEqual([]);
  });

  it('calls a missing backup urgent once an account is older than a backup may be, and never without an account', () => {
    const none = { good: null };
    const since = (ageS: number) => ({ backup: none, accounts: { oldestAtS: nowS - ageS } });
    expect(briefly(since(lateAfterS))).toEqual([['backup_missing', 'look', '']]);
    expect(briefly(since(lateAfterS + 1))).toEqual([['backup_missing', 'act', '']]);
    expect(briefly({ backup: none, accounts: { oldestAtS: 0 } })).toEqual([]);
  });

  it('names a backup that failed until a good one follows, with its reason', () => {
    const failed = { atS: nowS - 3600, reason: 'the disk is full', isLast: true };
    expect(briefly({ backup: { failed } })).toEqual([['backup_failed', 'look', 'the disk is full']]);
    expect(briefly({ backup: { failed: { ...failed, isLast: false } } })).toEqual([]);
  });

  it('says nothing of backups of a server, but that its archiving fails', () => {
    const service = { database: 'postgres' };
    expect(briefly({ service, backup: { good: null } })).toEqual([]);
    const archive = { archivedAtS: nowS - 100, failedAtS: nowS - 50 };
    expect(briefly({ service, backup: { good: null, archive } })).toEqual([['archive_failing', 'look', '']]);
    expect(briefly({ service, backup: { good: null, archive: { ...archive, failedAtS: 0 } } })).toEqual([]);
  });

  it('is no alarm for the accounts themselves: their commands, cuts and alarms may wait', () => {
    for (const name of ['commands', 'approvals', 'alarms'] as const)
      expect(briefly(queue(name, 1e9))).toEqual([]);
  });

  it('needs no act for refusals that are over, nor for accounts that are suspended', () => {
    expect(briefly(refused('refused_rate', 5000, 301))).toEqual([
      ['devices_refused', 'look', 'refused_rate'],
    ]);
    const suspended = account({ state: 'suspended', devices: 100, maximumDevices: 100 });
    expect(briefly({ accounts: { listed: [suspended] } })).toEqual([]);
  });

  it('names what needs an act first', () => {
    const found = judge({ ...free(1), queues: { listed: [{ name: 'commits', waiting: 1, oldestS: 2 }] } });
    expect(found.map(({ code }) => code)).toEqual(['disk_low', 'commits_late']);
    expect(levelOf(found)).toBe('act');
    expect(levelOf(found.slice(1))).toBe('look');
  });
});

describe('counts of the last hour', () => {
  it('are those of any hour of random histories, at most a minute short', () => {
    const steps = fc.array(
      fc.record({ ms: fc.integer({ min: 0, max: 600_000 }), name: fc.constantFrom('a', 'b') }),
    );
    fc.assert(
      fc.property(steps, (history) => {
        const clock = createBenchClock();
        const counts = createHourCounts(clock);
        const at: { readonly name: string; readonly ms: number }[] = [];
        for (const { ms, name } of history) {
          clock.advance(ms);
          counts.add(name);
          at.push({ name, ms: clock.monoMs() });
        }
        for (const name of ['a', 'b']) {
          const within = (spanMs: number) =>
            at.filter((one) => one.name === name && clock.monoMs() - one.ms < spanMs).length;
          const found = counts.list().find((one) => one.name === name)?.lastHour ?? 0;
          expect(found).toBeLessThanOrEqual(within(3_600_000));
          expect(found).toBeGreaterThanOrEqual(within(3_540_000));
        }
      }),
    );
  });

  it('forget what is older than an hour, also when nothing happened since', () => {
    const clock = createBenchClock();
    const counts = createHourCounts(clock);
    counts.add('a');
    clock.advance(3_660_000);
    expect(counts.list()).toEqual([]);
  });

  it('stay few: kinds beyond the most are counted as one', () => {
    const counts = createHourCounts(createBenchClock());
    for (let at = 0; at < 1000; at++) counts.add(`kind ${at}`);
    const listed = counts.list();
    expect(listed.length).toBeLessThanOrEqual(301);
    expect(listed.reduce((sum, { lastHour }) => sum + lastHour, 0)).toBe(1000);
    expect(listed[0]?.name).toBe(otherKind);
  });
});

describe('the page of the operator', () => {
  const view = { queues: null } as never;
  const start = { monoMs: 0, wallMs: 1000 };
  const shown = withStatus(view, start);

  it('calls what it shows old after a time without an answer, and at once when one fails', () => {
    expect(isOld(firstOperatorState, start)).toBe(false);
    expect(isOld(shown, { monoMs: oldAfterMs, wallMs: 1000 + oldAfterMs })).toBe(false);
    expect(isOld(shown, { monoMs: oldAfterMs + 1, wallMs: 1001 + oldAfterMs })).toBe(true);
    const failed = withOperatorFault(shown, 'unreachable');
    expect(isOld(failed, start)).toBe(true);
    expect(failed.view).toBe(view);
    expect(isOld(withStatus(view, start), start)).toBe(false);
  });

  it('takes no value for younger because the computer slept or its clock was set', () => {
    const hourMs = 3_600_000;
    // The steady clock stood still in sleep; the wall clock was set back.
    expect(ageOfView(shown, { monoMs: 5, wallMs: 1000 + hourMs })).toBe(hourMs);
    expect(ageOfView(shown, { monoMs: hourMs, wallMs: -hourMs })).toBe(hourMs);
    expect(isOld(shown, { monoMs: 5, wallMs: 1000 + hourMs })).toBe(true);
  });

  it('keeps nothing of what it read once its token is refused', () => {
    expect(withOperatorFault(shown, 'unauthorized')).toEqual({
      view: null,
      asked: null,
      fault: 'unauthorized',
    });
  });

  it('names what waits longest', () => {
    const listed = [
      { name: 'commits', waiting: 0, oldestS: 99 },
      { name: 'audit', waiting: 1, oldestS: 3 },
      { name: 'alarms', waiting: 2, oldestS: 8 },
    ];
    expect(oldestOf({ queues: { atS: 0, listed } } as never)?.name).toBe('alarms');
    expect(oldestOf({ queues: { atS: 0, listed: listed.slice(0, 1) } } as never)).toBeNull();
  });

  it('has all of its texts in five languages, none left in English', () => {
    const flat = (texts: object, path = ''): readonly [string, string][] =>
      Object.entries(texts).flatMap(([name, value]: [string, unknown]) => {
        const at = `${path}/${name}`;
        if (typeof value === 'string') return [[at, value] as [string, string]];
        if (typeof value === 'function')
          return [[at, (value as (a: unknown) => string)(sevens)] as [string, string]];
        return flat(value as object, at);
      });
    const reference = new Map(flat(english));
    for (const texts of [german, french, spanish, arabic]) {
      const own = new Map(flat(texts));
      expect([...own.keys()].toSorted()).toEqual([...reference.keys()].toSorted());
      const same = [...own].filter(([at, text]) => reference.get(at) === text && text.split(' ').length > 2);
      expect(same).toEqual([]);
    }
    expect(arabic.locale).toBe(ar.locale);
  });
});
