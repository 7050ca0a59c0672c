// The command machine and its interlock, as a specification: what is accepted, what waits and why, what is never done.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../agent/core/evidence/testimony.ts';
import {
  type CommandEffect,
  type CommandsState,
  createCommandsState,
} from '../../agent/core/protection/command-draft.ts';
import { isExpired } from '../../agent/core/protection/command-intake.ts';
import {
  type CommandRecord,
  commandLimits,
  createCommandRecord,
} from '../../agent/core/protection/command-record.ts';
import { recordReadBack, stepCommands } from '../../agent/core/protection/commands.ts';
import { interlockLimits } from '../../agent/core/protection/interlock-rules.ts';
import type { FeatureName, FeatureState } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { allowed, type Verdict, verdictFrom } from '../../src/core/verdict/verdict.ts';
import type { CommandBody } from '../../src/core/wire/wire.ts';
import {
  drivingAt as driving,
  evidenceAt,
  moving,
  evidenceAt as parked,
  type Readings,
  fixtureUtcMs as startUtcMs,
  still,
  unknownGnss,
} from '../support/vehicle/evidence-fixtures.ts';
import { apartCauses } from '../support/vehicle/plain-causes.ts';

const fitted = ['enginecutoff', 'cargoaccess'] as const;

let counter = 0;
const command = (over: Partial<CommandBody> = {}): CommandBody => {
  counter += 1;
  return {
    accountID: 'demo',
    deviceID: 'truck-1',
    commandID: `c${counter}`,
    boot: 'b1',
    counter,
    issuedMs: startUtcMs,
    expiresMs: startUtcMs + 24 * 3_600_000,
    feature: 'enginecutoff',
    state: '1',
    mode: 'interlock',
    reason: 'stolen',
    issuer: 'demo/admin',
    cancel: false,
    ...over,
  };
};

/** Drives the machine as the agent does; commits are instant, drives are answered by `answer`. */
function createRig(
  answer: 'confirmed' | 'mismatch' | 'unknown' | 'refused' = 'confirmed',
  record = createCommandRecord(),
) {
  let state = createCommandsState(record);
  let evidence = parked(0);
  const log: string[] = [];
  const rig = {
    answer,
    log,
    /** What a slow disk has not answered yet. */
    held: [] as string[],
    isSlow: false,
    drives: [] as { feature: FeatureName; state: FeatureState }[],
    /** What each confirmation says that the relay was moved on. */
    proofs: [] as (Verdict | null)[],
    disk: record,
    state: () => state,
    perform(effects: readonly CommandEffect[]): void {
      for (const effect of effects) {
        if (effect.kind === 'note') log.push(`note: ${effect.text}`);
        if (effect.kind === 'commit') {
          rig.disk = state.record;
          for (const event of effect.events) {
            const { code, reason } = event.attributes ?? {};
            const why = code === allowed ? '' : (code ?? reason);
            log.push([event.commandState, why].filter(Boolean).join(': '));
            if (event.commandState === 'confirmed') rig.proofs.push(verdictFrom(event.attributes));
          }
          if (rig.isSlow) rig.held.push(effect.token);
          else rig.step({ kind: 'committed', token: effect.token, durable: true });
        }
        if (effect.kind === 'drive') {
          const mostMs = effect.state === '1' ? interlockLimits.promptDriveMs : commandLimits.driveMs;
          expect(effect.withinMs).toBeLessThanOrEqual(mostMs);
          rig.drives.push({ feature: effect.feature, state: effect.state });
          const reason = rig.answer === 'confirmed' ? '' : 'no answer';
          rig.step({ kind: 'driven', token: effect.token, outcome: rig.answer, reason });
        }
      }
    },
    step(input: Parameters<typeof stepCommands>[1]): void {
      const step = stepCommands(state, input, evidence);
      state = step.state;
      rig.perform(step.effects);
    },
    envelope: (body: CommandBody) => rig.step({ kind: 'envelope', body, fitted, boot: 'b1' }),
    at(next: Evidence): void {
      evidence = next;
      rig.step({ kind: 'time' });
    },
    /** The disk answers, in order. */
    stored(next: Evidence): void {
      evidence = next;
      for (const token of rig.held.splice(0)) rig.step({ kind: 'committed', token, durable: true });
    },
    readBack(relays: Partial<Record<FeatureName, boolean>>): void {
      const step = recordReadBack(state, relays, evidence);
      state = step.state;
      rig.perform(step.effects);
    },
  };
  return rig;
}

