// One connection to a PostgreSQL server and the only use of the driver. Statements are pipelined, prepared once each.
// No promise is ever left open: whatever happens to the connection, all waiting calls are settled.
import pg from 'pg';
import { messageOf } from '../../core/errors.ts';
import type { SqlValue, Statement, WriteResult } from '../../ports.ts';
import { faultOf, PostgresFault } from './postgres-fault.ts';
import type { PostgresServer } from './postgres-server.ts';
import { readerOf, toWire } from './postgres-values.ts';

export interface Connection {
  /**
   * Runs the statements in order in one pipeline; the first fault ends it and drops the rest.
   * @throws PostgresFault; after one of kind `lost` the connection is no longer usable.
   */
  run(statements: readonly Statement[]): Promise<readonly WriteResult[]>;
  /** Called with what NOTIFY of any session brings, and null when the connection ends. */
  onNotice(listener: (payload: string | null) => void): void;
  isLost(): boolean;
  close(): Promise<void>;
}

/** Most statements kept prepared on one connection. Those of slices that are asked seldom make place for others. */
const preparedMost = 500;

interface Column {
  readonly name: string;
  readonly read: (text: string) => SqlValue;
}

interface Prepared {
  /** '' for one that is not kept. */
  readonly name: string;
  /** For the n-th parameter that is sent, which one of the statement it is. */
  readonly order: readonly number[];
}

/** Statements that the server has prepared, and those that it may have. */
interface PreparedNames {
  readonly byText: Map<string, Prepared>;
  /** Names to deallocate with the next pipeline: it is unknown whether the server has them. */
  readonly doubtful: string[];
  count: number;
}

/** Callbacks of the driver on a query (`pg.Submittable` declares only the first). */
interface Pipeline extends pg.Submittable {
  handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleCopyInResponse(connection: pg.Connection): void;
  handleCopyData(): void;
  handleError(thrown: unknown): void;
  handleReadyForQuery(): void;
}

/** The driver's own methods, which its types describe as of an older version. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: {
    readonly statement: string;
    readonly values: readonly SqlValue[];
    readonly valueMapper: (value: SqlValue) => unknown;
  }): void;
  describe(message: { readonly type: 'P' }): void;
  execute(message: Record<string, never>): void;
  close(message: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

/** PostgreSQL wants every parameter to be used: those that a statement leaves out are not sent. */
function withoutGaps(text: string): { readonly text: string; readonly order: readonly number[] } {
  const order = [...new Set([...text.matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits) - 1))].sort(
    (a, b) => a - b,
  );
  const isWhole = order.every((index, at) => index === at);
  if (isWhole) return { text, order };
  return {
    text: text.replace(/\$(\d+)/g, (_whole, digits: string) => `$${order.indexOf(Number(digits) - 1) + 1}`),
    order,
  };
}

/** Deallocates the oldest prepared statement with the next pipeline. */
function dropOldest(names: PreparedNames): void {
  const [oldest] = names.byText;
  if (oldest === undefined) return;
  const [text, prepared] = oldest;
  names.byText.delete(text);
  names.doubtful.push(prepared.name);
}

/** Has the server prepare a statement. DDL is said once; of what is not kept the plan is not either. */
function prepare(wire: Wire, { sql, isPlannedAnew = false }: Statement, names: PreparedNames): Prepared {
  const isKept = !isPlannedAnew && !/^\s*(CREATE|ALTER|DROP)\b/i.test(sql);
  if (isKept && names.byText.size >= preparedMost) dropOldest(names);
  names.count += 1;
  const { text, order } = withoutGaps(sql);
  const prepared = { name: isKept ? `s${names.count}` : '', order };
  wire.parse({ name: prepared.name, text });
  if (isKept) names.byText.set(sql, prepared);
  return prepared;
}

/** Sends everything at once; the server answers in order. Returns the texts that it was asked to keep prepared. */
function send(wire: Wire, statements: readonly Statement[], names: PreparedNames): readonly string[] {
  const fresh: string[] = [];
  wire.stream.cork();
  try {
    for (const name of names.doubtful.splice(0)) wire.close({ type: 'S', name });
    for (const statement of statements) {
      const { sql, params } = statement;
      const known = names.byText.get(sql);
      const { name, order } = known ?? prepare(wire, statement, names);
      if (known === undefined && name !== '') fresh.push(sql);
      const values = order.map((index) => params[index] ?? null);
      wire.bind({ statement: name, values, valueMapper: toWire });
      wire.describe({ type: 'P' });
      wire.execute({});
    }
  } finally {
    wire.sync();
    wire.stream.uncork();
  }
  return fresh;
}

interface Arrival {
  resolve(results: readonly WriteResult[]): void;
  reject(fault: PostgresFault): void;
  /** Called with every sign of life. */
  onSign(): void;
}

