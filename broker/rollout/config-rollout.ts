// Rolls out the configuration of each vehicle: compiled on hello or after a change, signed, sent when it differs from what the
// vehicle holds, and resent until the vehicle has reported that it holds or refuses it. At most one is under way to a vehicle, and
// a change for ten thousand vehicles is served in small runs beside other work.

import { messageOf } from '../../src/core/errors.ts';
import { mergeChanges } from '../../src/core/settings/change.ts';
import { overlaySettings, standardSettings } from '../../src/core/settings/settings.ts';
import { type ConfigPart, configLimits } from '../../src/core/wire/config-message.ts';
import { encodeJsonMessage, type Hello, signedTypes } from '../../src/core/wire/wire.ts';
import type { Clock, Database, Log, Signer } from '../../src/ports.ts';
import { nextConfig } from '../core/config/config-plan.ts';
import { configReportOf } from '../core/config/config-report.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { type Committed } from '../ports/committed.ts';
import type { Downlink } from '../ports/mqtt-server.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import type { ConnectedDevice } from '../store/devices/connected-devices.ts';
import {
  type DeviceConfigRow,
  type HeldConfig,
  readDeviceConfig,
  recordCompiled,
  recordFailed,
  recordFault,
  recordHeld,
  recordSent,
} from '../store/devices/device-configs.ts';
import { changesSince, readAccountChoice, readDeviceChoice } from '../store/devices/vehicle-settings.ts';
import { type CompiledConfig, type ConfigCompiler, createConfigCompiler } from './config-compiler.ts';
import type { EncodeZones } from './config-zones.ts';
import { createRolloutSharing, type RolloutSharing } from './rollout-sharing.ts';

export interface RolloutOptions {
  /** Writes may be grouped with others; each must be durable when it resolves. */
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signer: Signer;
  readonly encodeZones: EncodeZones;
  /** Age of the oldest write that waits for the disk, in ms. */
  lagMs(): number;
  /** False when the device is not connected or does not listen to that topic. */
  publish(device: DeviceRef, message: Downlink): Promise<boolean>;
  /** Other processes serve the same vehicles. */
  readonly isShared?: boolean;
}

export interface ConfigRollout {
  /** A device has said hello on its present connection. */
  onHello(device: DeviceRef, hello: Hello): void;
  onOffline(device: DeviceRef): void;
  /** Must be called for every commit; never throws. */
  onCommitted(committed: Committed): void;
  close(): Promise<void>;
}

export const rolloutLimits = {
  /** Delay between two runs: when idle, and while work is left. */
  idleMs: 500,
  busyMs: 25,
  /** Vehicles wait longer than this for the disk: they come first. */
  lagMostMs: 200,
  /** A change is sent once nothing changed for this long ... */
  debounceMs: 1000,
  /** Parts that are signed in one batch, and vehicles that are looked at. */
  partsAtOnce: 64,
  vehiclesAtOnce: 25,
  /** Without an answer for this long it is sent again, then after twice as long, and so on. */
  resendMs: 180_000,
  resendMostMs: 3_600_000,
  /** A version that failed is tried again after this. */
  retryMs: 600_000,
  /** Changes are read again for this long, as the clocks of the processes that write them differ. */
  overlapMs: 60_000,
} as const;

interface Session {
  readonly device: DeviceRef;
  readonly boot: string;
  readonly agentVersion: string;
  held: HeldConfig;
  /** When it said so, by the broker's clock. */
  heldMs: number;
  /** What was sent and is not confirmed. */
  sent: { readonly version: number; readonly untilMs: number } | null;
  /** How often the version of `sent` left in a row. */
  tries: { readonly version: number; readonly count: number };
}

interface RolloutState {
  readonly options: RolloutOptions;
  /** Null: this process serves all of them. */
  readonly sharing: RolloutSharing | null;
  readonly compiler: ConfigCompiler;
  readonly sessions: Map<number, Session>;
  /** Device number -> monotonic time of its next check; absent: nothing to do. */
  readonly due: Map<number, number>;
  readonly seenAccounts: Map<string, number>;
  readonly seenDevices: Map<number, number>;
  /** UTC ms up to which changes were asked for. */
  changesReadMs: number;
}

function hold(session: Session, held: HeldConfig, atMs: number): void {
  session.held = held;
  session.heldMs = atMs;
}

