// The supplier's signed list of advisories: what a unit and an operator are shown of it, and that no such file stops a program.
import { generateKeyPairSync } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { adviceOn } from '../../agent/core/status/release-advice.ts';
import { findingsOf } from '../../broker/core/operating/findings.ts';
import { advisoryFacts } from '../../broker/core/operating/known-advisories.ts';
import type { ServiceFacts } from '../../broker/core/operating/service-facts.ts';
import { readAdvisories } from '../../src/adapters/advisory-file.ts';
import { createSigner } from '../../src/adapters/signing.ts';
import {
  type AdvisoryList,
  advisoriesFor,
  advisoriesType,
  advisoryLimits,
  parseAdvisories,
  supportedUntil,
} from '../../src/core/releases/advisories.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

type Events = readonly { readonly introduced?: string; readonly fixed?: string }[];
/** A record as OSV tools write it, with members that nothing here reads. */
const record = (id: string, severity: string, program: string, ...ranges: readonly Events[]) => ({
  schema_version: '1.7.0',
  id,
  modified: '2026-11-29T00:00:00Z',
  summary: `Summary of ${id}`,
  affected: [
    {
      package: { ecosystem: 'Debian', name: program },
      ranges: ranges.map((events) => ({ type: 'SEMVER', events })),
    },
  ],
  references: [{ type: 'ADVISORY', url: `https://example.com/${id}` }],
  database_specific: { severity, action: 'Install 0.2.1.' },
});
const agent = 'fleetward-agent';
const broker = 'fleetward-broker';
const document = {
  format: 1,
  support: [
    { program: agent, from: '0.3.0', until: '2032-12-31' },
    { program: agent, from: '0.2.0', until: '2031-12-31' },
    { program: broker, from: '0.2.0', until: '2031-06-30' },
  ],
  advisories: [
    record('FW-1', 'medium', agent, [{ introduced: '0' }, { fixed: '0.2.1' }]),
    record(
      'FW-2',
      'critical',
      agent,
      [{ fixed: '0.1.5' }, { introduced: '0.1.0' }],
      [{ introduced: '0.2.0' }],
    ),
    record('FW-3', 'high', broker, [{ introduced: '0.1.0' }, { fixed: '0.3.0' }]),
  ],
};
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
function listOf(value: unknown): AdvisoryList {
  const verdict = parseAdvisories(bytesOf(value));
  if (verdict.kind === 'bad') throw new Error(verdict.reason);
  return verdict.list;
}
const reasonOf = (value: unknown): string => {
  const verdict = parseAdvisories(bytesOf(value));
  return verdict.kind === 'bad' ? verdict.reason : 'good';
};
const idsFor = (version: string): readonly string[] =>
  advisoriesFor(listOf(document), agent, version).map(({ id }) => id);

describe('an advisory', () => {
  it.each([
    ['0.0.9', ['FW-1']],
    ['0.1.0', ['FW-2', 'FW-1']],
    ['0.1.5', ['FW-1']],
    ['0.2.0', ['FW-2', 'FW-1']],
    ['0.2.1-rc.1', ['FW-2', 'FW-1']],
    ['0.2.1', ['FW-2']],
  ])('concerns the versions of its ranges, the worst first: %s', (version, ids) => {
    expect(idsFor(version)).toEqual(ids);
  });

  it('of a range that another one overlaps is decided by each range alone', () => {
    const overlap = [
      [{ introduced: '0' }, { fixed: '0.5.0' }],
      [{ introduced: '0.4.0' }, { fixed: '0.9.0' }],
    ];
    const list = listOf({ ...document, advisories: [record('FW-4', 'low', agent, ...overlap)] });
    expect(advisoriesFor(list, agent, '0.7.0')).toHaveLength(1);
    expect(advisoriesFor(list, agent, '0.9.0')).toHaveLength(0);
  });

  it('leaves the end of support to the newest entry at or below a version, and unknown without one', () => {
    const list = listOf(document);
    expect(['0.1.9', '0.2.0', '0.2.9', '0.3.1'].map((one) => supportedUntil(list, agent, one))).toEqual([
      null,
      '2031-12-31',
      '2031-12-31',
      '2032-12-31',
    ]);
  });
});

