// The owner as a module of the vehicle: keeps the owner's document, and refuses each order that restricts the vehicle unless the persons of its
// list agree to it. It only objects. Restore and lock are never asked about.
import { Type } from 'typebox';
import { dateOfNumber, dateText } from '../../../src/core/calendar.ts';
import { dayMs } from '../../../src/core/durations.ts';
import {
  type Owner,
  type OwnerSource,
  type OwnerVerdict,
  ownerFingerprint,
  ownerPinPattern,
  parseOwnerDocument,
  verifyOwnerDocument,
} from '../../../src/core/persons/owner-document.ts';
import {
  createVerifyPersons,
  type PersonsRefusal,
  type PersonsRefusalReason,
} from '../../../src/core/persons/persons.ts';
import type { PersonsCrypto } from '../../../src/core/persons/webauthn.ts';
import type { CommandBody, Hello, OwnerBody } from '../../../src/core/wire/wire.ts';
import type { ModuleStart, StatusLine, StepContext, VehicleModule, VehicleState } from '../kernel/module.ts';
import { reviewCommands } from '../kernel/vehicle-control.ts';
import { deliver } from '../kernel/vehicle-delivery.ts';
import { recordGuardFact } from '../kernel/vehicle-guard.ts';
import { commitNow, isOurs, log, put } from '../kernel/vehicle-state.ts';
import { isWaiting } from '../protection/command-intake.ts';
import { isSafeState } from '../protection/interlock.ts';
import { latestUtcMs } from '../timekeeping.ts';

/** What the installer chose. */
export interface OwnerConfig {
  /** Id of the owner's first set of keys. No message changes it. */
  readonly pin: string;
}

export interface OwnerState {
  readonly pin: string;
  /** Null: no document was accepted yet. */
  readonly owner: Owner | null;
  readonly crypto: PersonsCrypto | null;
  /** The document on this machine is newer than the stored one. */
  readonly isRenewed: boolean;
}

/** For status and metrics; null: the unit has no owner. */
export interface OwnerStatus {
  readonly fingerprint: string;
  /** Versions of the set and of the list; null: none. */
  readonly set: number | null;
  readonly list: number | null;
  readonly validUntilMs: number | null;
}

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** Null: no owner's key is pinned. */
    readonly owner: OwnerState | null;
  }
  interface ModuleConfig {
    readonly owner?: OwnerConfig;
    /** Absent: what restricts the vehicle is refused on a unit with an owner. */
    readonly ownerSource?: OwnerSource;
  }
  interface ModuleRows {
    /** The document, as it was accepted. */
    readonly owner: Owner['document'];
  }
  interface ModuleEvents {
    /** A document of the owner, carried by the service. */
    readonly owner: { readonly body: OwnerBody };
  }
  interface ModuleStatus {
    readonly owner: OwnerStatus | null;
  }
}

const ownerSchema = Type.Object({
  key: Type.Optional(
    Type.String({
      pattern: ownerPinPattern,
      description:
        "The owner's key, as `fleetward-broker owner show` prints it: cut and unlock then need the owner's persons",
    }),
  ),
});

const verdictOf = ({ pin, owner, crypto }: OwnerState, value: unknown): OwnerVerdict =>
  crypto === null
    ? { ok: false, refusal: 'document_form' }
    : verifyOwnerDocument({ pin, value, known: owner }, crypto);

/** The newer of the stored document and the one on this machine. */
function startOwner({ config, rows }: ModuleStart): OwnerState | null {
  const { owner: pinned, ownerSource } = config;
  if (pinned === undefined) return null;
  const text = ownerSource?.documentText ?? null;
  const crypto = ownerSource?.crypto ?? null;
  const none: OwnerState = { pin: pinned.pin, owner: null, crypto, isRenewed: false };
  const stored = verdictOf(none, rows['owner']);
  const state = stored.ok ? { ...none, owner: stored.owner } : none;
  const given = verdictOf(state, text === null ? undefined : parseOwnerDocument(text));
  return given.ok ? { ...state, owner: given.owner, isRenewed: true } : state;
}

/** Drops orders that wait: the list may name other persons. */
const dropWaiting = (context: StepContext): void =>
  reviewCommands(context, { kind: 'local', dropped: 'persons: the owner changed who may order' });

/** Above the time from a decision to the relay, so the guard refuses no order that began before. */
const endingMs = 10_000;

