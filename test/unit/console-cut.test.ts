// The pure part of the cut in the console: the address, the reason, the course by the ledger, and the evidence in rows.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Approval, CommandRecord, Finding, Verdict } from '../../broker/console/api/operations.ts';
import { unmetText } from '../../broker/console/screens/cut/verdict-words.ts';
import { evidenceOf, evidenceRows, metOf, unmetOf } from '../../broker/console/state/evidence.ts';
import { vehicleOf } from '../../broker/console/state/fleet-messages.ts';
import {
  aftermathOf,
  courseOf,
  courseOfRequest,
  inOrder,
  type Step,
} from '../../broker/console/state/orders/cut-course.ts';
import {
  canWithdraw,
  cutStateOf,
  cutText,
  noteMost,
  orderIn,
  parseCut,
  toneOf,
} from '../../broker/console/state/orders/cut-view.ts';
import { cutWords } from '../../build/words/cut.ts';
import { mainTexts as en } from '../../build/words/main/en.ts';
import type { FeatureName } from '../../src/core/events/event.ts';
import { commandStates, featureNames } from '../../src/core/events/event.ts';
import type { FleetPending } from '../../src/core/events/fleet-row.ts';
import { orderReasons, parseReason, reasonText } from '../../src/core/reports/order-reason.ts';
import { ruleNames } from '../../src/core/verdict/verdict.ts';
import { fleetRow, pendingChange, rowAlone } from '../support/http/fleet-row.ts';

const record = (change: Partial<CommandRecord>): CommandRecord => ({
  commandID: 'c1',
  deviceID: 'van-01',
  feature: 'enginecutoff',
  state: '1',
  pendingState: '1',
  commandState: 'armed',
  expires: 2000,
  approvalID: '',
  verdict: null,
  detail: '',
  hint: null,
  reason: 'stolen',
  issuer: 'olga',
  approver: '',
  cancelledBy: '',
  hasEnded: false,
  issued: 1000,
  updated: 1010,
  reported: 1009,
  status_code: '200',
  success: '1',
  ...change,
});

const request = (change: Partial<Approval>): Approval => ({
  approvalID: 'a1',
  deviceID: 'van-01',
  feature: 'enginecutoff',
  state: '1',
  approvalState: 'pending',
  reason: 'stolen',
  requestedBy: 'olga',
  requested: 1000,
  expires: 1900,
  decidedBy: '',
  decided: 0,
  decidedReason: '',
  commandID: '',
  endCause: '',
  secondUser: '',
  signing: null,
  signOptions: null,
  ...change,
});

const finding = (rule: string, isMet: boolean, value: Finding['value'] = null): Finding => ({
  rule,
  isMet,
  value,
  needed: null,
  sinceMs: null,
});
const verdict = (...rules: Finding[]): Verdict => ({
  code: rules.find(({ isMet }) => !isMet)?.rule ?? 'allowed',
  rules,
  at: 1005,
});

describe('the address of a cut', () => {
  it('names the form, a command or a request, and nothing else', () => {
    expect(parseCut('ask')).toEqual({ kind: 'ask' });
    expect(parseCut(cutText('command', 'ab12'))).toEqual({ kind: 'command', id: 'ab12' });
    expect(parseCut(cutText('request', 'ab12'))).toEqual({ kind: 'request', id: 'ab12' });
    for (const text of [
      undefined,
      '',
      'Ask',
      'command-',
      'command-../x',
      'firmware-ab',
      `command-${'a'.repeat(65)}`,
    ])
      expect(parseCut(text)).toBe(null);
  });
});

