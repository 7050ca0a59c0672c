// A process that appends to an outbox until it is killed, and prints each sequence number once it is committed.
import { writeSync } from 'node:fs';
import { openOutbox } from '../../../dist/agent/outbox.js';
import { openSqlite } from '../../../dist/src/adapters/database/sqlite.js';
import { createSystemClock, createSystemEntropy } from '../../../dist/src/adapters/system.js';

const [path, boot] = process.argv.slice(2);
const clock = createSystemClock();
const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const outbox = await openOutbox({
  path,
  boot,
  bootMonoMs: clock.monoMs(),
  clock,
  entropy: createSystemEntropy(),
  log,
  maxBytes: 64 * 1024 * 1024,
  openDatabase: (file) => openSqlite({ ...file, pageSize: 512 }),
});
writeSync(1, 'open\n');
for (let count = 0; ; count++) {
  const size = 1 + (count % 5);
  const records = Array.from({ length: size }, (_value, index) => ({
    priority: (count + index) % 4,
    event: {
      timestamp: null,
      upMs: count,
      timeQuality: 'none',
      statusCode: 61472,
      latitude: 1,
      longitude: 2,
    },
  }));
  const stored = await outbox.append(records);
  // Synchronous, so that what is printed was committed and what was committed is printed, but for the last.
  writeSync(1, `${stored.map((event) => event.seq).join('\n')}\n`);
}
