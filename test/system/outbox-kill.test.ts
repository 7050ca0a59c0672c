// A real process appends and is killed at a random moment, a hundred times over on one file: every number it printed
// after a commit is there, in order, and none twice. The moments come from a seed that is printed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createFolder, drain, open } from '../support/storage/outbox-bench.ts';

const child = fileURLToPath(new URL('../support/storage/outbox-child.mjs', import.meta.url));

/** Runs the child, kills it `afterMs` after it has opened the file, and gives the numbers it printed. */
function runUntilKilled(
  path: string,
  boot: string,
  afterMs: number,
): Promise<{ seqs: number[]; errors: string }> {
  return new Promise((resolve) => {
    const process = spawn(globalThis.process.execPath, [child, path, boot], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    let errors = '';
    let isPlanned = false;
    process.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (isPlanned) return;
      isPlanned = true;
      setTimeout(() => process.kill('SIGKILL'), afterMs);
    });
    process.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    process.once('close', () => {
      // The last line may be cut short; only whole ones count.
      const lines = printed.slice(0, printed.lastIndexOf('\n')).split('\n').slice(1);
      resolve({ seqs: lines.filter((line) => line !== '').map(Number), errors });
    });
  });
}

it('keeps everything that was committed over 100 kills', async () => {
  const place = createFolder();
  const seed = Number(process.env['FLEETWARD_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  let state = seed;
  const fraction = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
  let total = 0;
  try {
    const promised = new Map<string, number[]>();
    for (let round = 0; round < 100; round++) {
      const boot = `kill-${round}`;
      const { seqs, errors } = await runUntilKilled(place.path, boot, fraction() * 60);
      expect(errors).toBe('');
      promised.set(boot, seqs);
      total += seqs.length;
    }
    const outbox = await open(place.path, { maxBytes: 64 * 1024 * 1024 });
    const found = new Map<string, number[]>();
    for (const batch of await drain(outbox)) {
      const seqs = batch.events.filter((event) => event.statusCode === 61_472).map((event) => event.seq);
      found.set(batch.boot, [...(found.get(batch.boot) ?? []), ...seqs]);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    }
    for (const [boot, seqs] of promised) {
      const stored = (found.get(boot) ?? []).sort((a, b) => a - b);
      expect(new Set(stored).size, `seed ${seed}: ${boot} has repeats`).toBe(stored.length);
      // The last commit may have been done and not printed, so there may be more, never fewer, and no gap.
      expect(stored.slice(0, seqs.length), `seed ${seed}: ${boot}`).toEqual(seqs);
      expect(stored, `seed ${seed}: ${boot} has gaps`).toEqual(stored.map((_seq, index) => index + 1));
    }
    expect((await outbox.stats()).dropped).toEqual([0, 0, 0, 0]);
    await outbox.close();
    console.info('killed 100 times', { seed, committed: total });
    expect(total).toBeGreaterThan(0);
  } finally {
    place.remove();
  }
});