describe('a cut', () => {
  it('is carried out when ignition is off and the vehicle stands', () => {
    const rig = createRig();
    rig.envelope(command());
    rig.at(parked(1000));
    expect(rig.log).toEqual(['received', 'executing', 'confirmed']);
    expect(rig.drives).toEqual([{ feature: 'enginecutoff', state: '1' }]);
  });

  it('is confirmed with the proof that it was carried out on', () => {
    const rig = createRig();
    rig.envelope(command());
    rig.at(parked(1000));
    const [proof] = rig.proofs;
    expect(proof?.code).toBe(allowed);
    const seen = Object.fromEntries((proof?.rules ?? []).map(({ rule, value }) => [rule, value]));
    expect(seen).toMatchObject({ ignition_off: 'off', standstill: 'gnss', witnesses: 2 });
  });

  it('is judged again at the next fix after a slow commit, and stored once', () => {
    const rig = createRig();
    rig.envelope(command());
    rig.isSlow = true;
    rig.at(parked(1000));
    // The fix by which it was decided is 900 ms old by now.
    rig.stored(parked(1900, { gnss: still(120_000, 1000) }));
    expect([rig.log.at(-1), rig.drives.length, rig.held.length]).toEqual(['executing', 0, 0]);
    rig.at(parked(2000));
    expect(rig.drives).toHaveLength(1);
    rig.stored(parked(2100));
    expect(rig.log.filter((text) => text === 'executing')).toHaveLength(1);
    expect(rig.log.at(-1)).toBe('confirmed');
  });

  it('waits when the vehicle sets off while the disk is slow', () => {
    const rig = createRig();
    rig.envelope(command());
    rig.isSlow = true;
    rig.at(parked(1000));
    rig.stored(parked(1900, { gnss: still(120_000, 1000) }));
    rig.at(driving(2000));
    rig.stored(driving(2100));
    expect([rig.log.at(-1), rig.drives.length]).toEqual(['armed: ignition_off', 0]);
  });

  it('waits while ignition is on, reports the reason once, and is carried out when it is off', () => {
    const rig = createRig();
    rig.envelope(command());
    for (let ms = 1000; ms < 20_000; ms += 1000) rig.at(driving(ms));
    expect(rig.log).toEqual(['received', 'armed: ignition_off']);
    rig.at(parked(21_000, { ignition: { value: false, sinceMs: 20_000 } }));
    expect(rig.log.at(-1)).toBe('armed: ignition_off_s');
    rig.at(parked(30_000, { ignition: { value: false, sinceMs: 20_000 } }));
    expect(rig.log.slice(-2)).toEqual(['executing', 'confirmed']);
  });

  it.each<[string, Readings]>([
    ['ignition_off', { ignition: { value: null, sinceMs: 0 } }],
    ['ignition_off', { states: { ignition: 'suspended' } }],
    ['ignition_off_s', { ignition: { value: false, sinceMs: 990_001 } }],
    [
      'ignition_off_s',
      {
        gnss: unknownGnss('no_fix'),
        motion: { value: false, sinceMs: 0 },
        ignition: { value: false, sinceMs: 940_001 },
      },
    ],
    ['standstill', { gnss: unknownGnss('no_fix') }],
    [
      'position_trusted_s',
      { gnss: unknownGnss('no_fix'), motion: { value: false, sinceMs: 0 }, suspectMs: 940_001 },
    ],
    ['standstill', { gnss: unknownGnss('doubtful'), motion: { value: false, sinceMs: 0 } }],
    ['speed_kmh', { gnss: moving(4) }],
    ['standstill_s', { gnss: still(9000) }],
    ['no_movement', { motion: { value: true, sinceMs: 0 } }],
    ['engine_at_rest', { rpm: 'active' }],
    ['witnesses', { states: { ignition: 'unproven' } }],
    ['board_alive', { boardAlive: false }],
    ['time_known', { trustedUtcMs: null, latestUtcMs: null }],
  ])('waits and names the rule that is not met: %s', (code, readings) => {
    const rig = createRig();
    rig.envelope(command());
    rig.at(evidenceAt(1_000_000, readings));
    expect(rig.log).toEqual(['received', `armed: ${code}`]);
    expect(rig.drives).toEqual([]);
  });

  it('is carried out without a position when two inputs that no single fault sets to zero prove standstill for a minute', () => {
    const rig = createRig();
    rig.envelope(command());
    const blind = { gnss: unknownGnss('no_fix'), motion: { value: false, sinceMs: 0 } } as const;
    rig.at(parked(100_000, blind));
    expect(rig.log.at(-1)).toBe('armed: common_cause');
    rig.at(parked(111_000, { ...blind, causes: apartCauses }));
    expect(rig.log.at(-1)).toBe('confirmed');
  });

  it('reports a reason that keeps changing once in ten seconds, not each time', () => {
    const rig = createRig();
    rig.envelope(command());
    for (let ms = 1000; ms <= 60_000; ms += 500) {
      rig.at(driving(ms, ms % 1000 === 0 ? {} : { ignition: { value: null, sinceMs: ms } }));
    }
    expect(rig.log.length).toBeGreaterThan(3);
    expect(rig.log.length).toBeLessThanOrEqual(8);
  });

  it('expires and is never carried out afterwards', () => {
    const rig = createRig();
    rig.envelope(command({ expiresMs: startUtcMs + 60_000 }));
    rig.at(driving(30_000));
    rig.at(driving(60_000));
    rig.at(parked(90_000));
    expect(rig.log).toEqual(['received', 'armed: ignition_off', 'expired: ignition_off']);
    expect(rig.drives).toEqual([]);
  });

  it.each<[string, (nowMs: number) => Evidence]>([
    ['the vehicle starts', driving],
    ['the board falls silent', (nowMs) => parked(nowMs, { boardAlive: false })],
  ])('is dropped when %s between the commit and the drive', (_what, later) => {
    const record = createCommandRecord();
    let state = createCommandsState(record);
    state = stepCommands(state, { kind: 'envelope', body: command(), fitted, boot: 'b1' }, parked(0)).state;
    const executing = stepCommands(state, { kind: 'time' }, parked(1000));
    const committing = executing.effects.find((effect) => effect.kind === 'commit');
    expect(committing?.kind).toBe('commit');
    const token = committing?.kind === 'commit' ? committing.token : '';
    const after = stepCommands(executing.state, { kind: 'committed', token, durable: true }, later(1100));
    expect(after.effects.some((effect) => effect.kind === 'drive')).toBe(false);
    expect(after.state.record.active.enginecutoff?.phase).toBe('armed');
  });

  it('is read back, not repeated, after an unknown outcome', () => {
    const rig = createRig('unknown');
    rig.envelope(command());
    rig.at(parked(1000));
    for (let ms = 2000; ms < 60_000; ms += 1000) rig.at(parked(ms));
    expect(rig.drives).toHaveLength(1);
    rig.readBack({ enginecutoff: true });
    expect(rig.log).toEqual(['received', 'executing', 'unknown: no answer', 'confirmed']);
    expect(rig.proofs).toEqual([null]);
  });

  it('is read back from the board, not repeated, after a crash during its execution', () => {
    const rig = createRig();
    const crashed: CommandRecord = {
      ...createCommandRecord(),
      counter: 1000,
      active: {
        enginecutoff: {
          commandID: 'x',
          feature: 'enginecutoff',
          state: '1',
          issuedMs: startUtcMs,
          expiresMs: startUtcMs + 3_600_000,
          phase: 'executing',
          waiting: null,
          attempts: 0,
          mismatches: 0,
        },
      },
    };
    const again = createRig('confirmed', crashed);
    again.at(parked(1000));
    expect(again.drives).toEqual([]);
    again.readBack({ enginecutoff: true });
    expect(again.log).toEqual(['confirmed']);
    expect(rig.drives).toEqual([]);
  });

  it('is refused after the relay did not follow three times', () => {
    const rig = createRig('mismatch');
    rig.envelope(command());
    for (let ms = 1000; ms < 300_000; ms += 1000) rig.at(parked(ms));
    expect(rig.drives).toHaveLength(commandLimits.mismatches);
    expect(rig.log.at(-1)).toBe('refused: relay_follows');
  });

  it.each(['mismatch', 'refused'] as const)(
    'is written again no sooner than ten seconds after: %s',
    (answer) => {
      const rig = createRig(answer);
      rig.envelope(command());
      const at: number[] = [];
      for (let ms = 1000; ms < 60_000; ms += 500) {
        const before = rig.drives.length;
        rig.at(parked(ms));
        if (rig.drives.length > before) at.push(ms);
      }
      expect(at.length).toBeGreaterThan(2);
      for (const [index, ms] of at.slice(1).entries())
        expect(ms - (at[index] ?? 0)).toBeGreaterThanOrEqual(10_000);
    },
  );

  it('is retried for some minutes on a bus in trouble, and then refused', () => {
    const rig = createRig('refused');
    rig.envelope(command());
    for (let ms = 1000; ms < 60_000; ms += 1000) rig.at(parked(ms));
    expect(rig.log.at(-1)).toBe('armed: relay_follows');
    for (let ms = 60_000; ms < 900_000; ms += 1000) rig.at(parked(ms));
    expect(rig.drives).toHaveLength(commandLimits.attempts);
    expect(rig.log.at(-1)).toBe('refused: relay_follows');
  });

  it('waits when the relay changed six times within the hour', () => {
    const rig = createRig();
    for (let change = 0; change < 8; change++) {
      rig.envelope(command({ state: change % 2 === 0 ? '1' : '0' }));
      rig.at(parked((change + 1) * 20_000));
    }
    expect(rig.log.at(-1)).toBe('confirmed');
    rig.envelope(command());
    rig.at(parked(200_000));
    expect(rig.log.at(-1)).toBe('armed: changes_per_hour');
  });
});

