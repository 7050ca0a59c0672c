// Where the events of a road vehicle are: in the agent's outbox, or stored by a broker. Reads only, beside the running
// processes.
import { request } from 'node:http';
import SqliteConnection from 'better-sqlite3';
import { everyEventIn } from '../database/stored-events.ts';
import { hangMs, waitUntil } from '../machine/wait-until.ts';
import { sleep } from '../serial/pty-bus.ts';

export interface AgentStatus {
  readonly acknowledged: number;
  readonly connects: number;
  readonly vehicle: { readonly connection: { readonly state: string; readonly reason: string } };
}

/** Row ids of the outbox keep the sequence number in their low 31 bits. */
const seqSpan = 2 ** 31;

function numbersIn(file: string, query: (database: SqliteConnection.Database) => string): readonly number[] {
  const database = new SqliteConnection(file, { readonly: true });
  try {
    return (database.prepare(query(database)).all() as { n: number }[]).map(({ n }) => n);
  } finally {
    database.close();
  }
}

/** Sequence numbers in the outbox; the agent may keep up to 64 that are acknowledged. Valid for an agent's first boot. */
export function heldSeqs(folder: string): readonly number[] {
  const tables = ['p0', 'p1', 'p2', 'p3'].map((table) => `SELECT id % ${seqSpan} AS n FROM ${table}`);
  return numbersIn(`${folder}/outbox.db`, () => tables.join(' UNION ALL '));
}

/** Sequence numbers that the broker stored, repeats included. */
export function storedSeqs(folder: string): readonly number[] {
  return numbersIn(`${folder}/fleet.db`, (database) => `SELECT seq AS n FROM ${everyEventIn(database)}`);
}

/** Numbers from 1 to `lastSeq` that are not among `seqs`. */
export function missingSeqs(seqs: readonly number[], lastSeq: number): readonly number[] {
  const found = new Set(seqs);
  return Array.from({ length: lastSeq }, (_, at) => at + 1).filter((seq) => !found.has(seq));
}

/** Asks the agent on its local socket. */
export function readStatus(folder: string): Promise<AgentStatus> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: `${folder}/agent.sock`, path: '/status' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text) as AgentStatus));
    });
    asking.on('error', reject).end();
  });
}

/** Waits until the agent had a connection that was not refused, welcomed or not, and lets it work for `forMs` from then on. */
export async function watchSession(folder: string, forMs: number): Promise<void> {
  let last = '';
  const look = async (): Promise<boolean> => {
    const { state, reason } = (await readStatus(folder)).vehicle.connection;
    last = `${state} ${reason}`;
    return state === 'up' || (state === 'waiting' && !reason.includes('ECONNREFUSED'));
  };
  // Between two tries to connect lies up to a minute.
  await waitUntil('a connection of the agent', look, {
    limitMs: 2 * hangMs,
    everyMs: 1000,
    seen: () => last,
  });
  await sleep(forMs);
}
