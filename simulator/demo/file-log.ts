// The log file of the demo's vehicles. Bounded by rotation to one older file; lines that cannot be written, for example because the
// folder was removed, are dropped.
import { appendFileSync, renameSync, statSync } from 'node:fs';
import type { Log, LogFields } from '../../src/ports.ts';

const maxBytes = 4 * 1024 * 1024;

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Writes info and above as JSON lines with mode 0600; drops what cannot be written. */
export function createFileLog(path: string): Log {
  let bytes = sizeOf(path);
  const write = (level: string, entry: { event: string; fields: LogFields }): void => {
    const { event, fields } = entry;
    const text = `${JSON.stringify({ time: new Date().toISOString(), level, ...fields, msg: event })}\n`;
    try {
      if (bytes + text.length > maxBytes) {
        renameSync(path, `${path}.1`);
        bytes = 0;
      }
      appendFileSync(path, text, { mode: 0o600 });
      bytes += text.length;
    } catch {
      // The vehicles go on; their outboxes say for themselves when the disk is gone.
    }
  };
  const withFields = (bound: LogFields): Log => ({
    debug: () => undefined,
    info: (event, fields = {}) => write('info', { event, fields: { ...bound, ...fields } }),
    warn: (event, fields = {}) => write('warn', { event, fields: { ...bound, ...fields } }),
    error: (event, fields = {}) => write('error', { event, fields: { ...bound, ...fields } }),
    with: (fields) => withFields({ ...bound, ...fields }),
  });
  return withFields({});
}