describe('a restore', () => {
  it('needs nothing but the board: ignition on, moving, time unknown', () => {
    const rig = createRig();
    rig.envelope(command({ state: '0' }));
    rig.at(driving(1000, { trustedUtcMs: null, latestUtcMs: null }));
    expect(rig.log).toEqual(['received', 'executing', 'confirmed']);
    expect(rig.proofs).toEqual([null]);
  });

  it('is never given up while the relay does not follow', () => {
    const rig = createRig('mismatch');
    rig.envelope(command({ state: '0' }));
    for (let ms = 1000; ms < 3_600_000; ms += 1000) rig.at(parked(ms));
    expect(rig.drives.length).toBeGreaterThan(50);
    expect(rig.log).not.toContain('refused');
  });

  it('replaces a cut that waits', () => {
    const rig = createRig();
    rig.envelope(command());
    rig.at(driving(1000));
    rig.envelope(command({ state: '0' }));
    rig.at(driving(2000));
    expect(rig.log).toEqual([
      'received',
      'armed: ignition_off',
      'received',
      'superseded: a newer command replaced it',
      'executing',
      'confirmed',
    ]);
    expect(rig.drives).toEqual([{ feature: 'enginecutoff', state: '0' }]);
  });
});

describe('cargo', () => {
  it('locks at any time, unlocks only at standstill', () => {
    const rig = createRig();
    rig.envelope(command({ feature: 'cargoaccess', state: '0' }));
    rig.at(driving(1000));
    expect(rig.log.at(-1)).toBe('confirmed');
    rig.envelope(command({ feature: 'cargoaccess', state: '1' }));
    rig.at(driving(2000));
    expect(rig.log.at(-1)).toBe('armed: speed_kmh');
    rig.at(parked(20_000));
    expect(rig.log.at(-1)).toBe('confirmed');
  });
});

