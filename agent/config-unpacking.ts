// From the signed parts of a configuration to its text: assembled, inflated within a limit, compared with its
// SHA-256. A part for another vehicle or boot is never parsed, and no content can take more memory than the limits.
import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { messageOf } from '../src/core/errors.ts';
import {
  type Assembly,
  configLimits,
  decodeConfigPart,
  type PackedConfig,
  takePart,
} from '../src/core/wire/config-message.ts';
import { signedTypes } from '../src/core/wire/wire.ts';
import type { Log, Verifier } from '../src/ports.ts';
import { type ReceivedConfig } from './core/kernel/vehicle-types.ts';

/**
 * Inflates and checks a complete configuration; an invalid one is refused with a reason. It takes some 10 ms for
 * each MiB and runs in the event loop: a configuration is rare.
 */
export function unpackConfig({ version, sha256, packed }: PackedConfig): ReceivedConfig {
  const refused = (reason: string): ReceivedConfig => ({ kind: 'refused', version, sha256, reason });
  try {
    const bytes = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: configLimits.wholeBytes });
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      return refused('its SHA-256 does not fit');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { kind: 'received', version, sha256, text };
  } catch (thrown) {
    return refused(`it cannot be unpacked: ${messageOf(thrown)}`);
  }
}

interface ConfigInboxOptions {
  readonly verifier: Verifier;
  readonly log: Log;
  readonly mine: { readonly accountID: string; readonly deviceID: string; readonly boot: string };
  onConfig(received: ReceivedConfig): void;
}

/** Takes what comes on the topic `config`. */
export function createConfigInbox({ verifier, log, mine, onConfig }: ConfigInboxOptions) {
  let assembly: Assembly | null = null;
  return {
    handle(token: string): void {
      const body = verifier.verify(token, signedTypes.config);
      const part = body === null ? null : decodeConfigPart(body);
      if (part === null) {
        return log.error('config_invalid', {
          reason: 'bad signature or content',
          hint: 'Is broker.publicKey that of this broker?',
        });
      }
      const { accountID, deviceID, boot, version } = part;
      if (accountID !== mine.accountID || deviceID !== mine.deviceID || boot !== mine.boot)
        return log.error('config_not_for_this_boot', { version });
      const step = takePart(assembly, part);
      assembly = step.assembly;
      if (step.whole !== null) onConfig(unpackConfig(step.whole));
    },
  };
}
