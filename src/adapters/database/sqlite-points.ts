// Point reads: answered in the calling thread, because a message to a database thread costs more than they do.
import type SqliteConnection from 'better-sqlite3';
import type { Row, Statement } from '../../ports.ts';
import { createPreparer, createReader, rowsOf } from './sqlite-reads.ts';

/** Memory for pages of the connection for point reads, in KiB. */
const pointCacheKib = 4000;

interface PointRead {
  readonly statement: Statement;
  resolve(rows: Row[]): void;
  /** It could not be answered here, because the database is being recovered or is damaged: another connection must try. */
  pass(): void;
}

/**
 * Point reads in the calling thread, by a connection that cannot write: all that were asked for in one turn of the loop, in one
 * read transaction that begins after them. So each sees every commit that was reported before it was asked for.
 */
export function openPointReads(connection: SqliteConnection.Database) {
  connection.pragma(`cache_size = ${-pointCacheKib}`);
  const { readTable } = createReader(createPreparer(connection));
  let asked: PointRead[] = [];
  const answer = ({ statement, resolve, pass }: PointRead): void => {
    try {
      resolve(rowsOf(readTable(statement)));
    } catch {
      pass();
    }
  };
  const answerInOne = connection.transaction((reads: readonly PointRead[]) => reads.forEach(answer));
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
