// The command machine against its table (`support/vehicle/command-table.ts`), by model runs: whatever happens in whatever order, the
// machine goes where the table says, and every line of the table is visited.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Evidence } from '../../agent/core/evidence/testimony.ts';
import {
  type CommandEffect,
  type CommandsState,
  createCommandsState,
} from '../../agent/core/protection/command-draft.ts';
import {
  type CommandRecord,
  commandLimits,
  createCommandRecord,
} from '../../agent/core/protection/command-record.ts';
import { recordReadBack, stepCommands } from '../../agent/core/protection/commands.ts';
import type { CommandBody } from '../../src/core/wire/wire.ts';
import {
  type CommandCause,
  type CommandPlace,
  commandTable,
  placeOf,
} from '../support/vehicle/command-table.ts';
import { evidenceAt, fixtureUtcMs } from '../support/vehicle/evidence-fixtures.ts';

const startUtcMs = fixtureUtcMs;
const lifeMs = 3_600_000;

interface Model {
  place: CommandPlace;
  /** Where it was when it began to execute: what the disk holds until the commit. */
  before: CommandPlace;
  mismatches: number;
  isPausedByDisk: boolean;
}

/** The machine with a disk and a clock of its own; a commit of `executing` waits until it is told. */
class Rig {
  state: CommandsState = createCommandsState(createCommandRecord());
  disk: CommandRecord = createCommandRecord();
  nowMs = 0;
  counter = 0;
  commandID = '';
  expiresMs = 0;
  isSafe = true;
  held: string | null = null;
  driveToken = '';

  evidence(): Evidence {
    const { nowMs, isSafe } = this;
    return evidenceAt(nowMs, { ignition: { value: !isSafe, sinceMs: nowMs - 120_000 } });
  }

  take(step: { readonly state: CommandsState; readonly effects: readonly CommandEffect[] }): void {
    this.state = step.state;
    for (const effect of step.effects) {
      if (effect.kind === 'drive') this.driveToken = effect.token;
      // Commits are taken in order: what comes while one is held waits behind it.
      if (effect.kind !== 'commit' || this.held !== null) continue;
      const busy = this.state.work.enginecutoff;
      const isHeld = busy?.kind === 'committing' && busy.token === effect.token;
      if (isHeld && this.state.record.active.enginecutoff?.phase === 'executing') this.held = effect.token;
      else this.commit(effect.token);
    }
  }

  commit(token: string, durable = true): void {
    this.held = null;
    if (durable) this.disk = this.state.record;
    this.input({ kind: 'committed', token, durable });
  }

  input(input: Parameters<typeof stepCommands>[1]): void {
    this.take(stepCommands(this.state, input, this.evidence()));
  }

  envelope(
    over: Partial<CommandBody>,
    fitted: readonly ['enginecutoff'] | readonly [] = ['enginecutoff'],
  ): void {
    this.counter += 1;
    const body: CommandBody = {
      accountID: 'a',
      deviceID: 'd',
      commandID: this.commandID,
      boot: 'b',
      counter: this.counter,
      issuedMs: startUtcMs + this.nowMs,
      expiresMs: this.expiresMs,
      feature: 'enginecutoff',
      state: '1',
      mode: 'interlock',
      reason: '',
      issuer: 'o',
      cancel: false,
      ...over,
    };
    this.input({ kind: 'envelope', body, fitted, boot: 'b' });
  }

  begin(): void {
    this.commandID = `c${this.counter + 1}`;
    this.expiresMs = startUtcMs + this.nowMs + lifeMs;
  }

  time(afterMs: number): void {
    this.nowMs += afterMs;
    this.input({ kind: 'time' });
  }

  /** Where the newest command is. */
  place(): CommandPlace {
    const active = this.state.record.active.enginecutoff;
    if (active?.commandID === this.commandID) return placeOf(active, this.state.work.enginecutoff);
    const last = this.state.record.seen.find((entry) => entry.commandID === this.commandID)?.last;
    return last === 'requested' || last === 'sent' || last === 'executing' ? 'none' : (last ?? 'none');
  }
}

const isEnd = (place: CommandPlace): boolean =>
  ['none', 'confirmed', 'refused', 'expired', 'superseded', 'cancelled'].includes(place);