describe('what stands of an order that has ended', () => {
  const ended = (change: Partial<CommandRecord>) =>
    record({ commandState: 'confirmed', hasEnded: true, ...change });
  const cut = ended({});
  const back = (change: Partial<CommandRecord>) =>
    ended({ commandID: 'r1', state: '0', issuer: 'otto', issued: 1100, updated: 1105, ...change });
  it.each<[title: string, of: CommandRecord, later: CommandRecord[], read: string | null, shown: object]>([
    ['holds while the relay reads open', cut, [], '1', { kind: 'holds' }],
    [
      'holds in the moment before the list of devices has it',
      ended({ updated: 1998 }),
      [],
      '0',
      { kind: 'holds' },
    ],
    ['of a restore by another user', cut, [back({})], '0', { kind: 'undone', by: 'otto', at: 1105 }],
    [
      'of a restore whose relay is not in the list yet',
      cut,
      [back({ updated: 1999 })],
      '1',
      { kind: 'undone', by: 'otto' },
    ],
    ['of a restore of a unit that reports no relay', cut, [back({})], null, { kind: 'undone', by: 'otto' }],
    ['of a service code: the relay alone says it', cut, [], '0', { kind: 'undone', by: '', at: null }],
    [
      'of a restore that waits',
      cut,
      [back({ commandState: 'sent', hasEnded: false })],
      '1',
      { kind: 'undoing', by: 'otto', at: 1100 },
    ],
    ['of a restore that ran out', cut, [back({ commandState: 'expired' })], '1', { kind: 'holds' }],
    [
      'of a cut after the restore',
      cut,
      [ended({ commandID: 'c2', issued: 1200, updated: 1205 }), back({})],
      '1',
      { kind: 'replaced', at: 1205 },
    ],
    ['of a relay that opened by itself after the restore', cut, [back({})], '1', { kind: 'replaced' }],
    [
      'of one that was withdrawn before it was carried out',
      ended({ commandState: 'cancelled' }),
      [],
      '0',
      { kind: 'holds' },
    ],
    [
      'of one that expired, and another was carried out',
      ended({ commandState: 'expired' }),
      [ended({ commandID: 'c2', issued: 1200 })],
      '1',
      { kind: 'replaced' },
    ],
    [
      'of an unknown outcome with an open relay',
      ended({ commandState: 'unknown' }),
      [],
      '1',
      { kind: 'holds' },
    ],
    [
      'of a lock of the cargo: it says nothing of the engine',
      cut,
      [back({ feature: 'cargoaccess' })],
      '1',
      { kind: 'holds' },
    ],
  ])('%s', (...[, of, later, read, shown]) => {
    for (const listed of [[...later, of], later])
      expect(aftermathOf(of, listed, { read, nowS: 2000 })).toMatchObject(shown);
  });
});

describe('the screen that an address opens', () => {
  it('is of one relay, and a cut goes first', () => {
    expect(orderIn({ unlock: 'ask' })).toEqual({ relay: 'cargoaccess', target: { kind: 'ask' } });
    expect(orderIn({ cut: 'command-a1', unlock: 'ask' })).toEqual({
      relay: 'enginecutoff',
      target: { kind: 'command', id: 'a1' },
    });
    expect(orderIn({ cut: 'x', unlock: 'command-b2' })).toMatchObject({ relay: 'cargoaccess' });
    expect(orderIn({})).toBe(null);
  });
});

describe('the reason of an order', () => {
  it('comes back from the ledger as it was given, and fits what the service takes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...featureNames),
        fc.nat(),
        fc.string({ maxLength: noteMost }),
        (relay, at, note) => {
          const reasons = orderReasons[relay];
          const reason = reasons[at % reasons.length] ?? 'other';
          const text = reasonText(reason, note);
          expect(text.length).toBeLessThanOrEqual(200);
          expect(parseReason(text, relay)).toEqual({ reason, note: note.trim() });
        },
      ),
    );
  });

  it('of another client stands as it is', () => {
    expect(parseReason('Gestohlen: Halle 3', 'enginecutoff')).toEqual({
      reason: null,
      note: 'Gestohlen: Halle 3',
    });
    expect(parseReason('constructor: x', 'cargoaccess')).toEqual({ reason: null, note: 'constructor: x' });
  });

  it('of a cut is none of an unlock', () => {
    expect(parseReason('stolen: report 22', 'cargoaccess')).toEqual({
      reason: null,
      note: 'stolen: report 22',
    });
    expect(parseReason('delivery', 'enginecutoff').reason).toBe(null);
  });
});

describe('the number of conditions that are met', () => {
  it('is that of the rows of the table, and not of the rules behind them', () => {
    const rules = [
      finding('ignition_off', true),
      finding('ignition_off_s', true),
      finding('speed_kmh', true),
      finding('standstill', false),
      finding('standstill_s', false),
      finding('time_known', true),
      finding('board_alive', true),
      finding('relay_follows', true),
    ];
    for (const relay of featureNames)
      for (const judged of [
        verdict(...rules),
        verdict(...rules.slice(2)),
        verdict(),
        verdict(finding('rule_of_2030', false)),
      ]) {
        const rows = evidenceOf(judged, relay);
        expect(metOf(judged, relay)).toEqual({
          met: rows.filter(({ result }) => result === 'met').length,
          all: rows.length,
        });
      }
    expect(metOf(verdict(...rules), 'enginecutoff')).toEqual({ met: 3, all: 7 });
  });
});