/** A vehicle whose hello another process received. */
function adopt(state: RolloutState, { device, boot, agentVersion, held }: ConnectedDevice): Session {
  const session = newSession(state, { device, boot, agentVersion, held });
  state.sessions.set(device.deviceNo, session);
  return session;
}

function newSession(
  { options }: RolloutState,
  from: Pick<Session, 'device' | 'boot' | 'agentVersion' | 'held'>,
): Session {
  return { ...from, heldMs: Math.round(options.clock.utcMs()), sent: null, tries: { version: 0, count: 0 } };
}

/** Where several processes send: whether this one does now. */
async function isOurTurn(state: RolloutState, session: Session, row: DeviceConfigRow): Promise<boolean> {
  const { deviceNo } = session.device;
  const turn = (await state.sharing?.claim(session.device, session.boot, row)) ?? { kind: 'ours' };
  if (turn.kind === 'later') markDue(state, deviceNo, turn.delayMs);
  if (turn.kind === 'gone' && state.sessions.get(deviceNo) === session) state.sessions.delete(deviceNo);
  return turn.kind === 'ours';
}

function markDue({ due, options }: RolloutState, deviceNo: number, delayMs: number): void {
  const atMs = options.clock.monoMs() + delayMs;
  due.set(deviceNo, Math.min(due.get(deviceNo) ?? Number.POSITIVE_INFINITY, atMs));
}

/** Marks the vehicles that a change concerns as due. */
async function markChanged(state: RolloutState): Promise<void> {
  const { options, sessions, seenAccounts, seenDevices } = state;
  const nowMs = Math.round(options.clock.utcMs());
  const changes = await changesSince(options.db, state.changesReadMs - rolloutLimits.overlapMs);
  state.changesReadMs = nowMs;
  const changed = new Set<string>();
  for (const { accountID, revision } of changes.accounts) {
    if (seenAccounts.get(accountID) !== revision) changed.add(accountID);
    seenAccounts.set(accountID, revision);
  }
  for (const { deviceNo, revision } of changes.devices) {
    if (seenDevices.get(deviceNo) !== revision && sessions.has(deviceNo))
      markDue(state, deviceNo, rolloutLimits.debounceMs);
    seenDevices.set(deviceNo, revision);
  }
  if (changed.size > 0) {
    for (const [deviceNo, { device }] of sessions)
      if (changed.has(device.accountID)) markDue(state, deviceNo, rolloutLimits.debounceMs);
  }
  // Forget changes that are no longer read.
  for (const [accountID] of seenAccounts)
    if (!changes.accounts.some((one) => one.accountID === accountID)) seenAccounts.delete(accountID);
  if (seenDevices.size > changes.devices.length) {
    const asked = new Set(changes.devices.map(({ deviceNo }) => deviceNo));
    for (const deviceNo of seenDevices.keys()) if (!asked.has(deviceNo)) seenDevices.delete(deviceNo);
  }
}

/** Sends all parts; false when the vehicle went away or does not listen. */
async function send(
  state: RolloutState,
  session: Session,
  of: { version: number; compiled: CompiledConfig },
): Promise<boolean> {
  const { signer, publish } = state.options;
  const { device, boot } = session;
  const { accountID, deviceID } = device;
  const { sha256, slices } = of.compiled;
  for (const [at, data] of slices.entries()) {
    const body: ConfigPart = {
      accountID,
      deviceID,
      boot,
      version: of.version,
      sha256,
      part: at + 1,
      parts: slices.length,
      data,
    };
    const payload = new TextEncoder().encode(signer.sign(encodeJsonMessage(body), signedTypes.config));
    if (!(await publish(device, { verb: 'config', payload, qos: 1 }))) return false;
  }
  return true;
}

interface Made {
  readonly row: DeviceConfigRow;
  readonly compiled: CompiledConfig;
  readonly version: number;
}