describe('an envelope', () => {
  it('that is replayed changes nothing', () => {
    const rig = createRig();
    const body = command();
    rig.envelope(body);
    rig.at(parked(1000));
    const before = rig.state().record;
    rig.envelope(body);
    rig.at(parked(2000));
    expect(rig.state().record).toEqual(before);
    expect(rig.log.at(-1)).toBe('note: the counter did not grow: a replay');
    expect(rig.drives).toHaveLength(1);
  });

  it('that arrives again with a new counter is answered with its state, not carried out again', () => {
    const rig = createRig();
    const body = command();
    rig.envelope(body);
    rig.at(parked(1000));
    rig.envelope({ ...body, counter: body.counter + 1 });
    counter += 1;
    rig.at(parked(2000));
    expect(rig.log.at(-1)).toBe('confirmed: said again');
    expect(rig.drives).toHaveLength(1);
  });

  it('that arrives again while it waits is answered with the rules for which it waits', () => {
    const rig = createRig();
    const body = command();
    rig.at(driving(0));
    rig.envelope(body);
    rig.at(driving(1000));
    const waiting = rig.log.at(-1);
    rig.envelope({ ...body, counter: body.counter + 1 });
    counter += 1;
    expect(rig.log.slice(-2)).toEqual([waiting, 'note: known already: armed'].toReversed());
    expect(waiting).toBe('armed: ignition_off');
  });

  it('for another boot is ignored, without touching the counter', () => {
    const rig = createRig();
    rig.step({ kind: 'envelope', body: command({ boot: 'old' }), fitted, boot: 'b1' });
    expect(rig.state().record.counter).toBe(0);
    expect(rig.log).toEqual(['note: the envelope is for another boot']);
  });

  it('for a feature that is not fitted is refused; an expired one is reported as expired', () => {
    const rig = createRig();
    rig.step({ kind: 'envelope', body: command(), fitted: ['cargoaccess'], boot: 'b1' });
    rig.at(parked(10_000));
    rig.envelope(command({ expiresMs: startUtcMs + 5000 }));
    expect(rig.log).toEqual(['refused: not fitted', 'expired: expired on arrival']);
  });

  it('that has expired on arrival still withdraws an older waiting cut', () => {
    for (const state of ['0', '1'] as const) {
      const rig = createRig();
      rig.envelope(command());
      rig.at(driving(10_000));
      rig.envelope(command({ state, expiresMs: startUtcMs + 5000 }));
      rig.at(parked(200_000));
      expect(rig.log.slice(-2)).toEqual([
        'expired: expired on arrival',
        'superseded: a newer command replaced it',
      ]);
      expect(rig.drives).toEqual([]);
    }
  });

  it('that has expired on arrival withdraws no waiting restore', () => {
    const rig = createRig();
    rig.envelope(command({ state: '0' }));
    rig.envelope(command({ expiresMs: startUtcMs }));
    rig.at(parked(1000));
    expect(rig.drives).toEqual([{ feature: 'enginecutoff', state: '0' }]);
  });

  it('that cancels withdraws a waiting command', () => {
    const rig = createRig();
    const body = command();
    rig.envelope(body);
    rig.at(driving(1000));
    rig.envelope(command({ commandID: body.commandID, cancel: true }));
    rig.at(parked(20_000));
    expect(rig.log).toEqual(['received', 'armed: ignition_off', 'cancelled']);
    expect(rig.drives).toEqual([]);
  });

  it('reports the confirmed state with the OpenGTS code of the field', () => {
    let state = createCommandsState(createCommandRecord());
    const codes: number[] = [];
    const run = (input: Parameters<typeof stepCommands>[1]): void => {
      const step = stepCommands(state, input, parked(1000));
      state = step.state;
      for (const effect of step.effects) {
        if (effect.kind === 'commit') {
          codes.push(...effect.events.map((event) => event.statusCode));
          run({ kind: 'committed', token: effect.token, durable: true });
        }
        if (effect.kind === 'drive')
          run({ kind: 'driven', token: effect.token, outcome: 'confirmed', reason: '' });
      }
    };
    run({ kind: 'envelope', body: command(), fitted, boot: 'b1' });
    run({ kind: 'time' });
    expect(codes.at(-1)).toBe(statusCodes.VEHICLE_DISABLED.code);
  });
});

