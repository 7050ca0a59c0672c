// The devices of one account as bytes of JSON: a view with everything, from which each other view is made when it is first asked for.
import { setImmediate as turn } from 'node:timers/promises';
import type { FleetView } from '../../ports/fleet-cache.ts';
import { deviceOfView } from './device-json.ts';
import { HeldView, viewKey } from './held-view.ts';

/** Views held besides the one with everything; the least recently used is evicted. */
const viewsMost = 6;
/** Work at a time, before others have their turn. */
const sliceMs = 5;

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
  /** In the order of use, the most recently used last. */
  readonly #views = new Map<string, HeldView>();

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
    for (const view of this.#views.values()) bytes += view.bytes;
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
    for (const view of this.#views.values()) view.put(index, null);
  }

  /** A view with every device made, a few milliseconds of work at a time. */
  async prepare(view: FleetView): Promise<HeldView> {
    const held = this.#held(view);
    let sinceMs = performance.now();
    for (let index = 0; index < this.count; index++) {
      if (held.isMade(index)) continue;
      held.fragment(index);
      if (performance.now() - sinceMs < sliceMs) continue;
      await turn();
      sinceMs = performance.now();
    }
    return held;
  }

  #held(view: FleetView): HeldView {
    const key = viewKey(view);
    if (key === viewKey(everything)) return this.#whole;
    const make = (index: number): Buffer => deviceOfView(this.#whole.fragment(index), view);
    const held = this.#views.get(key) ?? new HeldView(view, this.count, make);
    this.#views.delete(key);
    this.#views.set(key, held);
    const [oldest] = this.#views.keys();
    if (this.#views.size > viewsMost && oldest !== undefined) this.#views.delete(oldest);
    return held;
  }
}
