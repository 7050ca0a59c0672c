// The vehicle's configuration as a pure machine with two slots. The order matters: a new content is checked completely, written to the inactive slot,
// and tried. It is kept only when the broker has acknowledged the event that reports it; otherwise the previous one is restored. The vehicle always
// has a working configuration: the installer's file is the last resort. Rules: edge-agents 1d (Config) and section 5, failure 1. Startup is in
// `config-start.ts`.

import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { type ContentVerdict, readConfigContent } from '../../../src/core/wire/config-content.ts';
import { encodeSlot, failureCount, otherSlot, type SlotRecord, withFailure } from './config-record.ts';
import {
  type ConfigEffect,
  type ConfigGiven,
  type ConfigInput,
  type ConfigState,
  type ConfigStep,
  type Content,
  type SlotWrite,
  type Trial,
  trialLimits,
} from './config-types.ts';

const reasonMost = 500;

interface Versioned {
  readonly version: number;
  readonly sha256: string;
}

/** CONFIG_COMPLETE: this version is active. */
function completeEvent({ version, sha256 }: Versioned, isAwaited: boolean): ConfigEffect {
  const attributes = { configVersion: version, configSha256: sha256 };
  return { kind: 'event', draft: { statusCode: statusCodes.CONFIG_COMPLETE.code, attributes }, isAwaited };
}

interface Refusal {
  readonly reason: string;
  /** False: the same content need not be sent again. */
  readonly retry: boolean;
  /** Active version instead; null: the installer's file. */
  readonly held: Versioned | null;
}

/** CONFIG_FAILED: this version is not active. */
function failedEvent({ version, sha256 }: Versioned, { reason, retry, held }: Refusal): ConfigEffect {
  const attributes = {
    configVersion: version,
    configSha256: sha256,
    reason: reason.slice(0, reasonMost),
    retry,
    heldVersion: held?.version ?? 0,
    heldSha256: held?.sha256 ?? '',
  };
  return {
    kind: 'event',
    draft: { statusCode: statusCodes.CONFIG_FAILED.code, attributes },
    isAwaited: false,
  };
}

const logged = (
  level: 'info' | 'warn' | 'error',
  event: string,
  fields: Readonly<Record<string, unknown>>,
): ConfigEffect => ({ kind: 'log', level, event, fields });

/** The active slot; null: the installer's file. */
export function activeRecord({ slots, active }: ConfigState): SlotRecord | null {
  return active === null ? null : slots[active];
}

/** Begins a write with the next serial. */
export function beginWrite(
  state: ConfigState,
  wanted: Pick<SlotWrite, 'slot' | 'record' | 'aim' | 'isStubborn'> & { readonly reason?: string },
): ConfigStep {
  const serial = state.serial + 1;
  const { reason = '', ...rest } = wanted;
  const record = { ...wanted.record, serial, failures: state.failures };
  const write: SlotWrite = { ...rest, record, reason, retryAtMs: null };
  return {
    state: { ...state, serial, write },
    effects: [{ kind: 'write', slot: write.slot, bytes: encodeSlot(record) }],
  };
}

export function faultText(faults: Extract<ContentVerdict<never>, { kind: 'faults' }>['faults']): string {
  const words = faults
    .slice(0, 5)
    .map(({ pointer, message }) => `${pointer || 'the configuration'} ${message}`);
  const more = faults.length > 5 ? `; ${faults.length - 5} more` : '';
  return `${words.join('; ')}${more}`;
}

