// What a vehicle is about to do with a relay although no command of the ledger asks for it: an order of a geozone or of a service code, and a relay
// that is not as it was confirmed and is to be set again. Its events say it; of each, the newest counts.
import {
  type CommandState,
  type FeatureName,
  type FeatureState,
  type FleetEvent,
  featureNames,
} from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { type Verdict, verdictFrom } from '../../../src/core/verdict/verdict.ts';
import { impliedState } from './implied-state.ts';

const sources = ['zone', 'service'] as const;
/** What asks for it. `relay`: what was confirmed, as the relay is not so any more. */
export type OrderOrigin = (typeof sources)[number] | 'relay';

export interface OwnOrder {
  readonly origin: OrderOrigin;
  readonly state: FeatureState;
  readonly commandState: OpenState;
  /** What it waits for; null: nothing was reported. */
  readonly verdict: Verdict | null;
}

const openStates = ['received', 'armed', 'executing', 'unknown'] as const satisfies readonly CommandState[];
type OpenState = (typeof openStates)[number];

/** What one event says of such orders of one relay; `order` null: there is none any more. */
export interface OwnOrderReport {
  readonly name: string;
  readonly order: OwnOrder | null;
}

/** State of a device that holds an own order: one that is to move the relay, and one that is to set it as it was. */
const stateName = (feature: FeatureName, kind: 'order' | 'repair'): string => `${kind}.${feature}`;

/** Every state that may hold an own order. */
export const ownOrderNames: readonly string[] = featureNames.flatMap((feature) => [
  stateName(feature, 'order'),
  stateName(feature, 'repair'),
]);

const featureFrom = (value: unknown): FeatureName | undefined => featureNames.find((name) => name === value);
const stateFrom = (value: unknown): FeatureState | null => (value === '0' || value === '1' ? value : null);

const { RELAY_MISMATCH, RELAY_FAULT, RELAY_RESTORED } = statusCodes;

/** The relay is as the event says. */
const isSettledBy = (statusCode: number, feature: FeatureName): boolean =>
  statusCode === RELAY_RESTORED.code || impliedState(statusCode)?.name === feature;

function repairIn({ statusCode, attributes }: FleetEvent, feature: FeatureName): OwnOrderReport | null {
  const name = stateName(feature, 'repair');
  if (isSettledBy(statusCode, feature)) return { name, order: null };
  const state = stateFrom(attributes?.['wanted']);
  if (state === null) return null;
  const order: OwnOrder = { origin: 'relay', state, commandState: 'armed', verdict: null };
  if (statusCode === RELAY_MISMATCH.code) return { name, order };
  // A cut that did not follow is given up; the safe state is tried for good.
  return statusCode === RELAY_FAULT.code ? { name, order: state === '1' ? null : order } : null;
}

function orderIn(event: FleetEvent, feature: FeatureName): OwnOrderReport | null {
  const { statusCode, attributes, commandState } = event;
  const name = stateName(feature, 'order');
  // A unit that has lost its record adopts the relay as it finds it: it has no order any more.
  if (commandState === undefined) return isSettledBy(statusCode, feature) ? { name, order: null } : null;
  const origin = sources.find((one) => one === attributes?.['source']);
  const state = stateFrom(attributes?.['state']);
  if (origin === undefined || state === null) return null;
  const open = openStates.find((one) => one === commandState);
  const order =
    open === undefined ? null : { origin, state, commandState: open, verdict: verdictFrom(attributes) };
  return { name, order };
}

/** What an event says of own orders; most say nothing. */
export function ownOrderReports(event: FleetEvent): readonly OwnOrderReport[] {
  const feature = featureFrom(event.attributes?.['feature']);
  if (feature === undefined) return [];
  return [orderIn(event, feature), repairIn(event, feature)].filter((one) => one !== null);
}

/** As the state of a device holds it; empty: there is none. */
export const ownOrderText = (order: OwnOrder | null): string => (order === null ? '' : JSON.stringify(order));

/**
 * The own order of a relay, and when it was reported (UTC ms); null: there is none. A relay that is as it should be is not set again, although no event
 * may have said so: the unit ended before.
 * @param states of the device, some written by `ownOrderText`.
 */
export function ownOrderOf(
  feature: FeatureName,
  states: ReadonlyMap<string, { readonly state: string; readonly changedMs: number }>,
): (OwnOrder & { readonly reportedMs: number }) | null {
  for (const kind of ['order', 'repair'] as const) {
    const held = states.get(stateName(feature, kind));
    if (held === undefined || held.state === '') continue;
    const order = JSON.parse(held.state) as OwnOrder;
    if (order.origin === 'relay' && order.state === states.get(feature)?.state) continue;
    return { ...order, reportedMs: held.changedMs };
  }
  return null;
}
