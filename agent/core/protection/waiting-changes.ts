// Relay changes to a restrictive state that wait, and whether one of them waits for the loop-back's answer. Pure; it orders nothing.
import { featureNames } from '../../../src/core/events/event.ts';
import type { Evidence } from '../evidence/testimony.ts';
import type { CommandsState } from './command-draft.ts';
import { changeOf } from './commands.ts';
import { judge, type RelayChange } from './interlock.ts';
import type { RelaysState } from './relays.ts';
import { waitsForBoard } from './witness-rules.ts';

interface Protection {
  readonly commands: CommandsState;
  readonly relays: RelaysState;
}

/** True when a confirmed cut is not on its relay. */
function isCutOff({ commands, relays }: Protection): boolean {
  const { active, confirmed } = commands.record;
  return (
    confirmed.enginecutoff?.state === '1' &&
    relays.readings.enginecutoff?.on !== true &&
    active.enginecutoff === undefined
  );
}

/** True when a change to a restrictive state waits or is in progress. */
export function isChangeWaiting(state: Protection): boolean {
  const { active } = state.commands.record;
  return featureNames.some((name) => active[name]?.state === '1') || isCutOff(state);
}

/** Waiting changes to a restrictive state: commands, and a confirmed cut that is not on its relay. */
function waitingChanges(state: Protection): readonly RelayChange[] {
  const { commands } = state;
  const { active } = commands.record;
  const cutOff = { feature: 'enginecutoff', state: '1', occasion: 'reapply' } as const;
  const commanded = featureNames.flatMap((name) => {
    const command = active[name];
    return command?.state === '1' ? [changeOf(commands, command)] : [];
  });
  return isCutOff(state) ? [...commanded, cutOff] : commanded;
}

/**
 * True when a change waits only for the proof that the board does not repeat old values. Relays are not worn for less.
 * @param evidence at this moment; read only if a change waits.
 */
export function needsLoopback(state: Protection, evidence: () => Evidence): boolean {
  return waitingChanges(state).some((change) =>
    waitsForBoard(judge(change, evidence(), state.commands.rules)),
  );
}
