// Requests of geozones at an arrival or departure, and which are passed on. Safe requests win over others at one
// moment; an engine cut is never requested on a suspect position or while panic is active. Whether and when a relay moves is decided by the interlock alone.
import type { AttributeValue, FeatureName, FeatureState } from '../../../src/core/events/event.ts';
import type { ZoneSwitch } from '../../../src/core/geo/geozone.ts';
import { circumstancesOf } from '../../../src/core/zones/crossing.ts';
import type { Crossing } from '../../../src/core/zones/zone-watch.ts';
import type { ZoneSide } from '../protection/command-record.ts';

export const sideOf = ({ zone, mark }: Crossing): ZoneSide => ({ id: zone.id, to: mark.to });

/** A change of a relay that a zone asks for. */
export interface ZoneRequest {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly reason: string;
  /** Where the vehicle is then: beyond the border again, what still waits is withdrawn. */
  readonly side: ZoneSide;
}

export interface AutomationContext {
  /** Null: there is a panic input, and it is not known. */
  readonly panic: boolean | null;
  /** A doubtful position arrived lately. */
  readonly isSuspect: boolean;
  readonly fitted: readonly FeatureName[];
}

/** Requests of one crossing and their outcome, as attributes of its event. */
export interface CrossingReport {
  readonly crossing: Crossing;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

type Verb = 'EngineOn' | 'EngineOff' | 'CabinLock' | 'CabinUnlock' | 'CargoLock' | 'CargoUnlock';

const verbs = {
  EngineOn: { name: 'engine', word: 'on', feature: 'enginecutoff', state: '0', beats: null },
  CargoLock: { name: 'cargo', word: 'lock', feature: 'cargoaccess', state: '0', beats: null },
  EngineOff: { name: 'engine', word: 'off', feature: 'enginecutoff', state: '1', beats: 'EngineOn' },
  CargoUnlock: { name: 'cargo', word: 'unlock', feature: 'cargoaccess', state: '1', beats: 'CargoLock' },
  CabinLock: { name: 'cabin', word: 'lock', feature: null, state: '0', beats: null },
  CabinUnlock: { name: 'cabin', word: 'unlock', feature: null, state: '1', beats: null },
} as const satisfies Record<
  Verb,
  {
    readonly name: string;
    readonly word: string;
    /** Null: this vehicle has no relay for it. */
    readonly feature: FeatureName | null;
    readonly state: FeatureState;
    /** The request that wins over this one at the same moment. */
    readonly beats: Verb | null;
  }
>;
const verbNames = Object.keys(verbs) as readonly Verb[];

function switchOf({ mark }: Crossing, verb: Verb): ZoneSwitch {
  return `${mark.to === 'inside' ? 'arrival' : 'departure'}${verb}`;
}

const asks = (crossing: Crossing, verb: Verb): boolean =>
  crossing.zone.switches.includes(switchOf(crossing, verb));

/** Why a request is not passed on; null when it is. */
function hindrance(verb: Verb, crossings: readonly Crossing[], around: AutomationContext): string | null {
  const { feature, beats } = verbs[verb];
  if (feature === null || !around.fitted.includes(feature)) return 'not fitted';
  if (beats !== null && crossings.some((other) => asks(other, beats)))
    return `not asked: a zone at the same place asks for ${verbs[beats].word}`;
  if (verb !== 'EngineOff') return null;
  if (around.panic !== false) return `not asked: panic is ${around.panic === null ? 'unknown' : 'active'}`;
  return around.isSuspect ? 'not asked: the position was suspect lately' : null;
}

/**
 * Decides the requests of all crossings of one moment.
 * @param drifts borders that the position of a vehicle at rest is beyond: nothing is requested, but what they ask for
 * safely still wins.
 * @returns for each its attributes: `alert` (a notification is wanted), `dwellS`, where it applies `gapS`, `reason`, and `engine`, `cargo`, `cabin` with the request and why it is not passed on; and the requests,
 * one a feature at most, safe ones first.
 */
export function decideAutomations(
  crossings: readonly Crossing[],
  around: AutomationContext,
  drifts: readonly Crossing[] = [],
): { readonly reports: readonly CrossingReport[]; readonly requests: readonly ZoneRequest[] } {
  const requests: ZoneRequest[] = [];
  const outcomes = new Map<Crossing, Record<string, AttributeValue>>();
  for (const verb of verbNames) {
    const { name, word, feature, state } = verbs[verb];
    const why = hindrance(verb, [...crossings, ...drifts], around);
    for (const crossing of crossings.filter((one) => asks(one, verb))) {
      const outcome = outcomes.get(crossing) ?? {};
      // A zone that requests both opposites gets both outcomes.
      const before = outcome[name] === undefined ? '' : `${outcome[name]}; `;
      outcomes.set(crossing, { ...outcome, [name]: `${before}${word} ${why ?? 'asked'}` });
      if (why !== null || feature === null || requests.some((one) => one.feature === feature)) continue;
      const what = crossing.mark.to === 'inside' ? 'arrival' : 'departure';
      const reason = `geozone ${crossing.zone.id}: ${what}`;
      requests.push({ feature, state, reason, side: sideOf(crossing) });
    }
  }
  const reports = crossings.map((crossing) => ({
    crossing,
    attributes: {
      ...circumstancesOf(crossing),
      dwellS: Math.round(crossing.dwellMs / 1000),
      ...outcomes.get(crossing),
    },
  }));
  return { reports, requests };
}
