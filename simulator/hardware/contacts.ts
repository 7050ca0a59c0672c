// The relay contacts of a simulated board and the log of every change of them: the ground truth of "executed once" and
// "never while moving". It must never change a contact without a line in the log.
import type { FeatureName } from '../../src/core/events/event.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import { type BoardName, boardMaps } from './board-maps.ts';
import type { BoardPins } from './modbus-slave.ts';

export interface RelayChange {
  /** Monotonic time of the clock that the board was given. */
  readonly atMs: number;
  readonly relay: number;
  /** What is wired to it. */
  readonly feature: FeatureName | null;
  readonly energised: boolean;
  /** `FC05`, `FC06`, `flash`, `flash end`, `power`, `input n`. */
  readonly cause: string;
}

export interface ContactOptions {
  readonly name: BoardName;
  readonly clock: Clock;
  onRelayChange?(change: RelayChange): void;
}

const relayCount = 16;
const maxLog = 1000;

export interface Contacts {
  readonly pins: Pick<BoardPins, 'relay' | 'setRelay' | 'pulseRelay'>;
  /** Power loss: every contact falls off whatever the faults. */
  dropAll(): void;
  log(): { changes: readonly RelayChange[]; forgotten: number };
}

/** All contacts are open at the start. `isStuck` true: they do not move whatever is written. */
export function createContacts(options: ContactOptions, isStuck: () => boolean): Contacts {
  const { clock } = options;
  const wired = boardMaps[options.name].wiring.relays;
  const states: boolean[] = Array.from({ length: relayCount }, () => false);
  const pulses = new Map<number, Cancel>();
  const changes: RelayChange[] = [];
  let forgotten = 0;
  const featureOf = (relay: number): FeatureName | null =>
    relay === wired.enginecutoff ? 'enginecutoff' : relay === wired.cargoaccess ? 'cargoaccess' : null;
  const move = (relay: number, to: { energised: boolean; cause: string }): void => {
    if (states[relay] === to.energised) return;
    states[relay] = to.energised;
    const change = { atMs: clock.monoMs(), relay, feature: featureOf(relay), ...to };
    changes.push(change);
    if (changes.length > maxLog) {
      changes.shift();
      forgotten += 1;
    }
    options.onRelayChange?.(change);
  };
  const endPulse = (relay: number): void => {
    pulses.get(relay)?.();
    pulses.delete(relay);
  };
  return {
    pins: {
      relay: (index) => states[index] ?? false,
      setRelay(relay, energised, cause) {
        endPulse(relay);
        if (!isStuck()) move(relay, { energised, cause });
      },
      pulseRelay(relay, pulse) {
        endPulse(relay);
        if (isStuck()) return;
        move(relay, pulse);
        const back = (): void => {
          pulses.delete(relay);
          move(relay, { energised: !pulse.energised, cause: 'flash end' });
        };
        pulses.set(relay, clock.after(pulse.ms, back));
      },
    },
    dropAll() {
      states.forEach((_, relay) => {
        endPulse(relay);
        move(relay, { energised: false, cause: 'power' });
      });
    },
    log: () => ({ changes: [...changes], forgotten }),
  };
}