describe('the course of a cut', () => {
  it('says confirmed for the state confirmed only, whatever the vehicle reported before', () => {
    for (const commandState of [...commandStates, 'invented']) {
      const steps = courseOf(
        record({ commandState }),
        null,
        new Map([['confirmed', { ownAt: 1008, at: 1009 }]]),
      );
      const isSaid = steps.some(({ name, kind }) => name === 'confirmed' && kind !== 'later');
      expect([commandState, isSaid]).toEqual([commandState, commandState === 'confirmed']);
      expect(toneOf(cutStateOf(commandState)) === 'ok').toBe(commandState === 'confirmed');
    }
  });

  it('claims no state that the vehicle did not report', () => {
    const names = courseOf(record({ commandState: 'confirmed', hasEnded: true }), null, new Map()).map(
      ({ name }) => name,
    );
    expect(names).toEqual(['asked', 'sent', 'confirmed']);
  });

  it('does not say sent while the command waits for the link', () => {
    const steps = courseOf(record({ commandState: 'requested' }), null, new Map());
    expect(steps.find(({ name }) => name === 'sent')?.kind).toBe('later');
    expect(steps.find(({ kind }) => kind === 'now')?.name).toBe('queued');
  });

  it('names the second person and has the times of both decisions', () => {
    const decided = request({ approvalState: 'approved', decidedBy: 'otto', decided: 1050, commandID: 'c1' });
    const [asked, approved] = courseOf(
      record({ approver: 'otto', issued: 1050, updated: 1060 }),
      decided,
      new Map(),
    );
    expect(asked).toMatchObject({ name: 'asked', by: 'olga', at: 1000 });
    expect(approved).toMatchObject({ name: 'approved', by: 'otto', at: 1050 });
  });

  const times = (steps: readonly Step[]) => steps.flatMap(({ at }) => (at === null ? [] : [at]));
  const reportsOf = (...of: [string, number, number][]) =>
    new Map(of.map(([name, ownAt, at]) => [name, { ownAt, at }]));

  it.each<
    [title: string, reports: Parameters<typeof reportsOf>, change: Partial<CommandRecord>, shown: object]
  >([
    // Asked 08:24:29, received :28 by the clock of the vehicle.
    [
      'a vehicle whose clock is behind',
      [
        ['received', 999, 1001],
        ['armed', 1000, 1002],
      ],
      {},
      {
        times: [1000, 1001, 1002],
        own: [null, null, 999, 1000],
      },
    ],
    [
      'a vehicle whose clock is an hour ahead',
      [['received', 4601, 1001]],
      { commandState: 'confirmed', updated: 1005, hasEnded: true },
      {
        times: [1000, 1001, 1005],
        own: [null, null, 4601, null],
      },
    ],
    [
      'clocks that agree to the second',
      [
        ['received', 1000, 1001],
        ['armed', 1002, 1002],
      ],
      {},
      {
        times: [1000, 1001, 1002],
        own: [null, null, null, null],
      },
    ],
    [
      'a report that was stored after a later one',
      [
        ['received', 1001, 5000],
        ['executing', 1003, 1004],
      ],
      { commandState: 'confirmed', updated: 1005, hasEnded: true },
      {
        times: [1000, 1004, 1004, 1005],
        own: [null, null, 1001, null, null],
      },
    ],
    [
      'a clock of the service that was set back',
      [
        ['received', 990, 990],
        ['armed', 991, 991],
      ],
      {},
      {
        times: [1000, 1000, 1000],
        own: [null, null, null, null],
      },
    ],
  ])('has times of one clock that never run backwards, of %s', (_title, reports, change, shown) => {
    const steps = courseOf(record(change), null, reportsOf(...reports)).filter(
      ({ kind }) => kind !== 'later',
    );
    expect({ times: times(steps), own: steps.map(({ ownAt }) => ownAt) }).toEqual(shown);
  });

  it('never runs backwards, whatever clocks say', () => {
    const time = fc.integer({ min: 0, max: 3000 });
    fc.assert(
      fc.property(fc.array(fc.option(time)), (all) => {
        const shown = inOrder(all);
        const known = shown.flatMap((at) => (at === null ? [] : [at]));
        expect(known).toEqual(known.toSorted((one, other) => one - other));
        expect(shown.map((at) => at === null)).toEqual(all.map((at) => at === null));
      }),
    );
  });

  it('of a request ends with the person who ended it', () => {
    expect(courseOfRequest(request({})).at(1)).toMatchObject({ name: 'waits', kind: 'now' });
    const refused = request({ approvalState: 'refused', decidedBy: 'otto', decided: 1050 });
    expect(courseOfRequest(refused).at(-1)).toEqual({
      name: 'refused',
      kind: 'bad',
      at: 1050,
      ownAt: null,
      by: 'otto',
    });
    const expired = courseOfRequest(request({ approvalState: 'expired' }));
    expect(expired.at(-1)).toEqual({ name: 'expired', kind: 'bad', at: 1900, ownAt: null, by: '' });
  });

  it('can be withdrawn until the relay moves, and once', () => {
    const may = (change: Partial<CommandRecord>) => canWithdraw(record(change));
    expect(['requested', 'sent', 'received', 'armed'].every((commandState) => may({ commandState }))).toBe(
      true,
    );
    expect(may({ commandState: 'executing' })).toBe(false);
    expect(may({ commandState: 'unknown' })).toBe(false);
    expect(may({ commandState: 'confirmed', hasEnded: true })).toBe(false);
    expect(may({ cancelledBy: 'olga' })).toBe(false);
  });
});

