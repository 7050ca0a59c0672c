// Selects the active configuration when the agent starts. An interrupted trial gets one further start, counted on disk before it is tried. An
// unreadable slot falls back to the other one, and both to the installer's file. Pure. It must never fail, whatever the slots hold.

import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import { readConfigContent } from '../../../src/core/wire/config-content.ts';
import {
  decodeSlot,
  type Failure,
  type SlotFile,
  type SlotFiles,
  type SlotName,
  type SlotRecord,
  slotNames,
} from './config-record.ts';
import { beginWrite, faultText, rollBack } from './config-slots.ts';
import { type ConfigEffect, type ConfigGiven, type ConfigState, trialLimits } from './config-types.ts';

export interface StartedConfig {
  readonly state: ConfigState;
  /** Apply from the first moment; zones are applied at the event `start`. */
  readonly settings: Settings;
}

interface Found {
  readonly record: SlotRecord | null;
  /** Reason why an existing slot is unusable; null: none. */
  readonly fault: string | null;
  readonly settings?: Settings;
  readonly zones?: readonly ZoneConfig[];
}

function look(file: SlotFile, given: ConfigGiven): Found {
  if (file.kind === 'absent') return { record: null, fault: null };
  if (file.kind === 'damaged') return { record: null, fault: file.reason };
  const record = decodeSlot(file.bytes);
  if (record === null) return { record: null, fault: 'it is not a slot of this version of the agent' };
  if (record.state === 'failed') return { record, fault: null };
  const verdict = readConfigContent(record.content, given);
  if (verdict.kind === 'faults') return { record: null, fault: faultText(verdict.faults) };
  return { record, fault: null, settings: verdict.settings, zones: verdict.zones };
}

function newestFailures(records: readonly SlotRecord[]): readonly Failure[] {
  return records.toSorted((one, other) => other.serial - one.serial)[0]?.failures ?? [];
}

/** One event for each unusable slot, which names the configuration used instead. */
function losses(
  found: Readonly<Record<SlotName, Found>>,
  active: SlotRecord | null,
): readonly ConfigEffect[] {
  return slotNames.flatMap((slot): readonly ConfigEffect[] => {
    const { fault } = found[slot];
    if (fault === null) return [];
    const attributes = { slot, reason: fault.slice(0, 500), configVersion: active?.version ?? 0 };
    return [
      { kind: 'log', level: 'error', event: 'config_slot_unusable', fields: attributes },
      { kind: 'event', draft: { statusCode: statusCodes.CONFIG_RESET.code, attributes }, isAwaited: false },
    ];
  });
}

function pick(found: Readonly<Record<SlotName, Found>>, wanted: SlotRecord['state']): SlotName | null {
  const of = slotNames.filter((slot) => found[slot].record?.state === wanted);
  const serial = (slot: SlotName): number => found[slot].record?.serial ?? 0;
  return of.toSorted((one, other) => serial(other) - serial(one))[0] ?? null;
}

/** The active configuration from the first moment, and the effects of the event `start`. */
export function startConfig(files: SlotFiles, given: ConfigGiven): StartedConfig {
  const found = { a: look(files.a, given), b: look(files.b, given) };
  const slots = { a: found.a.record, b: found.b.record };
  const records = [slots.a, slots.b].filter((record) => record !== null);
  const good = pick(found, 'good');
  const active = good === null ? null : found[good];
  const state: ConfigState = {
    slots,
    active: good,
    write: null,
    trial: null,
    serial: Math.max(0, ...records.map(({ serial }) => serial)),
    failures: newestFailures(records),
    atStart: losses(found, active?.record ?? null),
  };
  const holds = { settings: active?.settings ?? given.base, zones: active?.zones ?? [] };
  const onTrial = pick(found, 'trial');
  const tried = onTrial === null ? null : slots[onTrial];
  const taken: readonly ConfigEffect[] = active === null ? [] : [{ kind: 'apply', ...holds }];
  if (onTrial === null || tried === null || tried.serial < (active?.record?.serial ?? 0))
    return { state: { ...state, atStart: [...state.atStart, ...taken] }, settings: holds.settings };
  if (tried.starts >= trialLimits.startsMost) {
    const reason = 'the agent started anew while it was on trial, and again';
    const { state: after, effects } = rollBack({ ...state, active: onTrial }, reason, given);
    return { state: { ...after, atStart: [...state.atStart, ...effects] }, settings: holds.settings };
  }
  const applied = { ...state, atStart: [...state.atStart, ...taken] };
  // The trial waits until this start is counted on disk: a content that ends the agent must not do so for ever.
  const record = { ...tried, starts: tried.starts + 1 };
  const begun = beginWrite(applied, { slot: onTrial, record, aim: 'try', isStubborn: true });
  return {
    state: { ...begun.state, atStart: [...applied.atStart, ...begun.effects] },
    settings: holds.settings,
  };
}
