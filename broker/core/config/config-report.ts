// Parses a vehicle's report on its configuration. Pure; texts are checked and truncated here.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { storableText } from '../commands/reported-reason.ts';

/** What an event says of a configuration; null when it is about anything else. */
export function configReportOf({ statusCode, commandID, attributes = {} }: FleetEvent) {
  const { configVersion, configSha256, reason, retry, heldVersion, heldSha256 } = attributes;
  if (commandID !== undefined || typeof configVersion !== 'number' || !Number.isSafeInteger(configVersion))
    return null;
  const version = configVersion;
  if (statusCode === statusCodes.CONFIG_COMPLETE.code && typeof configSha256 === 'string')
    return { kind: 'held' as const, version, sha256: storableText(configSha256, 64) };
  if (statusCode !== statusCodes.CONFIG_FAILED.code) return null;
  // Without a reported fallback, the held configuration is unknown.
  const held = {
    version: typeof heldVersion === 'number' && Number.isSafeInteger(heldVersion) ? heldVersion : 0,
    sha256: storableText(heldSha256, 64),
  };
  return { kind: 'failed' as const, version, reason: storableText(reason), retry: retry === true, held };
}
