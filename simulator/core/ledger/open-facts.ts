// Counts the facts whose event may still come. A run waits for them before it closes its vehicles, so the last seconds are judged
// too. Pure; which event belongs to which fact is decided by the judgement.
import { factRules } from './facts.ts';
import type { VehicleNotes } from './ledger-types.ts';

/** Inputs are waited for; a tank that has to settle, or a tow, is not: such a fact stays unjudged. */
const waitMostMs = 10_000;

function hasEvent({ boots }: VehicleNotes, code: number, fromMs: number): boolean {
  for (const notes of boots.values()) {
    // Of a boot the newest stand last.
    for (let at = notes.length - 1; at >= 0; at -= 1) {
      const note = notes[at];
      if (note === undefined) continue;
      if (note.storedMs < fromMs) break;
      if (note.code === code) return true;
    }
  }
  return false;
}

/**
 * Number of facts until `of.endMs` without an event and with time left for one.
 * @param of.endMs when the actions ended; @param of.nowMs both ms of the run.
 */
export function countOpenFacts(
  vehicles: Iterable<VehicleNotes>,
  of: { readonly nowMs: number; readonly endMs: number },
): number {
  let count = 0;
  for (const vehicle of vehicles) {
    const { facts } = vehicle;
    for (let at = facts.length - 1; at >= 0; at -= 1) {
      const fact = facts[at];
      if (fact === undefined || fact.atMs + waitMostMs < of.nowMs) break;
      const { code, withinMs } = factRules[fact.kind];
      if (fact.atMs > of.endMs || withinMs > waitMostMs) continue;
      if (!hasEvent(vehicle, code, fact.atMs)) count += 1;
    }
  }
  return count;
}
