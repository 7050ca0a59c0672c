// The status codes as clients read them: every code that Fleetward writes, and the alerts of other makers' trackers. Pure.
import { statusCodes, statusText } from '../../../src/core/events/status-codes.ts';
import { statusMeanings } from '../../../src/core/events/status-meanings.ts';
import { type ActivationCategory, codesByCategory } from './activation.ts';

/** Classes by priority, as a vehicle stores and sends its events. */
export const statusClasses = ['critical', 'alarm', 'change', 'routine'] as const;

export interface StatusEntry {
  /** Status code, 1 to 65535. */
  readonly code: number;
  /** Its name in events: `statusDescription`. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly meaning: string;
  readonly statusClass: (typeof statusClasses)[number];
  /** Category of the activation summary; null for a code that is no alert. */
  readonly category: ActivationCategory | null;
}

/** Alerts of other makers' trackers that Fleetward's own units do not send. */
const meaningsOfTrackers: ReadonlyMap<number, string> = new Map([
  [63559, 'Vehicle alarm'],
  [63617, 'Intrusion'],
]);

const categories: ReadonlyMap<number, ActivationCategory> = new Map(
  (Object.keys(codesByCategory) as ActivationCategory[]).flatMap((category) =>
    codesByCategory[category].map((code) => [code, category] as const),
  ),
);

function ownEntries(): readonly StatusEntry[] {
  return (Object.keys(statusCodes) as (keyof typeof statusCodes)[]).map((key) => {
    const { code, text, priority } = statusCodes[key];
    const statusClass = statusClasses[priority];
    return {
      code,
      name: text,
      meaning: statusMeanings[key],
      statusClass,
      category: categories.get(code) ?? null,
    };
  });
}

function trackerEntries(own: readonly StatusEntry[]): readonly StatusEntry[] {
  const known = new Set(own.map(({ code }) => code));
  return [...categories]
    .filter(([code]) => !known.has(code))
    .map(([code, category]) => ({
      code,
      name: statusText(code),
      meaning: `${meaningsOfTrackers.get(code) ?? 'Input switched on'} (trackers of other makers)`,
      statusClass: 'change',
      category,
    }));
}

/** Every entry, ascending by code. */
export const statusList: readonly StatusEntry[] = (() => {
  const own = ownEntries();
  return [...own, ...trackerEntries(own)].sort((one, other) => one.code - other.code);
})();
