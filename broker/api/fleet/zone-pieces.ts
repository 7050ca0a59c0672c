// Geozones of an account as bytes of JSON.
import type { Database } from '../../../src/ports.ts';
import { type GeozoneRow, listGeozones } from '../../store/geozones/geozones.ts';
import { viewGeozone, zonesPerPage } from '../geozones/geozone-views.ts';
import { NotCached } from './not-cached.ts';

export interface ZonePieces {
  readonly revision: number;
  readonly bytes: number;
  /** Members of a JSON object with commas between them, for callers who may change geozones. */
  readonly changeable: readonly Buffer[];
  /** The same for callers who may only read them. */
  readonly readable: readonly Buffer[];
}

const pieceOf = (rows: readonly GeozoneRow[], mayUpdate: boolean, isFirst: boolean): Buffer =>
  Buffer.from(
    (isFirst ? '' : ',') +
      rows
        .map((row) => `${JSON.stringify(row.geozoneID)}:${JSON.stringify(viewGeozone(row, mayUpdate))}`)
        .join(),
  );

/** @throws NotCached when they are more than `bytesMost`. */
export async function readZonePieces(
  db: Database,
  accountID: string,
  { revision, bytesMost }: { readonly revision: number; readonly bytesMost: number },
): Promise<ZonePieces> {
  const changeable: Buffer[] = [];
  const readable: Buffer[] = [];
  let bytes = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly GeozoneRow[] = await listGeozones(db, { accountID, after, limit: zonesPerPage });
    if (rows.length > 0) {
      const isFirst = after === '';
      changeable.push(pieceOf(rows, true, isFirst));
      readable.push(pieceOf(rows, false, isFirst));
      bytes += (changeable.at(-1)?.length ?? 0) + (readable.at(-1)?.length ?? 0);
    }
    if (bytes > bytesMost) throw new NotCached('the geozones are larger than what is held');
    after = rows.length < zonesPerPage ? undefined : rows.at(-1)?.geozoneID;
  }
  return { revision, bytes, changeable, readable };
}
