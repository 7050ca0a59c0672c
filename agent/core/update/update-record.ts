// Parses the stored record of an update. An incomplete record counts as no update, and the start then decides by the
// launcher's state.
import { isCount, isIdText, isText } from '../../../src/core/wire/wire-checks.ts';
import { type ActiveUpdate, noUpdateRecord, type UpdateRecord } from './update-types.ts';

type JsonObject = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

function parseActive(value: unknown): ActiveUpdate | null {
  if (!isObject(value) || !isObject(value['baseline'])) return null;
  const { commandID, version, url, sha256, issuedMs, expiresMs, swaps, baseline } = value;
  const phase = (['fetching', 'staged', 'swapping'] as const).find((one) => one === value['phase']);
  if (!isIdText(commandID) || !isText(version, 64) || !isText(url, 1000) || !isText(sha256, 64)) return null;
  if (!/^[0-9a-f]{64}$/.test(sha256) || phase === undefined) return null;
  if (!isCount(issuedMs) || !isCount(expiresMs) || !isCount(swaps)) return null;
  const { board, gnss, broker } = baseline;
  const worked = { board: board === true, gnss: gnss === true, broker: broker === true };
  return { commandID, version, url, sha256, issuedMs, expiresMs, phase, baseline: worked, swaps };
}

/** The record from a value that was read; none when it is not whole. */
export function parseUpdateRecord(value: unknown): UpdateRecord {
  const active = isObject(value) ? parseActive(value['active']) : null;
  return active === null ? noUpdateRecord : { active };
}
