// A real process writes the slots of the configuration and is killed at a random moment, 60 times over in one folder: both
// slots can always be read whole, and what was reported as durable is there. The moments come from a seed that is printed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createConfigFiles } from '../../agent/adapters/config-files.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';

const child = fileURLToPath(new URL('../support/vehicle/config-child.mjs', import.meta.url));

/** Runs the child, kills it `afterMs` after it has begun, and gives the numbers it printed. */
function runUntilKilled(
  folder: string,
  from: number,
  afterMs: number,
): Promise<{ numbers: number[]; errors: string }> {
  return new Promise((resolve) => {
    const process = spawn(globalThis.process.execPath, [child, folder, String(from)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    let errors = '';
    process.stdout.once('data', () => void setTimeout(() => process.kill('SIGKILL'), afterMs));
    process.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
    process.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString()));
    process.once('close', () => {
      const lines = printed.slice(0, printed.lastIndexOf('\n')).split('\n').slice(1);
      resolve({ numbers: lines.filter((line) => line !== '').map(Number), errors });
    });
  });
}

it('leaves two whole slots after every kill, the reported ones or the very next', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-config-'));
  const seed = process.env['FLEETWARD_TEST_SEED'] ?? String(Math.floor(Math.random() * 2 ** 31));
  const entropy = createSeededEntropy(seed);
  const store = createConfigFiles(folder);
  const newest = { a: -1, b: -1 };
  let next = 0;
  let kills = 0;
  try {
    for (; kills < 60; kills++) {
      const { numbers, errors } = await runUntilKilled(folder, next, entropy.fraction() * 60);
      expect(errors).toBe('');
      for (const number of numbers) newest[number % 2 === 0 ? 'a' : 'b'] = number;
      const last = numbers.at(-1) ?? next - 1;
      const files = await store.read();
      for (const slot of ['a', 'b'] as const) {
        const file = files[slot];
        expect(file.kind, `seed ${seed}, kill ${kills}: slot ${slot}`).toBe(
          newest[slot] < 0 && file.kind === 'absent' ? 'absent' : 'sound',
        );
        if (file.kind !== 'sound') continue;
        const { number } = JSON.parse(new TextDecoder().decode(file.bytes)) as { number: number };
        // The write that was under way may be there, though nobody was told.
        expect([newest[slot], last + 1], `seed ${seed}, kill ${kills}: slot ${slot}`).toContain(number);
        newest[slot] = number;
      }
      next = Math.max(newest.a, newest.b) + 1;
    }
    console.info('killed', { seed, kills, written: next });
    expect(next).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
