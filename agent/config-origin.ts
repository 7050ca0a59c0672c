// Which values of a vehicle come from the broker's configuration, read from the slots on disk: for `status` and
// `config show --origin`, beside a running agent too. Read-only.

import { decodeZones } from '../src/core/geo/zone-config.ts';
import type { Settings } from '../src/core/settings/settings.ts';
import { readConfigContent } from '../src/core/wire/config-content.ts';
import { activeRecord } from './core/config/config-slots.ts';
import { startConfig } from './core/config/config-start.ts';
import type { ConfigStore } from './ports.ts';

export interface RemoteConfig {
  /** 0: the installer's file alone. */
  readonly version: number;
  /** SHA-256 of its content; null with version 0. */
  readonly sha256: string | null;
  /** Version that is on trial and not yet confirmed; null when none is. */
  readonly onTrial: number | null;
  /** The settings that a start of the agent would begin with. */
  readonly settings: Settings;
  /** `table.member` of every value that comes from the configuration. */
  readonly chosen: readonly string[];
  readonly zoneCount: number;
  /** Unusable slots, as text. */
  readonly faults: readonly string[];
}

/** @param base the installer's settings. Never rejects. */
export async function readRemoteConfig(store: ConfigStore, base: Settings): Promise<RemoteConfig> {
  const given = { nowMs: 0, base, decodeZones };
  const { state, settings } = startConfig(await store.read(), given);
  const record = activeRecord(state);
  const content = record === null ? null : readConfigContent(record.content, given);
  const tried = [state.slots.a, state.slots.b].find((slot) => slot?.state === 'trial');
  const isKnown = content?.kind === 'ok';
  return {
    version: record?.version ?? 0,
    sha256: record?.sha256 ?? null,
    onTrial: tried?.version ?? null,
    settings,
    chosen: isKnown ? content.chosen : [],
    zoneCount: isKnown ? content.zones.length : 0,
    faults: state.atStart.flatMap((effect) =>
      effect.kind === 'log' && effect.event === 'config_slot_unusable'
        ? [`slot ${String(effect.fields['slot'])}: ${String(effect.fields['reason'])}`]
        : [],
    ),
  };
}