function receive(
  state: ConfigState,
  input: Extract<ConfigInput, { kind: 'received' }>,
  given: ConfigGiven,
): ConfigStep {
  const { version, sha256, text } = input;
  const answer = (effect: ConfigEffect): ConfigStep => ({ state, effects: [effect] });
  const refuse = (reason: string): ConfigStep =>
    answer(failedEvent(input, { reason, retry: false, held: activeRecord(state) }));
  if (state.write !== null || state.trial !== null)
    return answer(logged('info', 'configuration waits: another one is being tried', { version }));
  const held = activeRecord(state);
  if (held !== null && version < held.version)
    return answer(logged('warn', 'old configuration ignored', { version, held: held.version }));
  if (held !== null && sha256 === held.sha256) {
    if (version === held.version) return answer(completeEvent(held, false));
    // The content is identical: records its version and leaves the active configuration untouched.
    const slot = state.active ?? 'a';
    return beginWrite(state, { slot, record: { ...held, version }, aim: 'note', isStubborn: false });
  }
  if (version === held?.version) return refuse('another content came under a version that is held already');
  const failed = failureCount(state.failures, sha256);
  if (failed >= trialLimits.failuresMost) return refuse(`it failed ${failed} times and is not tried again`);
  const verdict = readConfigContent(text, given);
  if (verdict.kind === 'faults') return refuse(faultText(verdict.faults));
  const slot = state.active === null ? 'a' : otherSlot(state.active);
  const record = {
    serial: 0,
    state: 'trial',
    version,
    sha256,
    starts: 0,
    failures: [],
    content: text,
  } as const;
  return beginWrite(state, { slot, record, aim: 'try', isStubborn: false });
}

const apply = ({ settings, zones }: Content): ConfigEffect => ({ kind: 'apply', settings, zones });

function contentOf(record: SlotRecord | null, given: ConfigGiven): Content {
  const verdict = record === null ? null : readConfigContent(record.content, given);
  return verdict?.kind === 'ok' ? verdict : { kind: 'ok', settings: given.base, zones: [], chosen: [] };
}

function finishWrite(state: ConfigState, write: SlotWrite, given: ConfigGiven): ConfigStep {
  const { slot, record, aim } = write;
  const written: ConfigState = { ...state, slots: { ...state.slots, [slot]: record }, write: null };
  const { version } = record;
  switch (aim) {
    case 'try': {
      const { nowMs } = given;
      const trial: Trial = {
        seq: null,
        reportedMs: nowMs,
        lookedMs: nowMs,
        acknowledged: 0,
        quietMs: 0,
        linkMs: 0,
      };
      return {
        state: { ...written, active: slot, trial },
        effects: [
          apply(contentOf(record, given)),
          // The broker's acknowledgement of this event ends the trial.
          completeEvent(record, true),
          logged('info', 'configuration on trial', { version }),
        ],
      };
    }
    case 'keep':
      return {
        state: { ...written, trial: null },
        effects: [logged('info', 'configuration kept', { version })],
      };
    case 'note':
      return { state: written, effects: [completeEvent(record, false)] };
    case 'fail': {
      const retry = failureCount(record.failures, record.sha256) < trialLimits.failuresMost;
      return {
        state: written,
        effects: [failedEvent(record, { reason: write.reason, retry, held: activeRecord(written) })],
      };
    }
  }
}

function handleWritten(
  state: ConfigState,
  input: Extract<ConfigInput, { kind: 'written' }>,
  given: ConfigGiven,
): ConfigStep {
  const { write } = state;
  if (write === null || write.slot !== input.slot || write.retryAtMs !== null) return { state, effects: [] };
  if (input.fault === null) return finishWrite(state, write, given);
  const reason = `it cannot be written: ${input.fault}`;
  const logEntry = logged('error', 'configuration not written', { slot: write.slot, reason: input.fault });
  if (write.isStubborn) {
    const retryAtMs = given.nowMs + trialLimits.retryMs;
    return { state: { ...state, write: { ...write, retryAtMs } }, effects: [logEntry] };
  }
  // The target slot was inactive, except for a write that only records a version: that slot is unchanged.
  const slots = write.aim === 'note' ? state.slots : { ...state.slots, [write.slot]: null };
  const failed = failedEvent(write.record, { reason, retry: true, held: activeRecord(state) });
  return { state: { ...state, slots, write: null }, effects: [logEntry, failed] };
}