describe('in any history of a vehicle', () => {
  /** A small world with its own truth; the machine sees only honest but incomplete evidence of it. */
  function live(moves: readonly number[]): void {
    const disk = { record: createCommandRecord() };
    let state: CommandsState = createCommandsState(disk.record);
    let nowMs = 0;
    let ignition = { value: false, sinceMs: -100_000 };
    let stoodSinceMs = -100_000;
    let speedKmh = 0;
    let sight: 'full' | 'no-fix' | 'no-ignition' | 'no-board' | 'no-time' = 'full';
    let relay = false;
    let nextID = 1;
    const envelopes: CommandBody[] = [];
    const driven = new Map<string, number>();
    const queue: CommandEffect[] = [];
    const evidence = (): Evidence =>
      evidenceAt(nowMs, {
        ignition: sight === 'no-ignition' ? { value: null, sinceMs: 0 } : ignition,
        gnss:
          sight === 'no-fix'
            ? unknownGnss('no_fix')
            : speedKmh > 3
              ? moving(speedKmh)
              : still(nowMs - stoodSinceMs),
        ...(sight === 'no-time' ? { trustedUtcMs: null, latestUtcMs: null } : {}),
        boardAlive: sight !== 'no-board',
      });
    const take = (step: { state: CommandsState; effects: readonly CommandEffect[] }): void => {
      state = step.state;
      queue.push(...step.effects);
    };
    const drive = (effect: Extract<CommandEffect, { kind: 'drive' }>, luck: number): void => {
      const body = envelopes.find((item) => effect.token === `drive:${item.commandID}`);
      expect(body, 'only commands that came').toBeDefined();
      if (body === undefined) return;
      expect(disk.record.active[effect.feature]?.phase, 'executing is on disk before the relay moves').toBe(
        'executing',
      );
      if (effect.state === '1') {
        expect(ignition.value, 'ignition is truly off').toBe(false);
        expect(speedKmh, 'it truly stands').toBeLessThanOrEqual(3);
        expect(startUtcMs + nowMs, 'it has not expired').toBeLessThan(body.expiresMs);
      }
      const moved = luck % 3 !== 0;
      if (moved && relay !== (effect.state === '1')) {
        relay = effect.state === '1';
        driven.set(body.commandID, (driven.get(body.commandID) ?? 0) + 1);
        expect(driven.get(body.commandID), 'a command moves the relay at most once').toBe(1);
      }
      const outcome = luck % 5 === 0 ? 'unknown' : moved ? 'confirmed' : 'mismatch';
      take(stepCommands(state, { kind: 'driven', token: effect.token, outcome, reason: 'luck' }, evidence()));
    };
    const performOne = (luck: number): void => {
      const effect = queue.shift();
      if (effect?.kind === 'commit') {
        disk.record = state.record;
        take(stepCommands(state, { kind: 'committed', token: effect.token, durable: true }, evidence()));
      } else if (effect?.kind === 'drive') drive(effect, luck);
    };
    const sights = ['full', 'no-fix', 'no-ignition', 'no-board', 'no-time', 'full'] as const;
    for (const move of moves) {
      const luck = Math.floor(move / 16);
      // A drive is on the wire within `withinMs` or not at all, so the world does not change before it.
      for (const effect of queue.splice(0).filter((item) => item.kind === 'drive' || void queue.push(item))) {
        if (effect.kind === 'drive') drive(effect, luck);
      }
      switch (move % 16) {
        case 0:
        case 1: {
          const body = command({
            commandID: `w${nextID++}`,
            issuedMs: startUtcMs + nowMs,
            expiresMs: startUtcMs + nowMs + 5000 + (luck % 9) * 20_000,
            state: luck % 2 === 0 ? '1' : '0',
          });
          envelopes.push(body);
          take(stepCommands(state, { kind: 'envelope', body, fitted, boot: 'b1' }, evidence()));
          break;
        }
        case 2: {
          const old = envelopes[luck % Math.max(1, envelopes.length)];
          if (old) {
            counter += 1;
            const body = luck % 2 === 0 ? old : { ...old, counter };
            take(stepCommands(state, { kind: 'envelope', body, fitted, boot: 'b1' }, evidence()));
          }
          break;
        }
        case 3:
          ignition = { value: !ignition.value, sinceMs: nowMs };
          if (!ignition.value && speedKmh > 3) ignition = { value: true, sinceMs: nowMs };
          break;
        case 4:
          if (ignition.value) speedKmh = luck % 90;
          if (speedKmh <= 3) stoodSinceMs = nowMs;
          break;
        case 5:
          if (speedKmh > 3) stoodSinceMs = nowMs;
          speedKmh = 0;
          break;
        case 6:
          sight = sights[luck % sights.length] ?? 'full';
          break;
        case 7:
          // Power cut: what was not committed never happened.
          queue.length = 0;
          state = createCommandsState(disk.record);
          break;
        case 8:
          take(recordReadBack(state, sight === 'no-board' ? {} : { enginecutoff: relay }, evidence()));
          break;
        default:
          nowMs += 500 + (luck % 20) * 500;
          take(stepCommands(state, { kind: 'time' }, evidence()));
          performOne(luck);
          performOne(luck + 1);
      }
      if (luck % 2 === 0) performOne(luck);
    }
  }

  it('the relay moves only when it is truly safe, never late, never twice, and only after the commit', () => {
    fc.assert(fc.property(fc.array(fc.nat(4095), { minLength: 20, maxLength: 300 }), live), {
      numRuns: 3000,
    });
  });
});

