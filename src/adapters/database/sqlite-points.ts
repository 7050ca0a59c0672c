// Point reads: answered in the calling thread, because a message to a database thread costs more than they do. An answer is kept
// until anything is committed to the database, by whichever connection or process.
import type SqliteConnection from 'better-sqlite3';
import type { Row, Statement } from '../../ports.ts';
import { createReader, rowsOf, type Table } from './sqlite-reads.ts';

/** Memory for pages of the connection for point reads, in KiB. */
const pointCacheKib = 4000;

/** Answers that are kept; beyond it all are forgotten. */
const keptMost = 2000;

/** Answers by the text of their statement, then by its values: those of one version of the database. */
function createKeptTables() {
  const kept = new Map<string, Map<string, Table>>();
  let [version, count]: [unknown, number] = [null, 0];
  const forget = (): void => {
    kept.clear();
    count = 0;
  };
  return {
    /** @param found version of the database that the reads which follow see. */
    begin(found: unknown): void {
      if (found !== version) forget();
      version = found;
    },
    table({ sql, params }: Statement, read: () => Table): Table {
      const key = JSON.stringify(params);
      const known = kept.get(sql)?.get(key);
      if (known !== undefined) return known;
      const table = read();
      if (count >= keptMost) forget();
      const ofText = kept.get(sql) ?? new Map<string, Table>();
      kept.set(sql, ofText.set(key, table));
      count += 1;
      return table;
    },
  };
}

interface PointRead {
  readonly statement: Statement;
  resolve(rows: Row[]): void;
  /** It could not be answered here, because the database is being recovered or is damaged: another connection must try. */
  pass(): void;
}

/**
 * Point reads in the calling thread, by a connection that cannot write. All requests of one loop turn share one read transaction
 * that begins after them, so each sees every commit reported before.
 */
export function openPointReads(connection: SqliteConnection.Database) {
  connection.pragma(`cache_size = ${-pointCacheKib}`);
  const { readTable } = createReader(connection);
  const kept = createKeptTables();
  // SQLite, "PRAGMA data_version": another value after every commit of another connection, and this one never commits.
  const dataVersion = connection.prepare('PRAGMA data_version').pluck();
  let asked: PointRead[] = [];
  const answer = ({ statement, resolve, pass }: PointRead): void => {
    try {
      resolve(rowsOf(kept.table(statement, () => readTable(statement))));
    } catch {
      pass();
    }
  };
  const answerInOne = connection.transaction((reads: readonly PointRead[]) => {
    // Within the transaction: it is the version that its reads see.
    kept.begin(dataVersion.get());
    reads.forEach(answer);
  });
  const answerAll = (): void => {
    const reads = asked;
    asked = [];
    try {
      answerInOne(reads);
    } catch {
      // Closed, or no transaction can begin: a read that was answered already ignores the second answer.
      for (const { pass } of reads) pass();
    }
  };
  return {
    /** @param pass reads it by another connection. */
    read: (statement: Statement, pass: () => Promise<Row[]>): Promise<Row[]> =>
      new Promise((resolve, reject) => {
        const read = { statement, resolve, pass: () => void pass().then(resolve, reject) };
        if (asked.push(read) === 1) setImmediate(answerAll);
      }),
    close: (): void => void connection.close(),
  };
}
