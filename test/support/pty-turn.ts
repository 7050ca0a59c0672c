// One file of tests with pseudo-terminals at a time: the kernel gives the number of a closed one to the next, and an agent of
// another test that tries to open its lost port again would take the new one for its own. Loaded before every system test.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { holdLock } from '../../src/adapters/sqlite.ts';

const patienceMs = 1_500_000;
const usesTerminals = /ptyPair|faultProxy|startSlave|bench-program|serial-board|'hardware'/;
let turn: { close(): void } | null = null;

beforeAll(async () => {
  const { testPath } = expect.getState();
  if (testPath === undefined || !usesTerminals.test(readFileSync(testPath, 'utf8'))) return;
  const endMs = performance.now() + patienceMs;
  while (turn === null) {
    try {
      turn = holdLock(join(tmpdir(), 'fleetward-pty-turn'), 'the turn of tests with terminals');
    } catch (thrown) {
      if (performance.now() > endMs) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}, patienceMs);

afterAll(() => turn?.close());
