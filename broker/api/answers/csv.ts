// Reads CSV as RFC 4180 and spreadsheets write it (byte order mark, semicolons). It parses in slices and yields to the
// event loop between them; a fault carries its line.
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { CsvError, type Parser, parse } from 'csv-parse';
import { AppError } from '../../../src/core/errors.ts';

export interface CsvRow {
  /** Line of the file on which the row ends, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

const sliceLength = 16 * 1024;
const rowBytesMost = 64 * 1024;

async function* slicesOf(text: string): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += sliceLength) {
    yield text.slice(start, start + sliceLength);
    await turn();
  }
}

/** Semicolons when the first line has some and no comma: so spreadsheets write where the comma is the decimal sign. */
function delimiterOf(text: string): ',' | ';' {
  const end = text.search(/[\r\n]/);
  const first = end < 0 ? text : text.slice(0, end);
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

const invalid = (message: string): AppError =>
  new AppError('invalid_content', message, { details: [{ pointer: '/csv', message }] });

/** What the parser gives with `info: true`. */
interface Record {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

function toInvalid(thrown: unknown): unknown {
  if (!(thrown instanceof CsvError)) return thrown;
  const { lines } = thrown;
  // The parser's own messages quote the file.
  const where = typeof lines === 'number' ? `Line ${lines}` : 'The file';
  return invalid(
    `${where} is no CSV: ${thrown.code.replace(/^CSV_/, '').replaceAll('_', ' ').toLowerCase()}`,
  );
}

/**
 * The rows of a file, the header first; empty lines are left out.
 * @throws AppError `invalid_content` for more than `rowsMost` rows, and for what is no CSV.
 */
export async function readCsv(text: string, rowsMost: number): Promise<readonly CsvRow[]> {
  const parser: Parser = parse({
    bom: true,
    delimiter: delimiterOf(text),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: rowBytesMost,
  });
  const rows: CsvRow[] = [];
  const source = Readable.from(slicesOf(text), { objectMode: false });
  source.on('error', (fault) => parser.destroy(fault));
  try {
    for await (const { info, record } of source.pipe(parser) as AsyncIterable<Record>) {
      if (rows.length === rowsMost) throw invalid(`The file has more than ${rowsMost} rows`);
      rows.push({ line: info.lines, cells: record });
    }
  } catch (thrown) {
    throw toInvalid(thrown);
  } finally {
    source.destroy();
  }
  return rows;
}