/** Drops orders that wait just before their list ends: its end is expected, and a refusal by the guard is an alarm. */
function dropEnded(context: StepContext): void {
  const { owner: state, commands, time } = context.state;
  const list = state?.owner?.list ?? null;
  if (list === null || (latestUtcMs(time, context.now.monoMs) ?? 0) < list.validUntilMs - endingMs) return;
  const { active, next } = commands.record;
  const orders = [...Object.values(active), ...Object.values(next)];
  if (orders.some((one) => isWaiting(one) && !isSafeState(one.feature, one.state)))
    reviewCommands(context, { kind: 'local', dropped: refusalText({ reason: 'list_ended' }) });
}

/** Takes a newer document. */
function handleDocument(context: StepContext, body: OwnerBody): void {
  const { owner: before } = context.state;
  if (before === null || !isOurs(context, body)) return log(context, 'error', 'owner_not_for_this_unit');
  const verdict = verdictOf(before, body.document);
  if (!verdict.ok) return log(context, 'warn', 'owner_document_refused', { reason: verdict.refusal });
  put(context, { owner: { ...before, owner: verdict.owner } });
  commitNow(context, []);
  const { set, list } = verdict.owner;
  log(context, 'info', 'owner_document', { set: set.version, list: list?.version ?? null });
  recordGuardFact(context, { kind: 'owner', atMs: context.now.monoMs, list });
  deliver(context, { kind: 'outdated' });
  dropWaiting(context);
}

/** A refusal as commands report it: its name, then the person or a count. */
function refusalText({ reason, person, needed, given }: PersonsRefusal): string {
  const detail = person ?? (needed === undefined ? '' : `${given ?? 0} of ${needed}`);
  return `persons: ${reason}${detail === '' ? '' : ` (${detail})`}`;
}

/** Of an order that no person signed: a geozone's, or that of any other cause on the vehicle itself. */
export const unsignedRefusal = 'persons: unsigned';

function objectionOf(
  { owner: state }: VehicleState,
  body: CommandBody | null,
  latestUtcMs: number | null,
): string | null {
  if (state === null) return null;
  if (body === null) return unsignedRefusal;
  const { owner, crypto } = state;
  const missing: PersonsRefusalReason = 'no_list';
  if (crypto === null) return refusalText({ reason: missing });
  const verdict = createVerifyPersons(crypto)(owner?.list ?? null, body, body.assertions ?? [], latestUtcMs);
  return verdict.ok ? null : refusalText(verdict.refusal);
}

function statusOf({ owner: state }: VehicleState): OwnerStatus | null {
  if (state === null) return null;
  const { pin, owner } = state;
  const { set = null, list = null } = owner ?? {};
  return {
    fingerprint: ownerFingerprint(pin),
    set: set?.version ?? null,
    list: list?.version ?? null,
    validUntilMs: list?.validUntilMs ?? null,
  };
}

function helloOf({ owner: state }: VehicleState): Pick<Hello, 'owner'> {
  if (state === null) return {};
  const { pin, owner } = state;
  return { owner: { pin, set: owner?.set.version ?? 0, list: owner?.list?.version ?? 0 } };
}

function linesOf(owner: OwnerStatus | null): readonly StatusLine[] {
  if (owner === null) return [];
  const { fingerprint, list, validUntilMs } = owner;
  if (list === null || validUntilMs === null)
    return [
      {
        level: 'fault',
        name: 'Owner',
        words: `${fingerprint}; no list of persons: cut and unlock are refused`,
        todo: "Compare the key with the owner's, and carry owner.json to the service, or beside agent.toml of this machine.",
      },
    ];
  const day = dateText(dateOfNumber(Math.floor(validUntilMs / dayMs)));
  return [
    { level: 'ok', name: 'Owner', words: `${fingerprint}; list ${list}, valid until ${day}`, todo: '' },
  ];
}

export const ownerModule: VehicleModule = {
  tables: [
    {
      table: 'owner',
      schema: Type.Optional(ownerSchema),
      configOf: (table) => {
        const { key } = (table ?? {}) as { readonly key?: string };
        return key === undefined ? null : { pin: key };
      },
      describe: (config) => ownerFingerprint((config as OwnerConfig).pin),
      warnings: [
        "cut and unlock need the assertions of the persons on the owner's list; geozones cut and unlock nothing, and the doctor tests no relay",
      ],
    },
  ],
  create: (start) => ({ owner: startOwner(start) }),
  rows: ({ owner }) => (owner?.owner ? { owner: owner.owner.document } : {}),
  on: {
    start: (context) => context.state.owner?.isRenewed === true && dropWaiting(context),
    owner: (context, { body }) => handleDocument(context, body),
  },
  settled: dropEnded,
  objection: objectionOf,
  hello: helloOf,
  status: (state) => ({ owner: statusOf(state) }),
  lines: ({ owner }) => linesOf(owner),
};