/** Makes a cause happen to the machine. */
const causes: Readonly<Record<CommandCause, (rig: Rig) => void>> = {
  accepted(rig) {
    rig.begin();
    rig.envelope({});
  },
  'not fitted'(rig) {
    rig.begin();
    rig.envelope({}, []);
  },
  'expired on arrival'(rig) {
    rig.begin();
    rig.envelope({ expiresMs: startUtcMs + rig.nowMs });
  },
  withdrawn(rig) {
    if (rig.place() === 'none' || isEnd(rig.place())) rig.begin();
    rig.envelope({ cancel: true });
  },
  replaced(rig) {
    const isWaiting = ['received', 'armed', 'pausing'].includes(rig.place());
    rig.envelope({ commandID: `r${rig.counter}`, expiresMs: startUtcMs + rig.nowMs + lifeMs });
    // The newer one is taken back again: this is the life of the older.
    rig.envelope({ commandID: `r${rig.counter - 1}`, cancel: true });
    if (isWaiting) expect(rig.state.record.active.enginecutoff).toBeUndefined();
  },
  'interlock waits'(rig) {
    rig.isSafe = false;
    rig.time(11_000);
  },
  'interlock agrees'(rig) {
    rig.isSafe = true;
    rig.time(11_000);
  },
  'life over'(rig) {
    rig.isSafe = true;
    rig.nowMs += lifeMs;
    if (rig.held !== null) rig.commit(rig.held);
    else rig.time(0);
  },
  'committed, agrees'(rig) {
    rig.isSafe = true;
    rig.commit(rig.held ?? '');
  },
  'committed, waits'(rig) {
    rig.isSafe = false;
    rig.commit(rig.held ?? '');
  },
  'commit failed': (rig) => rig.commit(rig.held ?? '', false),
  'drive confirmed': (rig) => drive(rig, 'confirmed'),
  'drive refused': (rig) => drive(rig, 'mismatch'),
  'drive unknown': (rig) => drive(rig, 'unknown'),
  'drives used up': (rig) => (rig.place() === 'unknown' ? readBack(rig, false) : drive(rig, 'mismatch')),
  'read as ordered': (rig) => readBack(rig, true),
  'read otherwise': (rig) => readBack(rig, false),
  'pause over'(rig) {
    rig.isSafe = false;
    rig.time(commandLimits.retryMostMs);
  },
  restarted(rig) {
    if (rig.held !== null) rig.disk = rig.state.record;
    rig.held = null;
    rig.state = createCommandsState(rig.disk);
  },
  'restarted, not on disk'(rig) {
    rig.held = null;
    rig.state = createCommandsState(rig.disk);
  },
};

function drive(rig: Rig, outcome: 'confirmed' | 'mismatch' | 'unknown'): void {
  rig.input({ kind: 'driven', token: rig.driveToken, outcome, reason: 'as told' });
}

function readBack(rig: Rig, enginecutoff: boolean): void {
  rig.take(recordReadBack(rig.state, { enginecutoff }, rig.evidence()));
}

const isTry = (cause: CommandCause): boolean => cause === 'drive refused' || cause === 'read otherwise';

class RuleEvent implements fc.Command<Model, Rig> {
  readonly cause: CommandCause;
  readonly visited: Set<string>;
  constructor(cause: CommandCause, visited: Set<string>) {
    this.cause = cause;
    this.visited = visited;
  }

  check({ place, mismatches, isPausedByDisk }: Readonly<Model>): boolean {
    const { cause } = this;
    if (isTry(cause) && mismatches >= commandLimits.mismatches - 1) return false;
    if (cause === 'drives used up' && mismatches < commandLimits.mismatches - 1) return false;
    if (cause === 'restarted' && isPausedByDisk) return false;
    return commandTable.some((line) => line.from === (isEnd(place) ? 'none' : place) && line.on === cause);
  }

  run(model: Model, rig: Rig): void {
    const { cause } = this;
    const from = isEnd(model.place) ? 'none' : model.place;
    if (from === 'none') rig.nowMs += lifeMs; // the rate of changes is another test's affair
    causes[cause](rig);
    const lines = commandTable.filter((line) => line.from === from && line.on === cause);
    const wanted = lines.length === 1 ? lines[0]?.to : model.before;
    expect(`${from}, ${cause}: ${rig.place()}`).toBe(`${from}, ${cause}: ${wanted}`);
    this.visited.add(`${from}, ${cause}, ${wanted}`);
    const place = rig.place();
    if (place === 'committing' && from !== 'committing') model.before = from;
    if (isTry(cause)) model.mismatches += 1;
    if (isEnd(place)) model.mismatches = 0;
    model.isPausedByDisk = cause === 'commit failed' || (model.isPausedByDisk && place === 'pausing');
    model.place = place;
  }

  toString(): string {
    return this.cause;
  }
}

it('goes where its table says, and every line of the table is visited', () => {
  const visited = new Set<string>();
  const all = Object.keys(causes) as CommandCause[];
  // What moves a command on is given more often, or most lives would end before the interesting places.
  const often: readonly CommandCause[] = [
    'accepted',
    'interlock agrees',
    'committed, agrees',
    'drive unknown',
    'drive refused',
    'read otherwise',
    'pause over',
    'drives used up',
  ];
  const arbitraries = [...all, ...often, ...often, ...often].map((cause) =>
    fc.constant(new RuleEvent(cause, visited)),
  );
  fc.assert(
    fc.property(fc.commands(arbitraries, { maxCommands: 200, size: 'max' }), (commands) => {
      const model: Model = { place: 'none', before: 'none', mismatches: 0, isPausedByDisk: false };
      fc.modelRun(() => ({ model, real: new Rig() }), commands);
    }),
    { numRuns: 300, seed: 11 },
  );
  const missed = commandTable.filter(({ from, on, to }) => !visited.has(`${from}, ${on}, ${to}`));
  expect(missed).toEqual([]);
});
