// Which of three clocks is wrong: one decision, so that no advice sets a clock that is right.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ClockFinding,
  type ClockReadings,
  clockText,
  judgeClocks,
} from '../../agent/core/clock-verdict.ts';

const dayMs = 86_400_000;
const rollMs = 1024 * 7 * dayMs;
const nowMs = Date.UTC(2026, 10, 28);
const limits = { earliestMs: Date.UTC(2026, 9, 1), brokerMs: 5000, receiverMs: 6000 };

/** Differences to the true time, ms; null: not known. */
type Apart = readonly [machine: number | null, broker: number | null, receiver: number | null];

function judge([machine, broker, receiver]: Apart): readonly ClockFinding[] {
  const at = (byMs: number | null): number | null => (byMs === null ? null : nowMs + byMs);
  const readings: ClockReadings = { machineMs: at(machine), brokerMs: at(broker), receiverMs: at(receiver) };
  return judgeClocks(readings, limits);
}

const machineAndBroker = { kind: 'agree', clocks: ['machine', 'broker'] } as const;
const rolled = (weeks: number) => ({ kind: 'receiver_rolled_over', weeks }) as const;

const cases: readonly (readonly [title: string, apart: Apart, findings: readonly ClockFinding[]])[] = [
  ['all agree', [0, 900, -1500], [{ kind: 'agree', clocks: ['machine', 'broker', 'receiver'] }]],
  ['a receiver 1,024 weeks behind', [0, 0, -rollMs], [rolled(-1024), machineAndBroker]],
  ['... 1,024 weeks ahead', [0, 0, rollMs + 700], [rolled(1024), machineAndBroker]],
  ['... twice rolled over', [0, 0, -2 * rollMs], [rolled(-2048), machineAndBroker]],
  ['... with a machine that is a day off, no broker', [dayMs, null, -rollMs], [rolled(-1024)]],
  [
    '... and a machine that is wrong too',
    [-90_000, 0, -rollMs],
    [{ kind: 'machine_off', byMs: -90_000 }, rolled(-1024)],
  ],
  [
    'a receiver 300 days ahead',
    [0, 0, 300 * dayMs],
    [{ kind: 'receiver_off', byMs: 300 * dayMs }, machineAndBroker],
  ],
  ['... 300 days behind, no broker', [0, null, -300 * dayMs], [{ kind: 'receiver_off', byMs: -300 * dayMs }]],
  [
    '... 512 weeks behind',
    [0, 0, -rollMs / 2],
    [{ kind: 'receiver_off', byMs: -rollMs / 2 }, machineAndBroker],
  ],
  ['... in local time', [0, 0, 3_600_000], [{ kind: 'receiver_off', byMs: 3_600_000 }, machineAndBroker]],
  [
    'a machine that is behind',
    [-3_600_000, 0, 0],
    [
      { kind: 'machine_off', byMs: -3_600_000 },
      { kind: 'agree', clocks: ['broker', 'receiver'] },
    ],
  ],
  ['... without a receiver', [40_000, 0, null], [{ kind: 'machine_off', byMs: 40_000 }]],
  [
    '... of which only the receiver speaks',
    [-3_600_000, null, 0],
    [{ kind: 'machine_or_receiver', byMs: -3_600_000 }],
  ],
  [
    'a broker that is wrong',
    [0, 7_200_000, 0],
    [
      { kind: 'broker_off', byMs: 7_200_000 },
      { kind: 'agree', clocks: ['machine', 'receiver'] },
    ],
  ],
  [
    'a machine without a clock',
    [-20 * 365 * dayMs, 0, 0],
    [{ kind: 'machine_early' }, { kind: 'agree', clocks: ['broker', 'receiver'] }],
  ],
  ['... beside a rolled-over receiver', [-rollMs, null, -rollMs], [{ kind: 'machine_early' }]],
  ['a machine alone', [0, null, null], []],
];

describe('the clocks of machine, broker and receiver', () => {
  it.each(cases)('with %s', (_, apart, findings) => {
    expect(judge(apart)).toEqual(findings);
  });

  it('never send a person to a clock that agrees with that of the broker', () => {
    const apart = fc.oneof(
      fc.integer({ min: -2 * rollMs, max: 2 * rollMs }),
      fc.constantFrom(-rollMs, rollMs, 300 * dayMs, 90_000),
    );
    fc.assert(
      fc.property(apart, fc.integer({ min: -5000, max: 5000 }), (receiver, broker) => {
        const findings = judge([0, broker, receiver]);
        expect(findings.map(({ kind }) => kind)).not.toContain('machine_off');
        expect(findings.map(({ kind }) => kind)).not.toContain('machine_or_receiver');
        const todo = findings.map((one) => clockText(one).todo).join(' ');
        expect(todo).not.toMatch(/timedatectl/);
      }),
    );
  });

  it('name a roll-over in weeks, and other differences in a unit that a person reads', () => {
    const words = (apart: Apart): string =>
      judge(apart)
        .map((one) => clockText(one).words)
        .join('; ');
    expect(words([0, 0, -rollMs])).toBe(
      'the date of the receiver is 1,024 weeks behind: a roll-over of its GPS week number; this machine and the broker agree on the time',
    );
    expect(words([0, 0, 300 * dayMs])).toContain('300 days ahead');
    expect(words([-3_700_000, 0, null])).toContain('62 min behind');
  });
});