describe('the evidence of the interlock', () => {
  it('leaves out no rule, and shows a row as proven only when all of its rules are met', () => {
    const anyRule = fc.constantFrom(...ruleNames, 'rule_of_a_newer_vehicle');
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(anyRule, fc.boolean()), { selector: ([rule]) => rule }),
        (rules) => {
          const judged = verdict(...rules.map(([rule, isMet]) => finding(rule, isMet)));
          for (const relay of featureNames) {
            const rows = evidenceOf(judged, relay);
            expect(rows.flatMap(({ findings }) => findings)).toHaveLength(rules.length);
            for (const { result, findings } of rows)
              if (findings.some(({ isMet }) => !isMet)) expect(result).toBe('unmet');
          }
        },
      ),
    );
  });

  it('has a sentence for every rule of the vehicle', async () => {
    const texts = { ...en, ...(await cutWords.en()) };
    for (const rule of ruleNames)
      expect(unmetText(finding(rule, false, null), texts), rule).not.toBe(texts.order.rules.other({ rule }));
  });

  it('shows the key for a cut always, and for the cargo only where the vehicle judged it', () => {
    const judged = verdict(finding('standstill', true, 'gnss'));
    const rows = (relay: (typeof featureNames)[number]) => evidenceOf(judged, relay).map(({ row }) => row);
    expect(rows('enginecutoff')).toContain('ignition');
    expect(rows('cargoaccess')).not.toContain('ignition');
    expect(evidenceOf(verdict(finding('ignition_off', false, 'on')), 'cargoaccess')[0]).toMatchObject({
      row: 'ignition',
      result: 'unmet',
    });
  });

  it('stands in the same rows before the vehicle has judged, all unknown', () => {
    const rows = evidenceOf(null, 'cargoaccess');
    expect(rows.map(({ row }) => row)).toEqual(evidenceRows.filter((row) => row !== 'other'));
    expect(rows.every(({ result }) => result === 'unknown')).toBe(true);
  });

  it('trusts a position only where it proved standstill', () => {
    const result = (...rules: Finding[]) =>
      evidenceOf(verdict(...rules), 'enginecutoff').find(({ row }) => row === 'position')?.result;
    expect(result(finding('standstill', true, 'gnss'))).toBe('met');
    expect(result(finding('standstill', true, 'motion'))).toBe('unknown');
    expect(result(finding('standstill', false, 'gnss'))).toBe('unknown');
    expect(result(finding('position_trusted_s', false, 4))).toBe('unmet');
  });

  it('names the rule of the verdict first, and the speed in place of "it moves"', () => {
    const judged = verdict(
      finding('ignition_off', false, 'on'),
      finding('speed_kmh', false, 54),
      finding('standstill', false, 'moving'),
    );
    expect(unmetOf({ ...judged, code: 'speed_kmh' }).map(({ rule }) => rule)).toEqual([
      'speed_kmh',
      'ignition_off',
    ]);
  });
});

describe('what is under way for a vehicle', () => {
  const marks = (change: Partial<FleetPending>, feature: FeatureName = 'enginecutoff') => {
    const pending = [pendingChange({ ...change, feature })];
    const vehicle = vehicleOf(fleetRow({ pending }), rowAlone);
    const { pendingCut, ownCut, pendingUnlock, ownUnlock, orders } = vehicle;
    return [{ pendingCut, ownCut, pendingUnlock, ownUnlock }, orders];
  };
  const nothing = { pendingCut: null, ownCut: null, pendingUnlock: null, ownUnlock: null };

  it('is a cut that a person asked for, also while it waits for a second one', () => {
    expect(marks({ commandID: 'c1', commandState: 'sent' })).toEqual([
      { ...nothing, pendingCut: 'sent' },
      [{ asked: 'cut', state: 'sent' }],
    ]);
    expect(marks({ approvalID: 'a1', commandState: 'approval' })).toMatchObject([
      { pendingCut: 'approval' },
      {},
    ]);
  });

  it('is a cut or an unlock of its own, which hinders no command', () => {
    expect(marks({})).toEqual([{ ...nothing, ownCut: 'armed' }, [{ asked: 'cut', state: 'armed' }]]);
    expect(marks({}, 'cargoaccess')).toEqual([
      { ...nothing, ownUnlock: 'armed' },
      [{ asked: 'unlock', state: 'armed' }],
    ]);
  });

  it('is no cut while it is a restore', () => {
    expect(marks({ state: '0', commandID: 'c1' })).toEqual([nothing, [{ asked: 'restore', state: 'armed' }]]);
  });
});
