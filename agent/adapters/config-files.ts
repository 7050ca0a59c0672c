// The two slots of the configuration as files beside the outbox, each written whole, flushed and renamed, with its SHA-256
// inside. A write is there completely or not at all, also after a power cut.
import { createHash } from 'node:crypto';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../src/core/errors.ts';
import type { SlotFile, SlotName } from '../core/config/config-record.ts';
import type { ConfigStore } from '../ports.ts';
import { syncFolder, withHandle } from './disk.ts';

/** A slot that is longer than this was not written by us. */
const bytesMost = 8 * 1024 * 1024;

const head = '{"sha256":"';
const middle = '","slot":';
const tail = '}\n';
const hashDigits = 64;
const payloadAt = head.length + hashDigits + middle.length;

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The file of a slot: JSON, whose checksum is at a fixed position before the content that it covers. */
function frame(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${head}${hashOf(bytes)}${middle}`), bytes, Buffer.from(tail)]);
}

function unframe(file: Buffer): SlotFile {
  const bytes = file.subarray(payloadAt, Math.max(payloadAt, file.length - tail.length));
  const isWhole = file.equals(frame(bytes));
  return isWhole
    ? { kind: 'sound', bytes: new Uint8Array(bytes) }
    : { kind: 'damaged', reason: 'its checksum does not fit' };
}

async function readSlot(path: string): Promise<SlotFile> {
  try {
    const { size } = await stat(path);
    if (size > bytesMost) return { kind: 'damaged', reason: `it is longer than ${bytesMost} bytes` };
    return unframe(await readFile(path));
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return { kind: 'absent' };
    return { kind: 'damaged', reason: messageOf(thrown) };
  }
}

const slotPath = (folder: string, slot: SlotName): string => join(folder, `config-${slot}.json`);

/** Two files in the outbox's folder, which must exist and be writable. */
export function createConfigFiles(folder: string): ConfigStore {
  return {
    async read() {
      const [a, b] = await Promise.all([readSlot(slotPath(folder, 'a')), readSlot(slotPath(folder, 'b'))]);
      return { a, b };
    },
    async write(slot, bytes) {
      const path = slotPath(folder, slot);
      const fresh = `${path}.new`;
      await withHandle(open(fresh, 'w', 0o600), async (file) => {
        await file.writeFile(frame(bytes));
        await file.sync();
      });
      await rename(fresh, path);
      // Without it a power cut could take the name back.
      await syncFolder(folder);
    },
  };
}