/** Ends a trial: activates the previous content at once, then writes it, then reports. */
export function rollBack(state: ConfigState, reason: string, given: ConfigGiven): ConfigStep {
  const slot = state.active ?? 'a';
  const record = state.slots[slot];
  if (record === null) return { state, effects: [] };
  const before = state.slots[otherSlot(slot)];
  const active = before?.state === 'good' ? otherSlot(slot) : null;
  const failures = withFailure(state.failures, record.sha256);
  const rest: ConfigState = { ...state, active, failures, trial: null, write: null };
  const begun = beginWrite(rest, {
    slot,
    record: { ...record, state: 'failed', content: '' },
    aim: 'fail',
    reason,
    isStubborn: true,
  });
  const { version } = record;
  return {
    state: begun.state,
    effects: [
      logged('error', 'configuration rolled back', { version, reason }),
      apply(contentOf(active === null ? null : before, given)),
      ...begun.effects,
    ],
  };
}

function confirm(state: ConfigState, { ranges }: Extract<ConfigInput, { kind: 'acked' }>): ConfigStep {
  const { trial, active } = state;
  const seq = trial?.seq ?? null;
  const record = activeRecord(state);
  if (seq === null || active === null || record === null || state.write !== null)
    return { state, effects: [] };
  if (!ranges.some(([from, to]) => seq >= from && seq <= to)) return { state, effects: [] };
  return beginWrite(state, {
    slot: active,
    record: { ...record, state: 'good', starts: 0 },
    aim: 'keep',
    isStubborn: true,
  });
}

function passTime(
  state: ConfigState,
  input: Extract<ConfigInput, { kind: 'time' }>,
  given: ConfigGiven,
): ConfigStep {
  const { write, trial } = state;
  const { nowMs } = given;
  if (write !== null) {
    if (write.retryAtMs === null || nowMs < write.retryAtMs) return { state, effects: [] };
    const again: SlotWrite = { ...write, retryAtMs: null };
    const bytes = encodeSlot(write.record);
    return { state: { ...state, write: again }, effects: [{ kind: 'write', slot: write.slot, bytes }] };
  }
  const record = activeRecord(state);
  if (trial === null || record === null) return { state, effects: [] };
  if (trial.seq === null) {
    if (nowMs - trial.reportedMs < trialLimits.reportAgainMs) return { state, effects: [] };
    return {
      state: { ...state, trial: { ...trial, reportedMs: nowMs } },
      effects: [completeEvent(record, true)],
    };
  }
  const passedMs = input.isUp ? Math.min(nowMs - trial.lookedMs, trialLimits.lookMostMs) : 0;
  const hasProgress = input.acknowledged !== trial.acknowledged;
  const looked: Trial = {
    ...trial,
    lookedMs: nowMs,
    acknowledged: input.acknowledged,
    quietMs: hasProgress ? 0 : trial.quietMs + passedMs,
    linkMs: trial.linkMs + passedMs,
  };
  const isOver = looked.quietMs >= trialLimits.quietMs || looked.linkMs >= trialLimits.linkMostMs;
  if (!isOver) return { state: { ...state, trial: looked }, effects: [] };
  return rollBack(state, 'the broker did not acknowledge it in time', given);
}

export function stepConfig(state: ConfigState, input: ConfigInput, given: ConfigGiven): ConfigStep {
  switch (input.kind) {
    case 'start':
      return { state: { ...state, atStart: [] }, effects: state.atStart };
    case 'received':
      return receive(state, input, given);
    case 'refused': {
      const { reason } = input;
      return { state, effects: [failedEvent(input, { reason, retry: false, held: activeRecord(state) })] };
    }
    case 'written':
      return handleWritten(state, input, given);
    case 'stored':
      if (state.trial === null || input.seq === null) return { state, effects: [] };
      return {
        state: { ...state, trial: { ...state.trial, seq: input.seq, lookedMs: given.nowMs } },
        effects: [],
      };
    case 'acked':
      return confirm(state, input);
    case 'time':
      return passTime(state, input, given);
  }
}