describe('a withdrawal', () => {
  it('that comes before its command is remembered, so that the command is never carried out', () => {
    const rig = createRig();
    const body = command();
    rig.envelope(command({ commandID: body.commandID, cancel: true }));
    rig.envelope({ ...body, counter: body.counter + 100 });
    counter += 100;
    rig.at(parked(20_000));
    expect(rig.log).toEqual([
      'cancelled: withdrawn before it came',
      'note: known already: cancelled',
      'cancelled: said again',
    ]);
    expect(rig.drives).toEqual([]);
  });

  it('of a command that waits behind another one ends it', () => {
    const rig = createRig('unknown');
    rig.envelope(command());
    rig.at(parked(1000));
    const behind = command({ state: '0' });
    rig.envelope(behind);
    rig.envelope(command({ commandID: behind.commandID, cancel: true }));
    expect(rig.log.slice(-2)).toEqual(['received', 'cancelled']);
    rig.readBack({ enginecutoff: true });
    rig.at(parked(30_000));
    expect(rig.drives).toHaveLength(1);
  });
});

describe('an unknown outcome', () => {
  it('that reads back as not done may have closed the relay: a cut is tried again after ten seconds, not before', () => {
    const rig = createRig('unknown');
    rig.envelope(command());
    rig.at(parked(1000));
    rig.readBack({ enginecutoff: false });
    for (let ms = 2000; ms <= 10_900; ms += 100) rig.at(parked(ms));
    expect(rig.drives).toHaveLength(1);
    rig.at(parked(11_000));
    expect(rig.drives).toHaveLength(2);
  });

  it('does not delay a restore that arrived in the meantime', () => {
    const rig = createRig('unknown');
    rig.envelope(command());
    rig.at(parked(1000));
    rig.envelope(command({ state: '0' }));
    rig.readBack({ enginecutoff: false });
    rig.answer = 'confirmed';
    rig.at(driving(1100));
    rig.at(driving(1200));
    expect(rig.drives.map(({ state }) => state)).toEqual(['1', '0']);
    expect(rig.state().record.confirmed.enginecutoff?.state).toBe('0');
  });

  it('that reads back as not done counts as a try: a cut that takes the power away ends', () => {
    const rig = createRig('unknown');
    rig.envelope(command());
    for (let ms = 1000; ms < 600_000; ms += 1000) {
      rig.at(parked(ms));
      rig.readBack({ enginecutoff: false });
    }
    expect(rig.drives).toHaveLength(commandLimits.mismatches);
    expect(rig.log.at(-1)).toBe('refused: relay_follows');
  });
});

