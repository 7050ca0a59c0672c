// Log over pino: JSON lines on stdout for the journal, one line per state change. Secrets are redacted by key as a
// last line of defence; callers must not pass any.
import { type Logger, pino } from 'pino';
import type { Log } from '../ports.ts';

const secretKeys = ['password', 'token', 'secret', 'authorization', 'privateKey'];

function wrap(logger: Logger): Log {
  return {
    debug: (event, fields = {}) => logger.debug(fields, event),
    info: (event, fields = {}) => logger.info(fields, event),
    warn: (event, fields = {}) => logger.warn(fields, event),
    error: (event, fields = {}) => logger.error(fields, event),
    with: (fields) => wrap(logger.child(fields)),
  };
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * `stderr` keeps stdout free for the output of command line tools.
 * @param onLine gets every line as it is written, so without what is redacted.
 */
export function createLog(
  level: LogLevel,
  stream: 'stdout' | 'stderr' = 'stdout',
  onLine?: (line: string) => void,
): Log {
  const redact = [...secretKeys, ...secretKeys.map((key) => `*.${key}`)];
  const destination = pino.destination({ dest: stream === 'stdout' ? 1 : 2, sync: true });
  const tee = {
    write(line: string): void {
      destination.write(line);
      onLine?.(line);
    },
  };
  const target = onLine === undefined ? destination : tee;
  return wrap(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact }, target));
}