/** What the vehicle is to hold, noted in the store; null when nothing can be made. */
async function make(state: RolloutState, { device, held }: Session): Promise<Made | null> {
  const { db, log } = state.options;
  const { accountID, deviceID, deviceNo } = device;
  const [account, own, row] = await Promise.all([
    readAccountChoice(db, accountID),
    readDeviceChoice(db, deviceNo),
    readDeviceConfig(db, deviceNo),
  ]);
  const settings = mergeChanges(account.settings, own.settings);
  const verdict = overlaySettings(standardSettings, settings);
  const compiled =
    verdict.kind === 'ok'
      ? await state.compiler.compile({ accountID, revision: account.contentRevision }, settings)
      : { kind: 'fault' as const, fault: `${verdict.faults[0]?.pointer} ${verdict.faults[0]?.message}` };
  if (compiled.kind === 'fault') {
    if (row.fault !== compiled.fault) {
      log.error('config_compile_failed', { accountID, deviceID, reason: compiled.fault });
      await db.write(recordFault(deviceNo, compiled.fault));
    }
    return null;
  }
  const version = nextConfig({ wanted: row, held, made: compiled });
  const revisions = { accountRevision: account.contentRevision, deviceRevision: own.revision };
  const isRecorded =
    row.version === version &&
    row.sha256 === compiled.sha256 &&
    row.fault === '' &&
    row.accountRevision === revisions.accountRevision &&
    row.deviceRevision === revisions.deviceRevision;
  if (!isRecorded)
    await db.write(recordCompiled({ deviceNo, version, sha256: compiled.sha256, ...revisions }));
  return { row, compiled, version };
}

/** Checks one vehicle and sends what it lacks; gives the number of parts sent. */
async function serve(state: RolloutState, session: Session): Promise<number> {
  const { db, clock, log } = state.options;
  const { device, sent } = session;
  const { accountID, deviceID, deviceNo } = device;
  const nowMs = clock.monoMs();
  if (sent !== null && nowMs < sent.untilMs) {
    markDue(state, deviceNo, sent.untilMs - nowMs);
    return 0;
  }
  const made = await make(state, session);
  // It said hello anew, or left, while the store was asked.
  if (made === null || state.sessions.get(deviceNo) !== session) return 0;
  const { row, compiled, version } = made;
  // Another process may have received a newer report of what it holds.
  if (state.sharing !== null && row.heldMs > session.heldMs)
    hold(session, { version: row.heldVersion, sha256: row.heldSha256 }, row.heldMs);
  session.sent = null;
  const heldHash = session.held.sha256;
  const isHeld =
    session.held.version === version && (version === 0 || heldHash === '' || heldHash === compiled.sha256);
  if (isHeld) return 0;
  if (row.failedVersion === version) {
    const waitsMs = row.failedMs + rolloutLimits.retryMs - clock.utcMs();
    // Another agent may know what this one did not.
    const isSameAgent = row.failedAgent === session.agentVersion;
    if (!row.failedRetry && isSameAgent) return 0;
    if (waitsMs > 0 && isSameAgent) {
      markDue(state, deviceNo, Math.min(waitsMs, rolloutLimits.retryMs));
      return 0;
    }
  }
  if (!(await isOurTurn(state, session, { ...row, version }))) return 0;
  const count = session.tries.version === version ? session.tries.count + 1 : 1;
  session.tries = { version, count };
  const waitMs = Math.min(rolloutLimits.resendMs * 2 ** Math.min(count - 1, 10), rolloutLimits.resendMostMs);
  session.sent = { version, untilMs: clock.monoMs() + waitMs };
  const left = await send(state, session, { version, compiled });
  log.info('config_sent', { accountID, deviceID, version, parts: compiled.slices.length, left });
  if (left && state.sharing === null) await db.write([recordSent(deviceNo, Math.round(clock.utcMs()))]);
  markDue(state, deviceNo, waitMs);
  return compiled.slices.length;
}

/** One run: serves vehicles that are due, up to a bounded amount of work. Gives the delay until the next. */
async function runOnce(state: RolloutState): Promise<number> {
  const { clock, log, lagMs } = state.options;
  if (lagMs() > rolloutLimits.lagMostMs) return rolloutLimits.idleMs;
  let partsLeft: number = rolloutLimits.partsAtOnce;
  let vehiclesLeft: number = rolloutLimits.vehiclesAtOnce;
  try {
    await markChanged(state);
    for (const one of (await state.sharing?.overdue()) ?? []) {
      if (!state.sessions.has(one.device.deviceNo)) adopt(state, one);
      markDue(state, one.device.deviceNo, 0);
    }
    for (const [deviceNo, atMs] of state.due) {
      if (atMs > clock.monoMs()) continue;
      if (partsLeft <= 0 || vehiclesLeft <= 0) return rolloutLimits.busyMs;
      state.due.delete(deviceNo);
      const session = state.sessions.get(deviceNo);
      if (session === undefined) continue;
      vehiclesLeft -= 1;
      try {
        partsLeft -= await serve(state, session);
      } catch (thrown) {
        markDue(state, deviceNo, rolloutLimits.resendMs);
        throw thrown;
      }
    }
  } catch (thrown) {
    log.error('config_rollout_failed', { reason: messageOf(thrown) });
  }
  return rolloutLimits.idleMs;
}

