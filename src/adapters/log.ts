// Log over pino: JSON lines on stdout for the journal, one line per state change. Secrets are redacted by key as a
// last line of defence; callers must not pass any.
import { type Logger, pino } from 'pino';
import type { Log, LogFields } from '../ports.ts';
import { openLogOutput } from './output.ts';

const secretKeys: ReadonlySet<string> = new Set([
  'password',
  'token',
  'secret',
  'authorization',
  'privateKey',
]);

/** True when a key of these fields, or of an object among them, is that of a secret. */
function holdsSecret(fields: object, depth = 1): boolean {
  // Without lists of its members: each request writes a line.
  for (const key in fields) {
    if (secretKeys.has(key) || (depth > 0 && isHolder((fields as LogFields)[key]))) return true;
  }
  return false;
}

const isHolder = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && holdsSecret(value, 0);

/**
 * The same fields without secrets. Not the redaction of pino, which copies the fields of every line: each request writes a line,
 * and none of them holds a secret.
 */
function redacted(fields: object): LogFields {
  if (!holdsSecret(fields)) return fields as LogFields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      secretKeys.has(key) ? '[Redacted]' : isHolder(value) ? redacted(value) : value,
    ]),
  );
}

function wrap(logger: Logger, flush: () => void): Log {
  return {
    debug: (event, fields = {}) => logger.debug(redacted(fields), event),
    info: (event, fields = {}) => logger.info(redacted(fields), event),
    warn(event, fields = {}) {
      logger.warn(redacted(fields), event);
      flush();
    },
    error(event, fields = {}) {
      logger.error(redacted(fields), event);
      flush();
    },
    with: (fields) => wrap(logger.child(redacted(fields)), flush),
  };
}

/** Characters of lines that are written at once, whatever their age. */
const linesMost = 64 * 1024;
/** Between two writes of lines that come often. */
const gatherMs = 10;

interface Writer {
  write(line: string): void;
  flush(): void;
}

/**
 * Gathers lines: one system call at the end of a loop turn, and at most one in `gatherMs` while lines are frequent. Warnings,
 * errors, and the rest at the end of the process are written at once.
 */
function createWriter(fd: 1 | 2): Writer {
  const output = openLogOutput(fd);
  let lines = '';
  let writtenMs = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    const text = lines;
    lines = '';
    if (text === '') return;
    writtenMs = performance.now();
    output.write(text);
  };
  const flushSoon = (): void => {
    if (performance.now() - writtenMs >= gatherMs) setImmediate(flush).unref();
    else setTimeout(flush, gatherMs).unref();
  };
  process.on('exit', () => {
    flush();
    output.finish();
  });
  return {
    write(line) {
      if (lines === '') flushSoon();
      lines += line;
      if (lines.length >= linesMost) flush();
    },
    flush,
  };
}

const writers = new Map<1 | 2, Writer>();

/** One writer for all logs of a stream, so that their lines keep their order. */
function writerOf(fd: 1 | 2): Writer {
  const writer = writers.get(fd) ?? createWriter(fd);
  writers.set(fd, writer);
  return writer;
}

/** The member with the time of a line; its text is made once a millisecond. */
function createTimestamp(): () => string {
  let lastMs = Number.NaN;
  let member = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs === lastMs) return member;
    lastMs = nowMs;
    member = `,"time":"${new Date(nowMs).toISOString()}"`;
    return member;
  };
}

const timestamp = createTimestamp();

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * `stderr` keeps stdout free for the output of command line tools.
 * @param onLine gets every line as it is written, with secrets redacted.
 */
export function createLog(
  level: LogLevel,
  stream: 'stdout' | 'stderr' = 'stdout',
  onLine?: (line: string) => void,
): Log {
  const writer = writerOf(stream === 'stdout' ? 1 : 2);
  const tee = {
    write(line: string): void {
      writer.write(line);
      onLine?.(line);
    },
  };
  const target = onLine === undefined ? writer : tee;
  return wrap(pino({ level, base: null, timestamp }, target), writer.flush);
}
