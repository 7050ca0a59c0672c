// What a vehicle says of the configuration that it was sent. Pure; what it says is checked and cut to size here.
import type { FleetEvent } from '../../src/core/event.ts';
import { statusCodes } from '../../src/core/status-codes.ts';
import { storableText } from './reported-reason.ts';

/** What an event says of a configuration; null when it is about anything else. */
export function newsOf({ statusCode, commandID, attributes = {} }: FleetEvent) {
  const { configVersion, configSha256, reason, retry, heldVersion, heldSha256 } = attributes;
  if (commandID !== undefined || typeof configVersion !== 'number' || !Number.isSafeInteger(configVersion))
    return null;
  const version = configVersion;
  if (statusCode === statusCodes.CONFIG_COMPLETE.code && typeof configSha256 === 'string')
    return { kind: 'held' as const, version, sha256: storableText(configSha256, 64) };
  if (statusCode !== statusCodes.CONFIG_FAILED.code) return null;
  // Who does not say what holds instead holds nothing that is known.
  const held = {
    version: typeof heldVersion === 'number' && Number.isSafeInteger(heldVersion) ? heldVersion : 0,
    sha256: storableText(heldSha256, 64),
  };
  return { kind: 'failed' as const, version, reason: storableText(reason), retry: retry === true, held };
}
