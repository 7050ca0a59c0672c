// What the supplier's list says of this broker and of the units of the fleet. Pure.
import { dayNumberOfText } from '../../../src/core/calendar.ts';
import {
  type Advisory,
  type AdvisoryVerdict,
  advisoriesFor,
  supportedUntil,
} from '../../../src/core/releases/advisories.ts';
import type { AdvisoryFacts } from './service-facts.ts';

/** Units that run one release of the agent. */
export interface ReleaseUnits {
  readonly version: string;
  readonly units: number;
}

/** The earliest end; 0: one of them is not known, or there is none. */
function earliest(days: readonly (string | null)[]): number {
  const ends = days.flatMap((day) => {
    const number = day === null ? null : dayNumberOfText(day);
    return number === null ? [] : [(number + 1) * 86_400 - 1];
  });
  return ends.length === 0 || ends.length < days.length ? 0 : Math.min(...ends);
}

/** @param verdict Null: there is no such file. */
export function advisoryFacts(
  verdict: AdvisoryVerdict | null,
  version: string,
  fleet: readonly ReleaseUnits[],
): AdvisoryFacts {
  const none = { serviceUntilAtS: 0, unitsUntilAtS: 0, listed: [] };
  if (verdict === null) return { ...none, fault: 'there is no such file' };
  if (verdict.kind === 'bad') return { ...none, fault: verdict.reason };
  const { list } = verdict;
  const service = new Set(advisoriesFor(list, 'fleetward-broker', version));
  const units = new Map<Advisory, number>();
  for (const release of fleet)
    for (const advisory of advisoriesFor(list, 'fleetward-agent', release.version))
      units.set(advisory, (units.get(advisory) ?? 0) + release.units);
  const listed = list.advisories
    .filter((one) => service.has(one) || units.has(one))
    .map((one) => {
      const { id, severity, summary, action, url } = one;
      return {
        id,
        severity,
        summary,
        action,
        url,
        isOfService: service.has(one),
        units: units.get(one) ?? 0,
      };
    });
  return {
    fault: '',
    serviceUntilAtS: earliest([supportedUntil(list, 'fleetward-broker', version)]),
    unitsUntilAtS: earliest(fleet.map((one) => supportedUntil(list, 'fleetward-agent', one.version))),
    listed,
  };
}