describe('a list of advisories', () => {
  it.each<[string, object, RegExp]>([
    ['of a future format', { format: 2 }, /format is 2, this program reads 1: update/],
    ['without a format', { format: undefined }, /format is undefined/],
    [
      'with too many records',
      { advisories: Array.from({ length: 501 }, () => ({})) },
      /^advisories: not a list of at most 500/,
    ],
    [
      'with a day that is none',
      { support: [{ program: agent, from: '0.2.0', until: '2031' }] },
      /support\/0\/until/,
    ],
    [
      'with a severity of its own',
      { advisories: [record('FW', 'dire', agent)] },
      /advisories\/0\/database_specific\/severity/,
    ],
    [
      'with a range that begins nowhere',
      { advisories: [record('FW', 'low', agent, [{ fixed: '1.0.0' }])] },
      /ranges\/0\/events/,
    ],
    [
      'with a version that is none',
      { advisories: [record('FW', 'low', agent, [{ introduced: 'x' }])] },
      /events\/0/,
    ],
    [
      'with text that steers a terminal',
      { advisories: [{ ...record('FW', 'low', agent), summary: 'a\u001b[2J' }] },
      /advisories\/0\/summary/,
    ],
    [
      'with an address that is not encrypted',
      { advisories: [{ ...record('FW', 'low', agent), references: [{ url: 'http://example.com' }] }] },
      /references\/0\/url/,
    ],
  ])('%s is refused with the place', (_, change, reason) => {
    expect(reasonOf({ ...document, ...change })).toMatch(reason);
  });

  it('gives a verdict on any JSON and any bytes', () => {
    const verdict = (bytes: Uint8Array): string => parseAdvisories(bytes).kind;
    fc.assert(fc.property(fc.json(), (text) => verdict(Buffer.from(text)) === 'bad'));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => verdict(bytes) === 'bad'));
    const member = fc.constantFrom('format', 'support', 'advisories');
    fc.assert(
      fc.property(member, fc.jsonValue(), (name, value) => {
        expect(['good', 'bad']).toContain(verdict(bytesOf({ ...document, [name]: value })));
      }),
    );
  });
});

describe('the file of advisories', () => {
  const folder = temporaryFolder('advisories');
  const at = (name: string): string => join(folder, name);
  const pairs = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')] as const;
  const pemOf = (no: 0 | 1): string =>
    pairs[no].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const sign = (value: unknown, no: 0 | 1 = 0, type = advisoriesType): string =>
    createSigner(pemOf(no)).sign(bytesOf(value), type);
  const read = (text: string) => {
    writeFileSync(at('list.jws'), text);
    return readAdvisories(at('list.jws'), at('release.pub'));
  };
  beforeAll(() =>
    writeFileSync(at('release.pub'), pairs[0].publicKey.export({ type: 'spki', format: 'pem' })),
  );

  it('counts with the signature of the release key, also behind a link', () => {
    expect(read(`${sign(document)}\n`)).toMatchObject({ kind: 'good' });
    symlinkSync('list.jws', at('link.jws'));
    expect(readAdvisories(at('link.jws'), at('release.pub'))).toMatchObject({ kind: 'good' });
  });

  it('does not count with another key, another type of message or a changed byte', () => {
    const signed = sign(document);
    const middle = signed.indexOf('.') + 40;
    const changed = signed.slice(0, middle) + (signed[middle] === 'A' ? 'B' : 'A') + signed.slice(middle + 1);
    for (const text of [
      sign(document, 1),
      sign(document, 0, 'fleetward-command'),
      changed,
      JSON.stringify(document),
      '',
    ])
      expect(read(text)).toEqual({
        kind: 'bad',
        reason: `it is not signed by the key in ${at('release.pub')}`,
      });
  });

  it('that is too large, no plain file, without a key or with a wrong one is a fault, and none is no fault', () => {
    expect(readAdvisories(at('none.jws'), at('release.pub'))).toBeNull();
    expect(read('x'.repeat(2 * advisoryLimits.bytes))).toMatchObject({
      reason: expect.stringContaining('is larger than'),
    });
    expect(readAdvisories(folder, at('release.pub'))).toMatchObject({
      reason: expect.stringContaining('not a plain file'),
    });
    expect(readAdvisories(at('list.jws'), at('none.pub'))).toMatchObject({
      reason: expect.stringContaining('no key in'),
    });
    writeFileSync(at('wrong.pub'), 'no key');
    expect(readAdvisories(at('list.jws'), at('wrong.pub'))).toMatchObject({ kind: 'bad' });
  });

  it('holds as many records as it may', () => {
    const records = Array.from({ length: 400 }, (_, no) =>
      record(`FW-${no}`, 'low', agent, [{ introduced: '0' }]),
    );
    expect(read(sign({ ...document, advisories: records }))).toMatchObject({ kind: 'good' });
  });
});

