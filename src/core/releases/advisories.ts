// The supplier's list of known vulnerabilities and of support periods. Records follow the Open Source Vulnerability format (OSV 1.7,
// ossf.github.io/osv-schema), of which other members are ignored. Pure; a list counts only after its signature was checked
// (`../../adapters/advisory-file.ts`).
import { dayNumberOfText } from '../calendar.ts';
import { isObject, isText, type JsonObject, parseObject } from '../wire/wire-checks.ts';
import { compareVersions, isVersion } from './version.ts';

/** Type in the header of the signature (JWS, RFC 7515). */
export const advisoriesType = 'fleetward-advisories';
/** Of the list; another one is refused. */
const listFormat = 1;
export const advisoryLimits = {
  bytes: 256 * 1024,
  records: 500,
  ranges: 20,
  events: 40,
  characters: 500,
} as const;

export const severities = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof severities)[number];
export type ProgramName = 'fleetward-agent' | 'fleetward-broker';

/** A version from which a fault is there (`introduced`; `0`: from the first) or is not (`fixed`). */
interface RangeEvent {
  readonly kind: 'introduced' | 'fixed';
  readonly version: string;
}

export interface Advisory {
  readonly id: string;
  readonly summary: string;
  readonly severity: Severity;
  /** What to do, in one sentence. */
  readonly action: string;
  /** https. */
  readonly url: string;
  readonly affected: readonly {
    readonly program: string;
    /** Each ascending by version. */
    readonly ranges: readonly (readonly RangeEvent[])[];
  }[];
}

export interface AdvisoryList {
  readonly advisories: readonly Advisory[];
  /** Of each program, from this version to the next one listed; `until` is the last day, YYYY-MM-DD (UTC). */
  readonly support: readonly { readonly program: string; readonly from: string; readonly until: string }[];
}

export type AdvisoryVerdict =
  | { readonly kind: 'good'; readonly list: AdvisoryList }
  | { readonly kind: 'bad'; readonly reason: string };

/** Says where the first fault is; caught in `parseAdvisories`. */
class Fault extends Error {}
function fail(place: string, wanted: string): never {
  throw new Fault(`${place}: not ${wanted}`);
}

const objectAt = (value: unknown, place: string): JsonObject =>
  isObject(value) ? value : fail(place, 'an object');

/** A list of objects, each read by `itemAt`. */
function listAt<Item>(
  value: unknown,
  place: string,
  most: number,
  itemAt: (item: JsonObject, place: string) => Item,
): readonly Item[] {
  if (!Array.isArray(value) || value.length > most) return fail(place, `a list of at most ${most}`);
  const items: readonly unknown[] = value;
  return items.map((item, at) => itemAt(objectAt(item, `${place}/${at}`), `${place}/${at}`));
}

/** It is printed to terminals: no control characters. */
function textAt(value: unknown, place: string): string {
  const isGood = isText(value, advisoryLimits.characters) && value !== '' && !/\p{Cc}/u.test(value);
  return isGood ? value : fail(place, `a text of 1 to ${advisoryLimits.characters} characters`);
}

function eventAt(value: JsonObject, place: string): RangeEvent {
  const { introduced, fixed } = value;
  const kind = introduced === undefined ? 'fixed' : 'introduced';
  const version = introduced ?? fixed;
  if (typeof version !== 'string' || !(isVersion(version) || (kind === 'introduced' && version === '0')))
    return fail(place, '`introduced` or `fixed` with a version');
  return { kind, version };
}

function rangeAt(value: JsonObject, place: string): readonly RangeEvent[] {
  if (value['type'] !== 'SEMVER') fail(`${place}/type`, 'SEMVER');
  const events = listAt(value['events'], `${place}/events`, advisoryLimits.events, eventAt);
  // Without `introduced` a range would match no version and hide the mistake.
  if (!events.some(({ kind }) => kind === 'introduced')) fail(`${place}/events`, 'with one `introduced`');
  return events.toSorted((one, other) => compareVersions(one.version, other.version));
}

const affectedAt = (value: JsonObject, place: string): Advisory['affected'][number] => ({
  program: textAt(objectAt(value['package'], `${place}/package`)['name'], `${place}/package/name`),
  ranges: listAt(value['ranges'], `${place}/ranges`, advisoryLimits.ranges, rangeAt),
});

function advisoryAt(value: JsonObject, place: string): Advisory {
  const own = objectAt(value['database_specific'], `${place}/database_specific`);
  const severity = severities.find((one) => one === own['severity']);
  const url = textAt(
    listAt(value['references'], `${place}/references`, 20, objectAt)[0]?.['url'],
    `${place}/references/0/url`,
  );
  if (!url.startsWith('https://')) fail(`${place}/references/0/url`, 'an https address');
  return {
    id: textAt(value['id'], `${place}/id`),
    summary: textAt(value['summary'], `${place}/summary`),
    severity: severity ?? fail(`${place}/database_specific/severity`, severities.join(', ')),
    action: textAt(own['action'], `${place}/database_specific/action`),
    url,
    affected: listAt(value['affected'], `${place}/affected`, advisoryLimits.ranges, affectedAt),
  };
}

function supportAt(value: JsonObject, place: string): AdvisoryList['support'][number] {
  const { from, until } = value;
  if (typeof from !== 'string' || !isVersion(from)) return fail(`${place}/from`, 'a version');
  if (typeof until !== 'string' || dayNumberOfText(until) === null)
    return fail(`${place}/until`, 'a day such as 2031-12-31');
  return { program: textAt(value['program'], `${place}/program`), from, until };
}

/** Reads a list; never throws. The reason names the member that is wrong. */
export function parseAdvisories(bytes: Uint8Array): AdvisoryVerdict {
  const bad = (reason: string): AdvisoryVerdict => ({ kind: 'bad', reason });
  if (bytes.length > advisoryLimits.bytes) return bad(`it is longer than ${advisoryLimits.bytes} bytes`);
  const value = parseObject(bytes);
  if (value === null) return bad('it is not a JSON object');
  if (value['format'] !== listFormat)
    return bad(
      `its format is ${JSON.stringify(value['format'])}, this program reads ${listFormat}: update the program`,
    );
  try {
    const advisories = listAt(value['advisories'], 'advisories', advisoryLimits.records, advisoryAt);
    const support = listAt(value['support'], 'support', advisoryLimits.records, supportAt);
    return { kind: 'good', list: { advisories, support } };
  } catch (thrown) {
    if (thrown instanceof Fault) return bad(thrown.message);
    throw thrown;
  }
}

/** The advisories that concern this version, the worst first. By the last event at or below it, as OSV evaluates ranges. */
export function advisoriesFor(
  list: AdvisoryList,
  program: ProgramName,
  version: string,
): readonly Advisory[] {
  const isIn = (events: readonly RangeEvent[]): boolean =>
    events.findLast((event) => compareVersions(event.version, version) <= 0)?.kind === 'introduced';
  const concerns = (one: Advisory['affected'][number]): boolean =>
    one.program === program && one.ranges.some(isIn);
  return list.advisories
    .filter(({ affected }) => affected.some(concerns))
    .toSorted((one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity));
}

/** The last day on which this version gets security updates, YYYY-MM-DD (UTC); null: the list does not say. */
export function supportedUntil(list: AdvisoryList, program: ProgramName, version: string): string | null {
  const entries = list.support
    .filter((one) => one.program === program && compareVersions(one.from, version) <= 0)
    .toSorted((one, other) => compareVersions(one.from, other.from));
  return entries.at(-1)?.until ?? null;
}
