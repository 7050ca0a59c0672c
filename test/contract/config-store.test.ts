// Where the slots of a configuration are kept, in files and in memory: whole or not at all, and damage is always seen.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConfigFiles } from '../../agent/adapters/config-files.ts';
import { standardSettings } from '../../agent/config.ts';
import { readRemoteConfig } from '../../agent/config-origin.ts';
import { encodeSlot } from '../../agent/core/config/config-record.ts';
import { createMemorySlots } from '../../simulator/memory-slots.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each([
  ['files', () => createConfigFiles(folder)],
  ['memory', createMemorySlots],
] as const)('slots in %s', (_name, create) => {
  it('are absent at first, then as they were written last, each by itself', async () => {
    const store = create();
    expect(await store.read()).toEqual({ a: { kind: 'absent' }, b: { kind: 'absent' } });
    await store.write('b', bytesOf('{"n":1}'));
    await store.write('b', bytesOf('{"n":2}'));
    await store.write('a', bytesOf('{"ä":3}'));
    expect(await store.read()).toEqual({
      a: { kind: 'sound', bytes: bytesOf('{"ä":3}') },
      b: { kind: 'sound', bytes: bytesOf('{"n":2}') },
    });
  });
});

describe('a slot in a file', () => {
  it('is readable JSON, for its owner only', async () => {
    await createConfigFiles(folder).write('a', bytesOf('{"n":1}'));
    const path = join(folder, 'config-a.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ slot: { n: 1 } });
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('is damaged with any bit flipped, cut short anywhere, or longer', async () => {
    const store = createConfigFiles(folder);
    await store.write('a', bytesOf('{"n":1}'));
    const path = join(folder, 'config-a.json');
    const sound = readFileSync(path);
    const damaged = [Buffer.concat([sound, Buffer.from(' ')]), Buffer.alloc(0)];
    for (let at = 0; at < sound.length; at++) {
      damaged.push(sound.subarray(0, at));
      const flipped = Buffer.from(sound);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      damaged.push(flipped);
    }
    for (const bytes of damaged) {
      writeFileSync(path, bytes);
      expect((await store.read()).a.kind).toBe('damaged');
    }
    await store.write('a', bytesOf('{"n":2}'));
    expect((await store.read()).a.kind).toBe('sound');
  });

  it('that cannot be read or written gives the reason, and the other one is unchanged', async () => {
    const store = createConfigFiles(folder);
    await store.write('b', bytesOf('{}'));
    rmSync(join(folder, 'config-a.json'), { force: true });
    writeFileSync(join(folder, 'config-a.json'), Buffer.alloc(9 * 1024 * 1024));
    expect(await store.read()).toMatchObject({
      a: { kind: 'damaged', reason: expect.stringContaining('longer') as string },
      b: { kind: 'sound' },
    });
    await expect(createConfigFiles(join(folder, 'nowhere')).write('a', bytesOf('{}'))).rejects.toThrow(
      'ENOENT',
    );
    chmodSync(folder, 0o700);
  });
});

it('prints which values come from the broker, and which are on trial', async () => {
  const store = createMemorySlots();
  const content = '{"settings":{"reporting":{"movingS":5}},"zones":[]}';
  const slot = {
    serial: 1,
    state: 'good',
    version: 4,
    sha256: 'a'.repeat(64),
    starts: 0,
    failures: [],
    content,
  } as const;
  expect(await readRemoteConfig(store, standardSettings)).toMatchObject({
    version: 0,
    chosen: [],
    faults: [],
  });
  await store.write('a', encodeSlot(slot));
  await store.write('b', encodeSlot({ ...slot, serial: 2, state: 'trial', version: 5 }));
  expect(await readRemoteConfig(store, standardSettings)).toMatchObject({
    version: 4,
    onTrial: 5,
    chosen: ['reporting.movingS'],
    settings: { reporting: { movingS: 5, stoppedS: standardSettings.reporting.stoppedS } },
  });
  await store.write('a', bytesOf('nonsense'));
  expect((await readRemoteConfig(store, standardSettings)).faults).toEqual([
    expect.stringContaining('slot a'),
  ]);
});
