// The devices of an account in one view (rights, choice of members), each as bytes, in blocks of neighbours. An answer with the
// whole fleet is a sequence of blocks. A changed device costs its bytes and one copy of its block.
import type { FleetView } from '../../ports/fleet-cache.ts';

/** Devices of a block: about 256 KiB of JSON. */
const blockSize = 128;

const comma = Buffer.from(',');

export const viewKey = ({ mayUpdate, names }: FleetView): string =>
  `${mayUpdate ? 'update' : 'read'} ${names === null ? '*' : [...names].sort().join()}`;

export class HeldView {
  readonly view: FleetView;
  /** Of all devices that are made. */
  bytes = 0;
  /** By position of the device; null: not made since it changed. */
  readonly #fragments: (Buffer | null)[];
  /** By position of the block, each but the first with a comma before it; null: not made since a device of it changed. */
  readonly #blocks: (Buffer | null)[];
  readonly #make: (index: number) => Buffer;

  /** @param make gives the bytes of a device by its position. */
  constructor(view: FleetView, count: number, make: (index: number) => Buffer) {
    this.view = view;
    this.#fragments = Array<null>(count).fill(null);
    this.#blocks = Array<null>(Math.ceil(count / blockSize)).fill(null);
    this.#make = make;
  }

  isMade(index: number): boolean {
    return this.#fragments[index] !== null;
  }

  /** True when more than `most` of these devices are not made. @param indexes null: every device. */
  lacksMore(most: number, indexes: readonly number[] | null): boolean {
    let lacking = 0;
    const count = indexes?.length ?? this.#fragments.length;
    for (let at = 0; at < count && lacking <= most; at++)
      if (this.#fragments[indexes?.[at] ?? at] === null) lacking += 1;
    return lacking > most;
  }

  /** Makes the block that ends with this device: all blocks at once, when they are sent, would take the event loop for long. */
  finishBlock(index: number): void {
    if (index % blockSize === blockSize - 1) this.#makeBlock(Math.floor(index / blockSize));
  }

  fragment(index: number): Buffer {
    const known = this.#fragments[index] ?? null;
    if (known !== null) return known;
    const made = this.#make(index);
    this.put(index, made);
    return made;
  }

  /** The device changed: new bytes, or null until they are needed. */
  put(index: number, fragment: Buffer | null): void {
    this.bytes += (fragment?.length ?? 0) - (this.#fragments[index]?.length ?? 0);
    this.#fragments[index] = fragment;
    this.#blocks[Math.floor(index / blockSize)] = null;
  }

  /** Devices at these positions, in ascending order, as JSON with commas between them; null: all of them. */
  pieces(indexes: readonly number[] | null): readonly Buffer[] {
    if (indexes === null) return this.#blocks.map((known, block) => known ?? this.#makeBlock(block));
    const pieces: Buffer[] = [];
    for (let first = 0; first < indexes.length; first += blockSize) {
      const parts = indexes.slice(first, first + blockSize).flatMap((index) => [comma, this.fragment(index)]);
      pieces.push(Buffer.concat(first === 0 ? parts.slice(1) : parts));
    }
    return pieces;
  }

  #makeBlock(block: number): Buffer {
    const first = block * blockSize;
    const end = Math.min(first + blockSize, this.#fragments.length);
    const fragments: Buffer[] = [];
    for (let index = first; index < end; index++) fragments.push(this.fragment(index));
    const parts = fragments.flatMap((fragment) => [comma, fragment]);
    const made = Buffer.concat(block === 0 ? parts.slice(1) : parts);
    // The block holds the bytes from now on, and the devices point into it.
    let offset = block === 0 ? 0 : comma.length;
    for (const [at, { length }] of fragments.entries()) {
      this.#fragments[first + at] = made.subarray(offset, offset + length);
      offset += length + comma.length;
    }
    this.#blocks[block] = made;
    return made;
  }
}
