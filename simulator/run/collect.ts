// Reads back what the service holds of this run, page by page, and hands each record to the ledger. It asks for everything that
// was stored since the run began, whatever its time says.
import type { Ledger } from '../core/ledger.ts';
import type { ShownEvent } from '../core/ledger-types.ts';
import type { Service } from './service.ts';

interface Page {
  readonly eventdata: { readonly devices: readonly ShownEvent[] };
  readonly more?: boolean;
  readonly next?: string | null;
  readonly upTo?: string;
}

const pageSize = 5000;
const fields =
  'deviceID,eventID,statusCode,timestamp,latitude,longitude,isPositionValid,speed,heading,commandID';
const pathOf = (query: string): string => `/eventdata/fleetdata/0/0/authorization?${query}`;

/** The number of the newest event of the service: what comes later is of this run. */
export async function findBeginning(service: Service): Promise<string> {
  const { upTo } = await service.call<Page>({ path: pathOf('limit=1&fields=eventID') });
  return upTo ?? '0';
}

/** Shows the ledger everything that was stored after `since`; gives the number of records. */
export async function collect(service: Service, ledger: Ledger, since: string): Promise<number> {
  let count = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = await service.call<Page>({
      path: pathOf(`limit=${pageSize}&since=${since}&fields=${fields}${place}`),
    });
    for (const record of page.eventdata.devices) ledger.shown(record);
    count += page.eventdata.devices.length;
    cursor = page.more === true ? (page.next ?? null) : null;
  }
  return count;
}
