// Requests to a running simulation, as text and as data. Pure. Incomplete requests and faults that this run cannot carry out are
// refused.
import { AppError } from '../../../src/core/errors.ts';
import { checkScenario } from '../scenario/scenario.ts';
import { type Fault, type FaultKind, faultKinds, type Scenario } from '../scenario/scenario-schema.ts';
import { countOf } from '../text/number-text.ts';

export type ControlRequest =
  | { readonly kind: 'status' }
  /** Vehicles by number, from 1, both included. */
  | { readonly kind: 'rate'; readonly factor: number; readonly from: number; readonly to: number }
  | { readonly kind: 'fault'; readonly fault: Omit<Fault, 'atS'> };

/** A request that was carried out during the run. */
export interface Intervention {
  readonly atS: number;
  readonly request: Exclude<ControlRequest, { readonly kind: 'status' }>;
}

export function formatIntervention({ request }: Intervention): string {
  if (request.kind === 'rate')
    return `rate × ${request.factor} for the vehicles ${request.from} to ${request.to}`;
  const { kind, forS, share } = request.fault;
  return `${kind} for ${forS} s, ${Math.round(share * 100)} % of the fleet`;
}

/** Shares of the fleet whose links can be struck through the control socket. */
export const linkShares = [0.1, 0.25, 0.5, 1] as const;

const linkPrefix = 'link-';
const isKind = (text: string): text is FaultKind => (faultKinds as readonly string[]).includes(text);

/** A kind of fault by its name, or by the part behind `link-`. @throws AppError `usage` that names them all. */
export function parseFaultKind(text: string): FaultKind {
  if (isKind(text)) return text;
  const long = `${linkPrefix}${text}`;
  if (isKind(long)) return long;
  throw new AppError('usage', `There is no fault "${text}"`, { hint: `There are ${faultKinds.join(', ')}.` });
}

/** `x2`, `2`, `x0.5`. @throws AppError `usage`. */
export function parseFactor(text: string): number {
  const factor = Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1] ?? Number.NaN);
  if (factor >= 0 && factor <= 100) return factor;
  throw new AppError('usage', `A rate is such as x2 or x0.5, from x0 to x100, and not "${text}"`);
}

/** `1-100`, or one number. @throws AppError `usage`. */
export function parseDevices(text: string): { readonly from: number; readonly to: number } {
  const [, first = '', last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from >= 1 && to >= from) return { from, to };
  throw new AppError('usage', `Devices are such as 1-100, and not "${text}"`);
}

/** `10s`, `1.5m`, `500ms` or seconds; in seconds. @throws AppError `usage`. */
export function parseSeconds(text: string): number {
  const [, digits = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const perUnit = { ms: 0.001, s: 1, m: 60, h: 3600 }[unit];
  if (digits !== '' && perUnit !== undefined) return Number(digits) * perUnit;
  throw new AppError('usage', `A time is such as 10s, 500ms or 2m, and not "${text}"`);
}

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const wrong = (words: string): AppError => new AppError('usage', words);

function rateOf(value: Table, scenario: Scenario): ControlRequest {
  const { factor, from, to } = value;
  const isFactor = typeof factor === 'number' && factor >= 0 && factor <= 100;
  const isRange = typeof from === 'number' && typeof to === 'number' && from >= 1 && to >= from;
  if (!isFactor || !isRange || !Number.isInteger(from) || !Number.isInteger(to))
    throw wrong('A rate needs a factor from 0 to 100 and the numbers of the first and last vehicle');
  const { devices } = scenario.fleet;
  if (to > devices) throw wrong(`The fleet has ${countOf(devices, 'vehicle')}, and no number ${to}`);
  return { kind: 'rate', factor, from, to };
}

/** Checked by the rules of a scenario file. */
function faultOf(value: Table, of: ControlContext): ControlRequest {
  const { scenario, atS, ownsBroker } = of;
  const { atS: _, ...given } = isTable(value['fault']) ? value['fault'] : {};
  const verdict = checkScenario({
    title: scenario.title,
    durationS: scenario.durationS,
    fleet: { kind: scenario.fleet.kind },
    faults: [{ ...given, atS }],
  });
  if (verdict.kind === 'faults')
    throw wrong(
      verdict.faults
        .map(({ pointer, message }) => `${pointer.replace('/faults/0', '')} ${message}`)
        .join('; '),
    );
  const [fault] = verdict.scenario.faults;
  if (fault === undefined) throw wrong('The request names no fault');
  if (fault.kind === 'broker-kill' && !ownsBroker)
    throw wrong('A broker that the run did not start is never killed');
  const isLink = fault.kind.startsWith(linkPrefix) || fault.kind === 'slow-consumer';
  if (isLink && !of.linkShares.includes(fault.share))
    throw wrong(
      of.linkShares.length === 0
        ? 'The links of this run are encrypted or without proxies: they cannot be struck'
        : `Links are struck in shares of ${of.linkShares.join(', ')}, and not of ${fault.share}`,
    );
  const { atS: _at, ...rest } = fault;
  return { kind: 'fault', fault: rest };
}

export interface ControlContext {
  readonly scenario: Scenario;
  /** When it would begin, seconds since the start. */
  readonly atS: number;
  readonly ownsBroker: boolean;
  /** Shares of the fleet whose links this run can strike. */
  readonly linkShares: readonly number[];
}

/** A request from what came over the socket. @throws AppError `usage`. */
export function parseRequest(text: string, context: ControlContext): ControlRequest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong('The request is not JSON');
  }
  const kind = isTable(value) ? value['kind'] : undefined;
  if (!isTable(value)) throw wrong('The request is not an object');
  if (kind === 'status') return { kind };
  if (context.atS < 0 || context.atS >= context.scenario.durationS)
    throw wrong('The run has not begun or its duration is over: it cannot be changed now');
  if (kind === 'rate') return rateOf(value, context.scenario);
  if (kind === 'fault') return faultOf(value, context);
  throw wrong('A request is of the kind status, rate or fault');
}
