// What stands in the form of a cut while the browser is at the login provider. It holds no secret, and lives as long as the tab.
import { type CutReason, cutReasonCodes } from '../../../src/core/cut-reason.ts';
import { cutLifeS, noteMost, usualLifeS } from '../state/cut-view.ts';

interface Draft {
  readonly deviceID: string;
  readonly reason: CutReason | null;
  readonly note: string;
  readonly lifeS: number;
}

const key = 'fleetward.cut-draft';

export function keepDraft(draft: Draft): void {
  sessionStorage.setItem(key, JSON.stringify(draft));
}

export function dropDraft(): void {
  sessionStorage.removeItem(key);
}

/** The draft of this vehicle; null without one. */
export function draftOf(deviceID: string): Draft | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    if (kept?.deviceID !== deviceID) return null;
    return {
      deviceID,
      reason: cutReasonCodes.find((one) => one === kept.reason) ?? null,
      note: typeof kept.note === 'string' ? kept.note.slice(0, noteMost) : '',
      lifeS: cutLifeS.find((one) => one === kept.lifeS) ?? usualLifeS,
    };
  } catch {
    return null;
  }
}