describe('expiry', () => {
  it('is judged by the latest possible time', () => {
    const rig = createRig();
    rig.envelope(command({ expiresMs: startUtcMs + 60_000 }));
    rig.at(parked(31_000, { latestUtcMs: startUtcMs + 61_000 }));
    expect(rig.log).toEqual(['received', 'expired']);
  });

  it('comes at the end of its life by the monotonic clock, although UTC was set back meanwhile', () => {
    const rig = createRig();
    rig.envelope(command({ expiresMs: startUtcMs + 60_000 }));
    const setBack: Readings = { trustedUtcMs: startUtcMs, latestUtcMs: startUtcMs };
    rig.at(driving(59_000, setBack));
    rig.at(parked(60_000, setBack));
    expect(rig.log).toEqual(['received', 'armed: ignition_off', 'expired: ignition_off']);
    expect(rig.drives).toEqual([]);
  });

  it('on disk is counted by the present clock once the clock of its issue was set back, so that it also holds after a restart', () => {
    const before = createRig();
    const ahead: Readings = { trustedUtcMs: startUtcMs + 45_000, latestUtcMs: startUtcMs + 46_000 };
    before.at(driving(0, ahead));
    before.envelope(command({ issuedMs: startUtcMs + 45_000, expiresMs: startUtcMs + 105_000 }));
    before.at(driving(10_000, { trustedUtcMs: startUtcMs + 10_000, latestUtcMs: startUtcMs + 11_000 }));
    // Its minute began at the true start, and a second of it had passed at its arrival as far as the unit could know.
    const resumed = createRig('confirmed', before.disk);
    resumed.at(parked(58_000));
    expect(resumed.log).toEqual(['executing', 'confirmed']);
    const late = createRig('confirmed', before.disk);
    late.at(parked(59_000));
    expect(late.log).toEqual(['expired: ignition_off']);
    expect(late.drives).toEqual([]);
  });

  it('on disk is left as it is while the clock only wavers by less than a second', () => {
    const rig = createRig();
    rig.envelope(command({ expiresMs: startUtcMs + 60_000 }));
    rig.at(driving(1000));
    const commits = rig.disk;
    rig.at(driving(10_000, { trustedUtcMs: startUtcMs + 9100, latestUtcMs: startUtcMs + 9100 }));
    expect(rig.disk).toBe(commits);
    expect(rig.state().record.active.enginecutoff?.expiresMs).toBe(startUtcMs + 60_000);
  });

  it('of a cut that came before a restart is judged by confirmed time only, and a restore needs none', () => {
    for (const state of ['0', '1'] as const) {
      const before = createRig();
      before.envelope(command({ state, expiresMs: startUtcMs + 60_000 }));
      const rig = createRig('confirmed', before.disk);
      rig.at(parked(30_000, { isTimeConfirmed: false }));
      expect(rig.log).toEqual(state === '1' ? ['armed: time_known'] : ['executing', 'confirmed']);
      rig.at(parked(61_000));
      expect(rig.log.at(-1)).toBe(state === '1' ? 'expired: time_known' : 'confirmed');
    }
  });

  it('of a cut that came before a restart leaves it its life while the time is confirmed', () => {
    const before = createRig();
    before.envelope(command({ expiresMs: startUtcMs + 60_000 }));
    const rig = createRig('confirmed', before.disk);
    rig.at(parked(59_000));
    expect(rig.log).toEqual(['executing', 'confirmed']);
  });
});

describe('an automatic cut that was made by a clock that was ahead', () => {
  const made = (aheadMs: number) => ({
    commandID: 'local-b1-1',
    source: 'zone' as const,
    expiresMs: startUtcMs + aheadMs + 24 * 3_600_000,
  });

  it('has expired once the time is known to be years earlier, instead of living for years', () => {
    expect(isExpired(made(0), parked(0), {})).toBe(false);
    expect(isExpired(made(60_000), parked(0), {})).toBe(false);
    expect(isExpired(made(3 * 365 * 86_400_000), parked(0), {})).toBe(true);
  });

  it('is distinguished from a restore, which never expires, and from a command of the broker', () => {
    expect(
      isExpired(
        { commandID: 'local-b1-1', source: 'service', expiresMs: Number.MAX_SAFE_INTEGER },
        parked(0),
        {},
      ),
    ).toBe(false);
    expect(isExpired({ commandID: 'c', expiresMs: startUtcMs + 30 * 86_400_000 }, parked(0), {})).toBe(false);
  });
});