/** Rows affected, from a command tag such as `INSERT 0 3`. */
const affected = (tag: string): number => Number(/(\d+)$/.exec(tag)?.[1] ?? 0);

function createPipeline(statements: readonly Statement[], names: PreparedNames, arrival: Arrival): Pipeline {
  const results: WriteResult[] = [];
  let columns: readonly Column[] = [];
  let rows: Record<string, SqlValue>[] = [];
  let fresh: readonly string[] = [];
  let fault: PostgresFault | null = null;
  const complete = (changes: number): void => {
    arrival.onSign();
    results.push({ changes, rows });
    rows = [];
    columns = [];
  };
  /** The server has the names whose statements of this pipeline are done. */
  const forget = (): void => {
    const done = new Set(statements.slice(0, results.length).map(({ sql }) => sql));
    for (const text of fresh.filter((one) => !done.has(one))) {
      const prepared = names.byText.get(text);
      names.byText.delete(text);
      if (prepared !== undefined) names.doubtful.push(prepared.name);
    }
  };
  const readRow = (fields: readonly (string | null)[]): void => {
    const row: Record<string, SqlValue> = {};
    for (const [at, { name, read }] of columns.entries()) {
      const text = fields[at] ?? null;
      row[name] = text === null ? null : read(text);
    }
    rows.push(row);
  };
  return {
    submit(connection) {
      fresh = send(connection as unknown as Wire, statements, names);
    },
    handleRowDescription({ fields }) {
      columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
    },
    handleDataRow({ fields }) {
      arrival.onSign();
      try {
        if (fault === null) readRow(fields);
      } catch (thrown) {
        fault = thrown instanceof PostgresFault ? thrown : faultOf(thrown, false);
      }
    },
    handleCommandComplete: ({ text }) => complete(affected(text)),
    handleEmptyQuery: () => complete(0),
    handlePortalSuspended: () => complete(0),
    handleCopyInResponse: (connection) =>
      (connection as unknown as { sendCopyFail(why: string): void }).sendCopyFail('no'),
    handleCopyData: () => undefined,
    handleError(thrown) {
      forget();
      arrival.reject(faultOf(thrown, thrown instanceof pg.DatabaseError));
    },
    handleReadyForQuery() {
      if (fault === null) arrival.resolve(results);
      else arrival.reject(fault);
    },
  };
}

/** The driver reads the files that a URL names (`sslrootcert`) at once. */
function createClient(server: PostgresServer, connectMs: number): pg.Client {
  try {
    return new pg.Client({
      ...server.client,
      application_name: 'fleetward',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
  } catch (thrown) {
    throw new PostgresFault('refused', 'SETTINGS', messageOf(thrown));
  }
}

/**
 * Connects.
 * @throws PostgresFault when the server cannot be reached or refuses.
 * @param silenceMs how long the server may be silent while a statement runs, before it counts as gone.
 */
export async function connectPostgres(
  server: PostgresServer,
  { connectMs, silenceMs }: { readonly connectMs: number; readonly silenceMs: number },
): Promise<Connection> {
  const client = createClient(server, connectMs);
  let isLost = false;
  let listener: (payload: string | null) => void = () => undefined;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    listener(null);
  };
  client.on('error', lose);
  client.on('end', lose);
  client.on('notification', ({ payload }) => listener(payload ?? ''));
  try {
    await client.connect();
  } catch (thrown) {
    void client.end().catch(() => undefined);
    throw faultOf(thrown, thrown instanceof pg.DatabaseError);
  }
  const names: PreparedNames = { byText: new Map(), doubtful: [], count: 0 };

  const run = (statements: readonly Statement[]): Promise<readonly WriteResult[]> =>
    new Promise((resolve, reject) => {
      if (isLost) return reject(new PostgresFault('lost', 'CONNECTION', 'the connection is gone'));
      const giveUp = (): void => {
        lose();
        // Without an answer only the end of the socket ends what waits for it.
        void client.end().catch(() => undefined);
        reject(new PostgresFault('lost', 'SILENT', `the server said nothing for ${silenceMs} ms`));
      };
      const timer = setTimeout(giveUp, silenceMs);
      const settle = <T>(then: (value: T) => void) => {
        return (value: T): void => {
          clearTimeout(timer);
          then(value);
        };
      };
      client.query(
        createPipeline(statements, names, {
          onSign: () => void timer.refresh(),
          resolve: settle(resolve),
          reject: settle((fault: PostgresFault) => {
            if (fault.kind === 'lost') {
              lose();
              void client.end().catch(() => undefined);
            }
            reject(fault);
          }),
        }),
      );
    });
  return {
    run,
    onNotice: (to) => void (listener = to),
    isLost: () => isLost,
    async close() {
      isLost = true;
      await client.end().catch(() => undefined);
    },
  };
}
