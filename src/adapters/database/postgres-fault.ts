// Maps faults of a PostgreSQL server to `AppError`. A server repeats values in its messages, and personal data must reach
// neither answers nor logs. So faults about data carry only the code and table names.
import { AppError, type ErrorExtras } from '../../core/errors.ts';

/** Outcome of failed work. */
export type FaultKind =
  /** The server refused it; nothing of it was written. */
  | 'refused'
  /** The same, and the whole of it may be tried again: a deadlock, a transaction that another one got ahead of. */
  | 'again'
  /** The connection is gone; uncommitted statements were not written. */
  | 'lost';

/** A fault with its SQLSTATE (PostgreSQL, appendix A) or the code of the operating system. */
export class PostgresFault extends Error {
  readonly code: string;
  readonly kind: FaultKind;

  constructor(kind: FaultKind, code: string, message: string) {
    super(message);
    this.name = 'PostgresFault';
    this.kind = kind;
    this.code = code;
  }
}

/** The server ends the session with these (shutdown, crash, idle for too long), or they are about the connection itself. */
const lostCodes = /^(08|57P0[1-5]|25P03|25P04)/;
/** Serialisation failure and deadlock; and prepared statements that no longer fit, which a new connection mends. */
const againCodes = /^(40001|40P01)$/;
const staleCodes = /^(0A000|26000)$/;
/** Classes whose messages hold only our names: syntax, resources, limits, states of objects, the system. */
const speakableClasses = /^(0A|0B|25|28|3D|3F|42|53|54|55|57|58|72|XX)/;

interface ServerError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly table?: unknown;
  readonly column?: unknown;
  readonly constraint?: unknown;
}

const nameOf = (what: string, value: unknown): string =>
  typeof value === 'string' && value !== '' ? ` ${what} ${value}` : '';

/**
 * A fault from an error of the driver.
 * @param isFromServer false for errors that the server did not send.
 */
export function faultOf(thrown: unknown, isFromServer: boolean): PostgresFault {
  const error: ServerError = typeof thrown === 'object' && thrown !== null ? thrown : {};
  const code = typeof error.code === 'string' ? error.code : 'CONNECTION';
  const said = typeof error.message === 'string' ? error.message : 'unknown fault';
  if (!isFromServer) return new PostgresFault('lost', code, said);
  const where = `${nameOf('table', error.table)}${nameOf('column', error.column)}${nameOf('constraint', error.constraint)}`;
  const message = speakableClasses.test(code) ? `${said}${where}` : `the server refused the values${where}`;
  if (lostCodes.test(code) || staleCodes.test(code)) return new PostgresFault('lost', code, message);
  return new PostgresFault(againCodes.test(code) ? 'again' : 'refused', code, message);
}

function hintOf(code: string): string {
  if (code.startsWith('53')) return 'Free some disk space or memory at the server, or raise its limits.';
  if (code.startsWith('28')) return 'Check the user, its password (PGPASSFILE, the URL) and pg_hba.conf.';
  if (code === '3D000') return 'Create the database first: createdb --encoding=UTF8.';
  if (code === '42501') return 'The user must own the schema or be allowed to create tables in it.';
  if (code === '55P03') return 'Another process holds the store; see pg_stat_activity.';
  return 'Check that the server runs and can be reached, and its log.';
}

/** @param server the database without its password. */
export function storageFault(server: string, fault: PostgresFault, extras: ErrorExtras = {}): AppError {
  return new AppError('storage', `${server}: ${fault.code}: ${fault.message}`, {
    cause: fault,
    hint: hintOf(fault.code),
    ...extras,
  });
}
