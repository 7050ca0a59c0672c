// Reads the service's records of this run into the ledger, page by page: everything stored since its begin, with any timestamp.
// It also reads the relay states of vehicles with commands or relay moves.
import { featureNames } from '../../../src/core/events/event.ts';
import { isAlert } from '../../core/judgement/judgement-alerts.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { ShownEvent } from '../../core/ledger/ledger-types.ts';
import { forAll } from '../shared/for-all.ts';
import type { Service } from './service.ts';

interface Page {
  readonly eventdata: { readonly devices: readonly ShownEvent[] };
  readonly more?: boolean;
  readonly next?: string | null;
  readonly upTo?: string;
}

const pageSize = 5000;
const pathOf = (query: string): string => `/eventdata/fleetdata/0/0/authorization?${query}`;

/** @returns the number of the newest event of the service: later ones belong to this run. */
export async function findNewestEvent(service: Service): Promise<string> {
  const { upTo } = await service.call<Page>({ path: pathOf('limit=1&fields=eventID') });
  return upTo ?? '0';
}

export interface ReadBack {
  /** Records of the vehicles that were asked for, in the order of the listing. */
  readonly kept: ReadonlyMap<string, readonly ShownEvent[]>;
  /** Records of alerts, of every vehicle of the run. */
  readonly alerts: readonly ShownEvent[];
}

/**
 * Records in the ledger every event that was stored after `since`.
 * @param of.isSameClock the service reads the clock of this machine.
 * @param of.keep vehicles whose records are returned.
 */
export async function readBackEvents(
  service: Service,
  ledger: Ledger,
  of: { readonly since: string; readonly isSameClock: boolean; readonly keep: readonly string[] },
): Promise<ReadBack> {
  const kept = new Map<string, ShownEvent[]>(of.keep.map((deviceID) => [deviceID, []]));
  const alerts: ShownEvent[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = await service.call<Page>({
      path: pathOf(`limit=${pageSize}&since=${of.since}${place}`),
    });
    for (const record of page.eventdata.devices) {
      ledger.shown(record, of.isSameClock);
      kept.get(record.deviceID)?.push(record);
      if (isAlert(record) && ledger.vehicles.has(record.deviceID)) alerts.push(record);
    }
    cursor = page.more === true ? (page.next ?? null) : null;
  }
  return { kept, alerts };
}

interface DeviceStates {
  readonly state?: Readonly<Record<string, { readonly state?: unknown } | undefined>>;
}

/** Records in the ledger the state that the service shows of every relay that was commanded or has moved. */
export async function readBackStates(service: Service, ledger: Ledger): Promise<void> {
  const commanded = [...ledger.commands.values()].map(({ deviceID }) => deviceID);
  const moved = [...ledger.vehicles.values()].flatMap(({ deviceID, contacts }) =>
    contacts.length > 0 ? [deviceID] : [],
  );
  await forAll([...new Set([...commanded, ...moved])], async (deviceID) => {
    const { state } = await service.call<DeviceStates>({
      path: `/device/getdevice/${deviceID}/authorization`,
    });
    for (const feature of featureNames) {
      const shown = state?.[feature]?.state;
      ledger.shownState(deviceID, feature, typeof shown === 'string' ? shown : 'nothing');
    }
  });
}
