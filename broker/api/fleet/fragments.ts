// The devices of one account as bytes of JSON: a full view, from which each other view is made at its first request.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetRange, FleetView } from '../../ports/fleet-cache.ts';
import { answerEnded } from '../../scheduling/per-account-limits.ts';
import { deviceOfView } from './device-json.ts';
import { HeldView, viewKey } from './held-view.ts';

/** Views held besides the one with everything. */
const viewsMost = 6;
/** Work at a time, in ms, and the pause after it: views take half of the event loop at most, however many callers ask. */
const sliceMs = 2;
/** A part of fewer devices than this is made for its answer alone and not held, so that it costs no more than its answer. */
const partMost = 512;
/** So few devices that changed are made without a turn: in a held view they wait for no other view to be made. */
const remadeMost = 128;

export interface Fragment {
  readonly deviceNo: number;
  readonly deviceID: string;
  /** Of the device when it was read. */
  readonly revision: number;
  /** The device as JSON, with all members and rights. */
  readonly json: Buffer;
}

const everything: FleetView = { mayUpdate: true, names: null };

export class FragmentStore {
  readonly count: number;
  readonly #ids: readonly string[];
  readonly #nos: readonly number[];
  readonly #revisions: number[];
  readonly #whole: HeldView;
  /** In the order of use, the most recently used last, with the user who asked for it first. */
  readonly #views = new Map<string, { readonly held: HeldView; readonly userID: string }>();

  /** @param all in the order of ids. */
  constructor(all: readonly Fragment[]) {
    this.count = all.length;
    this.#ids = all.map(({ deviceID }) => deviceID);
    this.#nos = all.map(({ deviceNo }) => deviceNo);
    this.#revisions = all.map(({ revision }) => revision);
    this.#whole = new HeldView(everything, all.length, (index) => {
      throw new Error(`there is no device at ${index}`);
    });
    for (const [index, { json }] of all.entries()) this.#whole.put(index, json);
  }

  get bytes(): number {
    let bytes = this.#whole.bytes;
    for (const { held } of this.#views.values()) bytes += held.bytes;
    return bytes;
  }

  idAt = (index: number): string => this.#ids[index] ?? '';
  noAt = (index: number): number => this.#nos[index] ?? 0;
  revisionAt = (index: number): number => this.#revisions[index] ?? 0;

  /** Position of the first device with this id or a later one. */
  indexFrom(deviceID: string): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.idAt(middle) < deviceID) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The device with all members and rights; null: there is none of this id. */
  find(deviceID: string): Fragment | null {
    const index = this.indexFrom(deviceID);
    if (this.#ids[index] !== deviceID) return null;
    const [deviceNo, revision] = [this.noAt(index), this.revisionAt(index)];
    return { deviceNo, deviceID, revision, json: this.#whole.fragment(index) };
  }

  /** Puts a changed device in its place. */
  replace({ deviceNo, deviceID, revision, json }: Fragment): void {
    const index = this.indexFrom(deviceID);
    if (this.#nos[index] !== deviceNo) return;
    this.#revisions[index] = revision;
    this.#whole.put(index, json);
    for (const { held } of this.#views.values()) held.put(index, null);
  }

  /**
   * Makes devices of a view, a few milliseconds of work at a time; a short part outside held views at its request.
   * @param indexes positions in ascending order; null: all.
   * @returns what gives their bytes. @throws AppError when the answer ended before its turn, or too many wait.
   */
  async prepare(range: FleetRange, indexes: readonly number[] | null): Promise<() => readonly Buffer[]> {
    const known = this.#known(range);
    if (known === null && indexes !== null && indexes.length <= partMost) {
      const part = new HeldView(range, indexes.length, (at) => this.#makeDevice(indexes[at] ?? 0, range));
      return () => part.pieces(null);
    }
    const make = (): Promise<void> => this.#makeAll(range, indexes);
    if (known === null || known.lacksMore(remadeMost, indexes)) await range.inTurn(make);
    else await make();
    const held = this.#hold(range);
    return () => held.pieces(indexes);
  }

  async #makeAll(range: FleetRange, indexes: readonly number[] | null): Promise<void> {
    const held = this.#hold(range);
    let sinceMs = performance.now();
    const count = indexes?.length ?? this.count;
    for (let at = 0; at < count; at++) {
      const index = indexes?.[at] ?? at;
      if (held.isMade(index)) continue;
      held.fragment(index);
      if (indexes === null) held.finishBlock(index);
      if (performance.now() - sinceMs < sliceMs) continue;
      await sleep(sliceMs);
      if (range.until.aborted) throw answerEnded();
      sinceMs = performance.now();
    }
  }

  #makeDevice(index: number, view: FleetView): Buffer {
    return deviceOfView(this.#whole.fragment(index), view);
  }

  #known(view: FleetView): HeldView | null {
    const key = viewKey(view);
    return key === viewKey(everything) ? this.#whole : (this.#views.get(key)?.held ?? null);
  }

  /** The view, from now on the most recently used. */
  #hold(view: FleetRange): HeldView {
    const known = this.#known(view);
    if (known === this.#whole) return known;
    const { mayUpdate, names } = view;
    const held =
      known ??
      new HeldView({ mayUpdate, names }, this.count, (index) =>
        this.#makeDevice(index, { mayUpdate, names }),
      );
    const key = viewKey(view);
    const userID = this.#views.get(key)?.userID ?? view.userID;
    this.#views.delete(key);
    this.#views.set(key, { held, userID });
    if (this.#views.size > viewsMost) this.#evict();
    return held;
  }

  /** Removes the least recently used view of the user with most views. */
  #evict(): void {
    const counts = new Map<string, number>();
    for (const { userID } of this.#views.values()) counts.set(userID, (counts.get(userID) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const found = [...this.#views].find(([, { userID }]) => counts.get(userID) === most);
    if (found !== undefined) this.#views.delete(found[0]);
  }
}
