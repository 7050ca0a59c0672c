// A process that writes events beside others: small batches one after the other, some of them slow, until its standard
// input ends. Prints how many it had stored.
import { openPostgres } from '../../dist/src/adapters/postgres.js';

const [url, deviceNo, boot] = process.argv.slice(2);
const db = await openPostgres({ url, readersMost: 1 });
const life = { isStopping: false };
process.stdin.on('end', () => {
  life.isStopping = true;
});
process.stdin.resume();
process.stdout.write('ready\n');

const insert = (seq) => ({
  sql: `INSERT INTO events (account_no, device_no, boot, seq, timestamp_ms, received_ms, time_quality, status_code)
    VALUES (1, $1, $2, $3, 1, 1, 'gnss', 61472)`,
  params: [Number(deviceNo), boot, seq],
});
let seq = 0;
for (let round = 0; !life.isStopping; round++) {
  const batch = Array.from({ length: 1 + (round % 3) }, () => insert(++seq));
  // Between taking a number and the commit lies what lets another process overtake.
  if (round % 7 === 0) batch.push({ sql: 'SELECT pg_sleep(0.002)', params: [] });
  await db.write(batch);
}
process.stdout.write(`${seq}\n`);
await db.close();
