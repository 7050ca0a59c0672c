// A process that writes events beside others: small batches one after the other, some of them slow, until its standard
// input ends. Prints how many it had stored.
import { openPostgres } from '../../../dist/src/adapters/database/postgres.js';

const [url, deviceNo, boot] = process.argv.slice(2);
const db = await openPostgres({ url, readersMost: 1 });
const life = { isStopping: false };
process.stdin.on('end', () => {
  life.isStopping = true;
});
process.stdin.resume();
process.stdout.write('ready\n');

const take = (count) => ({ sql: 'UPDATE event_counter SET next_no = next_no + $1', params: [count] });
const insert = (seq, back) => ({
  sql: `INSERT INTO events (event_no, account_no, device_no, boot, seq, timestamp_ms, received_ms, time_quality, status_code)
    SELECT next_no - $4, 1, $1, $2, $3, 1, 1, 'gnss', 61472 FROM event_counter`,
  params: [Number(deviceNo), boot, seq, back],
});
let seq = 0;
for (let round = 0; !life.isStopping; round++) {
  const count = 1 + (round % 3);
  const batch = [take(count), ...Array.from({ length: count }, (_unused, at) => insert(++seq, count - at))];
  // Between taking a number and the commit lies what lets another process overtake.
  if (round % 7 === 0) batch.push({ sql: 'SELECT pg_sleep(0.002)', params: [] });
  await db.write(batch);
}
process.stdout.write(`${seq}\n`);
await db.close();
