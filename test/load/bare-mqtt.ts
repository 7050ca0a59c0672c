// The yardsticks of the ingest bench: aedes with nothing of ours. `none` acknowledges and stores nothing; `stored` holds the
// PUBACK in `authorizePublish` until a group commit of one row per event into one table is on disk: the physical path.
// Arguments: the mode and, for `stored`, the database's file or URL. It prints its port and ends with its standard input.
import { createServer } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Aedes } from 'aedes';
import SqliteConnection from 'better-sqlite3';
import pg from 'pg';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { decodeProtobuf } from '../../src/core/events/event-protobuf.ts';

/** Numbers of one row: device, seq, timestamp, status code, latitude, longitude, speed, heading. */
const width = 8;

const columns = `device BIGINT NOT NULL, seq BIGINT NOT NULL, timestamp_ms BIGINT, status_code BIGINT,
  latitude DOUBLE PRECISION, longitude DOUBLE PRECISION, speed DOUBLE PRECISION, heading DOUBLE PRECISION,
  PRIMARY KEY (device, seq)`;

/** The same into PostgreSQL: one prepared statement over an array a column, and one round trip, for each message. */
async function writePostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE IF NOT EXISTS rows (${columns})`);
  const types = [...Array<string>(4).fill('bigint'), ...Array<string>(4).fill('float8')];
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(', ');
  const text = `INSERT INTO rows SELECT * FROM unnest(${arrays}) ON CONFLICT DO NOTHING`;
  parentPort?.on('message', (values: Float64Array) => {
    const lists = types.map((_type, column) => {
      const list: number[] = [];
      for (let at = column; at < values.length; at += width) list.push(values[at] ?? 0);
      return `{${list.join(',')}}`;
    });
    void client.query({ name: 'insert', text, values: lists }).then(() => parentPort?.postMessage(null));
  });
}

/** The thread that writes: one prepared statement, one transaction a message, fsync at each commit. */
function write(path: string): void {
  const db = new SqliteConnection(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE TABLE IF NOT EXISTS rows (device INTEGER NOT NULL, seq INTEGER NOT NULL, timestamp_ms INTEGER,
    status_code INTEGER, latitude REAL, longitude REAL, speed REAL, heading REAL, PRIMARY KEY (device, seq)) WITHOUT ROWID`);
  const insert = db.prepare('INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const insertAll = db.transaction((values: Float64Array) => {
    for (let at = 0; at < values.length; at += width) insert.run(...values.subarray(at, at + width));
  });
  parentPort?.on('message', (values: Float64Array) => {
    insertAll(values);
    parentPort?.postMessage(null);
  });
}

function eventsOf(payload: Buffer): readonly FleetEvent[] {
  if (payload[0] === 0x7b)
    return (JSON.parse(payload.toString()) as { readonly events: readonly FleetEvent[] }).events;
  const decoded = decodeProtobuf(payload);
  return decoded.ok ? decoded.batch.events : [];
}

interface Waiting {
  readonly values: number[];
  readonly done: () => void;
}

/** Gathers what comes in while a commit runs into the next one. */
function createStore(path: string) {
  const worker = new Worker(new URL(import.meta.url), { workerData: path });
  let waiting: Waiting[] = [];
  let running: Waiting[] | null = null;
  const start = (): void => {
    if (running !== null || waiting.length === 0) return;
    running = waiting;
    waiting = [];
    const values = Float64Array.from(running.flatMap((one) => one.values));
    worker.postMessage(values, [values.buffer]);
  };
  worker.on('message', () => {
    const done = running ?? [];
    running = null;
    start();
    for (const one of done) one.done();
  });
  return (device: number, payload: Buffer, done: () => void): void => {
    const values: number[] = [];
    for (const event of eventsOf(payload)) {
      const { seq, timestamp, statusCode, latitude = 0, longitude = 0, speed = 0, heading = 0 } = event;
      values.push(device, seq, timestamp ?? 0, statusCode, latitude, longitude, speed, heading);
    }
    waiting.push({ values, done });
    start();
  };
}

async function serve(mode: string, path: string): Promise<void> {
  const store = mode === 'stored' ? createStore(path) : null;
  const numbers = new Map<string, number>();
  const aedes = new Aedes({
    concurrency: 0,
    authorizePublish: (client, packet, done) => {
      if (store === null || client === null) return done(null);
      let device = numbers.get(client.id);
      if (device === undefined) numbers.set(client.id, (device = Date.now() * 1000 + numbers.size));
      store(device, packet.payload as Buffer, () => done(null));
    },
  });
  await aedes.listen();
  aedes.on('clientDisconnect', ({ id }) => void numbers.delete(id));
  const server = createServer({ noDelay: true }, (socket) => void aedes.handle(socket));
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(typeof address === 'object' && address !== null ? address.port : '');
  });
  process.stdin.on('end', () => process.exit(0)).resume();
}

if (isMainThread) await serve(process.argv[2] ?? 'none', process.argv[3] ?? '');
else if (/^postgres(ql)?:/.test(String(workerData))) await writePostgres(String(workerData));
else write(String(workerData));