/** The session that an event of `boot` belongs to, if there is one anywhere. */
async function sessionOf(
  state: RolloutState,
  device: DeviceRef,
  boot: string | null,
): Promise<Session | undefined> {
  const known = state.sessions.get(device.deviceNo);
  if (state.sharing === null || known?.boot === boot) return known;
  const found = await state.sharing.connected(device, boot);
  return found === null ? known : adopt(state, found);
}

/** Records what a vehicle reported. */
async function handleConfigReports(state: RolloutState, { device, boot, fresh }: Committed): Promise<void> {
  const { db, clock, log } = state.options;
  const { accountID, deviceID, deviceNo } = device;
  for (const event of fresh) {
    const report = configReportOf(event);
    if (report === null) continue;
    const session = await sessionOf(state, device, boot);
    const atMs = Math.round(clock.utcMs());
    // What an earlier boot held is what its successor's hello says, or not.
    const isOfNow = session !== undefined && session.boot === boot;
    if (report.kind === 'failed') {
      const { version, reason, retry } = report;
      log.warn('config_failed', { accountID, deviceID, version, reason });
      const agentVersion = session?.agentVersion ?? '';
      await db.write(recordFailed(deviceNo, { version, reason, retry, agentVersion, atMs }));
    } else if (isOfNow) {
      log.info('config_held', { accountID, deviceID, version: report.version });
    }
    if (isOfNow) {
      const { version, sha256 } = report.kind === 'failed' ? report.held : report;
      hold(session, { version, sha256 }, atMs);
      await db.write(recordHeld(deviceNo, session.held, atMs));
    }
    if (session === undefined) continue;
    if (session.sent !== null && session.sent.version <= report.version) session.sent = null;
    markDue(state, deviceNo, 0);
  }
}

/** Starts the work; it goes on until `close`. */
export function createConfigRollout(options: RolloutOptions): ConfigRollout {
  const { db, clock, log } = options;
  const state: RolloutState = {
    options,
    sharing:
      options.isShared === true
        ? createRolloutSharing({ db, clock, resendMs: rolloutLimits.resendMs })
        : null,
    compiler: createConfigCompiler(db, options.encodeZones),
    sessions: new Map(),
    due: new Map(),
    seenAccounts: new Map(),
    seenDevices: new Map(),
    changesReadMs: Math.round(clock.utcMs()),
  };
  const failed = (what: string) => (thrown: unknown) => {
    log.error(what, { reason: messageOf(thrown) });
  };
  const task = createPeriodicTask({ clock, firstMs: rolloutLimits.idleMs, run: () => runOnce(state) });
  return {
    onHello(device, hello) {
      const isSane = hello.configVersion <= configLimits.versionMost;
      const held = {
        version: isSane ? hello.configVersion : 0,
        sha256: isSane ? (hello.configSha256 ?? '') : '',
      };
      const { boot, agentVersion } = hello;
      state.sessions.set(device.deviceNo, newSession(state, { device, boot, agentVersion, held }));
      state.due.delete(device.deviceNo);
      markDue(state, device.deviceNo, 0);
      db.write(recordHeld(device.deviceNo, held, Math.round(clock.utcMs()))).catch(
        failed('config_held_not_recorded'),
      );
    },
    onOffline({ deviceNo }) {
      state.sessions.delete(deviceNo);
      state.due.delete(deviceNo);
    },
    onCommitted(committed) {
      if (!committed.fresh.some((event) => configReportOf(event) !== null)) return;
      handleConfigReports(state, committed).catch(failed('config_report_not_recorded'));
    },
    close: () => task.close(),
  };
}