describe('the status of a unit', () => {
  const nowMs = Date.parse('2026-11-29');
  const verdict = { kind: 'good', list: listOf(document) } as const;
  const wordsOf = (version: string, when = nowMs) =>
    adviceOn(version, verdict, when).lines.map(({ level, words }) => `${level}: ${words}`);

  it('names the end of its support and the advisories of the release that runs', () => {
    expect(wordsOf('0.2.1')).toEqual([
      'ok: security updates until 2031-12-31',
      'note: FW-2 (critical): Summary of FW-2',
    ]);
    expect(adviceOn('0.2.1', verdict, nowMs).lines[1]?.todo).toBe('Install 0.2.1. https://example.com/FW-2');
    expect(wordsOf('0.3.0', Date.parse('2033-01-01'))[0]).toBe('note: security updates ended on 2032-12-31');
    expect(wordsOf('0.3.0', Date.parse('2032-12-31T23:00:00Z'))[0]).toBe(
      'ok: security updates until 2032-12-31',
    );
  });

  it('says that nothing is known without a list and with one that does not count, and is never a fault', () => {
    const bad = { kind: 'bad', reason: 'it is not signed by the key' } as const;
    const lines = [adviceOn('0.2.0', null, nowMs), adviceOn('0.2.0', bad, nowMs)].flatMap((one) => one.lines);
    expect(lines.map(({ level, words }) => [level, words])).toEqual([
      ['note', 'not known: there is no list of the supplier'],
      ['note', 'not known: the list of the supplier is not used: it is not signed by the key'],
    ]);
  });
});

describe('the operator', () => {
  const nowS = Date.parse('2026-11-29') / 1000;
  const fleet = [
    { version: '0.2.0', units: 7 },
    { version: '0.2.1', units: 5 },
  ];
  const quiet = {
    timestamp: nowS,
    service: { checks: [] },
    queues: null,
    errors: { listed: [] },
    backup: null,
    storage: null,
    accounts: null,
    quarantine: null,
    bridges: null,
    leases: [],
    certificates: [],
    connections: { refused: [], overLimit: [] },
  };
  const found = (advisories: ReturnType<typeof advisoryFacts>) =>
    findingsOf({ ...quiet, advisories: { ...advisories, atS: nowS } } as unknown as ServiceFacts);

  it('sees which advisories concern the service, and how many units each concerns', () => {
    const facts = advisoryFacts({ kind: 'good', list: listOf(document) }, '0.2.0', fleet);
    expect(facts.listed.map(({ id, isOfService, units }) => [id, isOfService, units])).toEqual([
      ['FW-1', false, 7],
      ['FW-2', false, 12],
      ['FW-3', true, 0],
    ]);
    expect(
      found(facts).map(({ code, level, subject, value }) => [code, level, subject.slice(0, 22), value]),
    ).toEqual([
      ['advisory', 'act', 'FW-2, Summary of FW-2,', 12],
      ['advisory', 'act', 'fleetward-broker, FW-3', 0],
      ['advisory', 'look', 'FW-1, Summary of FW-1,', 7],
    ]);
  });

  it('is warned half a year before the earliest end of support, and of a list that does not count', () => {
    const facts = advisoryFacts(
      { kind: 'good', list: listOf({ ...document, advisories: [] }) },
      '0.2.0',
      fleet,
    );
    expect(found(facts)).toEqual([]);
    const later = { ...facts, serviceUntilAtS: nowS + 100 * 86_400, unitsUntilAtS: nowS - 86_400 };
    expect(found(later).map(({ code, level, subject }) => [code, level, subject])).toEqual([
      ['support_ends', 'act', agent],
      ['support_ends', 'look', broker],
    ]);
    expect(found(advisoryFacts(null, '0.2.0', fleet))).toMatchObject([
      { code: 'advisories_unread', level: 'look' },
    ]);
  });

  it('does not see an end of support where one release has none', () => {
    const facts = advisoryFacts({ kind: 'good', list: listOf(document) }, '0.1.0', [
      ...fleet,
      { version: '0.1.0', units: 1 },
    ]);
    expect([facts.serviceUntilAtS, facts.unitsUntilAtS]).toEqual([0, 0]);
  });
});
