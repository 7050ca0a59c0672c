// Advice of the supplier's signed list on the running release, for `fleetward-agent status`. It never makes the unit degraded.
// Pure.
import { utcText } from '../../../src/core/calendar.ts';
import {
  type Advisory,
  type AdvisoryVerdict,
  advisoriesFor,
  supportedUntil,
} from '../../../src/core/releases/advisories.ts';
import type { StatusLine } from '../kernel/module.ts';
import { standardReleaseKey } from '../update/manifest.ts';

export const standardAdvisories = '/etc/fleetward-agent/advisories.jws';

export interface ReleaseAdvice {
  readonly json: {
    /** Why the list is not used; '' when it is, or when there is none. */
    readonly fault: string;
    readonly isThere: boolean;
    /** YYYY-MM-DD (UTC); null: not known. */
    readonly supportedUntil: string | null;
    readonly advisories: readonly Advisory[];
  };
  readonly lines: readonly StatusLine[];
}

function supportLine(until: string | null, today: string): StatusLine {
  const name = 'Support';
  if (until === null)
    return { level: 'note', name, words: 'the list of the supplier does not say until when', todo: '' };
  if (until >= today) return { level: 'ok', name, words: `security updates until ${until}`, todo: '' };
  return {
    level: 'note',
    name,
    words: `security updates ended on ${until}`,
    todo: 'Update the agent to a release that is supported.',
  };
}

/**
 * @param version Release that runs.
 * @param verdict Of the file; null: there is none.
 * @param nowMs For the end of the support only.
 */
export function adviceOn(version: string, verdict: AdvisoryVerdict | null, nowMs: number): ReleaseAdvice {
  if (verdict?.kind !== 'good') {
    const fault = verdict?.reason ?? '';
    const words =
      verdict === null
        ? 'not known: there is no list of the supplier'
        : `not known: the list of the supplier is not used: ${fault}`;
    const todo = `Put the list and the key of your supplier to ${standardAdvisories} and ${standardReleaseKey}.`;
    const lines: readonly StatusLine[] = [{ level: 'note', name: 'Support', words, todo }];
    return { json: { fault, isThere: verdict !== null, supportedUntil: null, advisories: [] }, lines };
  }
  const advisories = advisoriesFor(verdict.list, 'fleetward-agent', version);
  const until = supportedUntil(verdict.list, 'fleetward-agent', version);
  const known = advisories.map(
    ({ id, severity, summary, action, url }): StatusLine => ({
      level: 'note',
      name: 'Advisory',
      words: `${id} (${severity}): ${summary}`,
      todo: `${action} ${url}`,
    }),
  );
  const today = utcText(nowMs / 1000).slice(0, 10);
  return {
    json: { fault: '', isThere: true, supportedUntil: until, advisories },
    lines: [supportLine(until, today), ...known],
  };
}
