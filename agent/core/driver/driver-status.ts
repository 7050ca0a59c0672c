// The reader of drivers' keys and the identified driver, for `status`. Pure. Ids of keys are shown masked only.
import type { DriverSettings } from '../../../src/core/settings/driver.ts';
import type { StatusLine } from '../kernel/module.ts';
import { allowedKeys, type DriverState } from './driver.ts';
import { maskKey } from './key-id.ts';
import type { ReaderReading } from './reader-reading.ts';

export type DriverText = Omit<StatusLine, 'name'>;

/** @param nowMs monotonic. */
export function driverStatus(
  { reader, id, identifiedMs }: DriverState,
  given: { readonly nowMs: number; readonly settings: DriverSettings },
) {
  return {
    phase: reader?.phase ?? 'opening',
    fault: reader?.fault ?? null,
    portFault: reader?.portFault ?? null,
    keys: reader?.keys ?? 0,
    rejected: reader?.rejected ?? 0,
    noise: reader?.noise ?? 0,
    /** The driver's key, masked; null: not known. */
    driver: id === null ? null : maskKey(id),
    forS: id === null ? null : Math.round((given.nowMs - identifiedMs) / 1000),
    /** Keys on the list; 0: every key counts. */
    allowed: allowedKeys(given.settings).size,
  } as const;
}

export type DriverStatus = ReturnType<typeof driverStatus>;

/** Fault of the reader; null: none known. */
export function readerFaultText({
  phase,
  fault,
  portFault,
}: Pick<ReaderReading, 'phase' | 'fault' | 'portFault'>): DriverText | null {
  if (fault === 'port')
    return {
      level: 'fault',
      words: `the port of the reader cannot be opened: ${portFault ?? ''}`,
      todo: 'Check driverReader.port, the plug, and that no other program has it.',
    };
  if (fault === 'no_answer')
    return {
      level: 'fault',
      words: 'the reader does not answer as a DS2480B',
      todo: 'Check driverReader.port and its supply; a reader that sends tags by itself is kind = "rfid".',
    };
  if (fault === 'shorted')
    return {
      level: 'fault',
      words: 'the probe of the iButtons is shorted',
      todo: 'Check its two wires; an iButton that is held aslant shorts it for a moment.',
    };
  if (fault === 'no_checksum')
    return {
      level: 'fault',
      words: 'the reader sends numbers without a checksum, of which no key is read',
      todo: 'Set the reader to hex digits with a checksum (format of RDM6300 or ID-12LA), or use one that sends them.',
    };
  return phase === 'opening' ? { level: 'note', words: 'the reader is being opened', todo: '' } : null;
}

/** Reader and driver in one line. */
export function driverText(status: DriverStatus): DriverText {
  const { driver, allowed, rejected } = status;
  const who = driver === null ? 'not identified' : `key ${driver}`;
  const list = allowed === 0 ? 'every key counts' : `${allowed} keys allowed`;
  const damaged = rejected === 0 ? '' : `; ${rejected} damaged readings`;
  const wrong = readerFaultText(status);
  if (wrong !== null) return { ...wrong, words: `${wrong.words}; driver ${who}` };
  return { level: 'ok', words: `${who}; ${list}${damaged}`, todo: '' };
}
