// The fleet of one account in memory. Before every answer its revision is compared with the one that the request found in the
// store, and later changes are read. So callers always see their own changes, of any process.
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { FleetCaller, FleetPart, FleetRange } from '../../ports/fleet-cache.ts';
import { wholeAccount } from '../../store/base/scope.ts';
import {
  countDevices,
  type FleetRevisions,
  fleetMembers,
  fleetRevisions,
  needsWholeList,
} from '../../store/devices/fleet.ts';
import { type Fragment, FragmentStore } from './fragments.ts';
import { NotCached } from './not-cached.ts';
import { readFragments } from './read-fragments.ts';
import { readZonePieces, type ZonePieces } from './zone-pieces.ts';

/** Group-limited users whose visible devices are cached; the entry made first is evicted. */
const selectionsMost = 200;

/** Positions of the devices that a user sees. */
interface Selection {
  readonly membersRevision: number;
  readonly indexes: readonly number[];
}

interface Content {
  readonly revisions: FleetRevisions;
  readonly devices: FragmentStore;
}

interface Choice {
  /** Null: all devices. */
  readonly indexes: readonly number[] | null;
  readonly hasMore: boolean;
}

/** @param visible positions of the devices that the caller sees; null: all. */
function choose(
  devices: FragmentStore,
  visible: readonly number[] | null,
  { after, limit, since }: FleetRange,
): Choice {
  if (visible === null && after === '' && limit === null && since === null)
    return { indexes: null, hasMore: false };
  const first = after === '' ? 0 : devices.indexFrom(after);
  const indexes: number[] = [];
  /** False when the part is full. */
  const offer = (index: number): boolean => {
    const isWanted =
      index >= first &&
      devices.idAt(index) !== after &&
      (since === null || devices.revisionAt(index) > since);
    if (isWanted && indexes.length === limit) return false;
    if (isWanted) indexes.push(index);
    return true;
  };
  if (visible !== null) return { indexes, hasMore: !visible.every(offer) };
  for (let index = first; index < devices.count; index++)
    if (!offer(index)) return { indexes, hasMore: true };
  return { indexes, hasMore: false };
}

export class AccountCache {
  readonly #db: Database;
  readonly #accountID: string;
  readonly #bytesMost: number;
  #content: Content | null = null;
  #zones: ZonePieces | null = null;
  #refreshing: Promise<void> | null = null;
  readonly #selections = new Map<string, Selection>();

  /** @param bytesMost more than this is not held. */
  constructor(db: Database, accountID: string, bytesMost: number) {
    this.#db = db;
    this.#accountID = accountID;
    this.#bytesMost = bytesMost;
  }

  /** Bytes of JSON that it holds. */
  get bytes(): number {
    return (this.#content?.devices.bytes ?? 0) + (this.#zones?.bytes ?? 0);
  }

  /** @throws NotCached; AppError `storage`. */
  async part(caller: FleetCaller, range: FleetRange): Promise<FleetPart> {
    for (;;) {
      const content = await this.#current(caller);
      const { devices, revisions } = content;
      const visible = caller.scope.limitedTo === null ? null : await this.#visible(content, caller.scope);
      const isWhole = needsWholeList(revisions, range.since);
      const { indexes, hasMore } = choose(devices, visible, isWhole ? { ...range, since: null } : range);
      const pieces = await devices.prepare(range, indexes);
      // Devices or groups may have changed while that was read: positions of one fleet fit no other.
      if (this.#content?.devices !== devices || this.#content.revisions.members !== revisions.members)
        continue;
      return {
        pieces,
        next: hasMore ? devices.idAt(indexes?.at(-1) ?? 0) : null,
        isWhole,
        revision: revisions.fleet,
      };
    }
  }

  /** @throws NotCached; AppError `storage`. */
  async zones(caller: FleetCaller, mayUpdate: boolean): Promise<readonly Buffer[]> {
    const content = await this.#current(caller);
    const revision = content.revisions.zones;
    const { scope } = caller;
    if (scope.limitedTo !== null && (await this.#visible(content, scope)).length === 0) return [];
    const known = this.#zones;
    const zones =
      known?.revision === revision
        ? known
        : await readZonePieces(this.#db, this.#accountID, { revision, bytesMost: this.#bytesMost });
    this.#zones = zones;
    return mayUpdate ? zones.changeable : zones.readable;
  }

  async #current({ fleetRevision }: FleetCaller): Promise<Content> {
    for (;;) {
      const content = this.#content;
      if (content !== null && content.revisions.fleet >= fleetRevision) return content;
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = null;
      });
      await this.#refreshing;
    }
  }

  async #refresh(): Promise<void> {
    // First, so that all that is read below is at least of this revision.
    const revisions = await fleetRevisions(this.#db, this.#accountID);
    if (revisions === null) throw new NotCached('there is no such account');
    const content = this.#content;
    if (content === null) {
      this.#content = { revisions, devices: await this.#readAll() };
    } else if (content.revisions.members !== revisions.members) {
      this.#content = { revisions, devices: await this.#readMembers(content) };
    } else {
      const { devices } = content;
      for await (const page of readFragments(this.#db, this.#accountID, content.revisions.fleet))
        for (const fragment of page) devices.replace(fragment);
      this.#content = { revisions, devices };
    }
  }

  async #readAll(): Promise<FragmentStore> {
    const count = await countDevices(this.#db, this.#accountID);
    const all: Fragment[] = [];
    let bytes = 0;
    for await (const page of readFragments(this.#db, this.#accountID, null)) {
      all.push(...page);
      for (const { json } of page) bytes += json.length;
      // Estimates the size by the first devices, so that a fleet that is too large is not read in vain.
      if (Math.max(bytes, (bytes / all.length) * count) > this.#bytesMost)
        throw new NotCached('the fleet is larger than what is held');
    }
    return new FragmentStore(all);
  }

  /** Devices came or went: those that did not change are taken over. */
  async #readMembers({ devices, revisions }: Content): Promise<FragmentStore> {
    const members = await fleetMembers(this.#db, wholeAccount(this.#accountID));
    const fresh = new Map<number, Fragment>();
    for await (const page of readFragments(this.#db, this.#accountID, revisions.fleet))
      for (const fragment of page) fresh.set(fragment.deviceNo, fragment);
    const all = members.flatMap(({ deviceNo, deviceID }) => {
      const found = fresh.get(deviceNo) ?? devices.find(deviceID);
      return found?.deviceNo === deviceNo ? [found] : [];
    });
    if (all.reduce((sum, { json }) => sum + json.length, 0) > this.#bytesMost)
      throw new NotCached('the fleet is larger than what is held');
    return new FragmentStore(all);
  }

  /** Positions of the devices that a group-limited user sees. */
  async #visible({ devices, revisions }: Content, scope: Scope): Promise<readonly number[]> {
    const userID = scope.limitedTo ?? '';
    const known = this.#selections.get(userID);
    if (known?.membersRevision === revisions.members) return known.indexes;
    const members = await fleetMembers(this.#db, scope);
    const indexes = members.flatMap(({ deviceNo, deviceID }) => {
      const index = devices.indexFrom(deviceID);
      return devices.noAt(index) === deviceNo ? [index] : [];
    });
    this.#selections.delete(userID);
    this.#selections.set(userID, { membersRevision: revisions.members, indexes });
    const [oldest] = this.#selections.keys();
    if (this.#selections.size > selectionsMost && oldest !== undefined) this.#selections.delete(oldest);
    return indexes;
  }
}
