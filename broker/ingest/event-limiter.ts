// Slows devices and accounts that exceed their event rate: their publishes wait, and with them their PUBACKs, in turns of accounts and devices.
// Nothing is dropped, refused or acknowledged early. The limits apply to this process only.
import { eventLimits } from '../../src/core/events/event.ts';
import { formatDeviceUser } from '../../src/core/wire/topics.ts';
import { decodeEvents } from '../../src/core/wire/wire.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { priorityOf } from '../core/notifications/alarm-kinds.ts';
import { createHourCounts, type HourCount } from '../core/operating/hour-counts.ts';
import {
  AccountBudget,
  costOf,
  DeviceBudget,
  type EventLimits,
  type Hold,
} from '../core/scheduling/event-budget.ts';
import type { PublishPacer, Uplink } from '../ports/mqtt-server.ts';
import { createFairQueue } from '../scheduling/fair-queue.ts';
import type { Owner } from '../scheduling/slots.ts';

export interface EventLimiterOptions {
  readonly limits: EventLimits;
  readonly clock: Clock;
  readonly log: Log;
}

export interface EventLimiter extends PublishPacer {
  /** Counts the events that a device has sent. @param events 0: unknown, or none. */
  charge(device: DeviceRef, message: Pick<Uplink, 'verb' | 'payload'>, events: number): void;
  /** Sets the operator's limit of one account; null: the limit of the service. */
  setAccountLimit(accountID: string, eventsPerS: number | null): void;
  /** Number of publishes that had to wait since the start, by reason; and number of devices with publishes that wait now. */
  counts(): { readonly held: Readonly<Record<Hold, number>>; readonly waiting: number };
  /** Devices over a limit within the last hour, by the number of payloads over it. */
  overLimit(): readonly HourCount[];
  close(): void;
}

/** A hello makes the broker read and write much more than an event does. */
const costOfVerb = { hello: 20, presence: 5 } as const;
/** Period of the check whether waiting publishes may continue, ms. */
const tickMs = 25;
/** Minimum time between two log lines for one device or account. */
const logEveryMs = 600_000;
/** From this number on, full budgets are dropped, once a minute. */
const keptMost = 20_000;
const forgetEveryMs = 60_000;

/** True for an alarm, or a vehicle's report on a command. */
function isPressing({ verb, payload }: Uplink): boolean {
  if (verb !== 'events') return true;
  if (payload.length > eventLimits.payloadBytes) return false;
  const decoded = decodeEvents(payload);
  return (
    decoded.ok &&
    decoded.batch.events.some(
      ({ statusCode, commandID }) => commandID !== undefined || priorityOf(statusCode) !== null,
    )
  );
}

function createBudgets({ limits, clock }: EventLimiterOptions) {
  const accounts = new Map<string, AccountBudget>();
  const devices = new Map<number, DeviceBudget>();
  let forgottenMs = clock.monoMs();
  const forgetFull = (nowMs: number): void => {
    if (devices.size < keptMost || nowMs - forgottenMs < forgetEveryMs) return;
    forgottenMs = nowMs;
    for (const [deviceNo, budget] of devices) if (budget.isFull(limits, nowMs)) devices.delete(deviceNo);
    // What an account has used comes back within a second; a limit of its own is kept.
    const inUse = new Set([...devices.values()].map(({ account }) => account));
    for (const [accountID, budget] of accounts)
      if (budget.ownPerS === null && !inUse.has(budget)) accounts.delete(accountID);
  };
  const ofAccount = (accountID: string, nowMs: number): AccountBudget => {
    const known = accounts.get(accountID);
    if (known !== undefined) return known;
    const made = new AccountBudget(limits, nowMs);
    accounts.set(accountID, made);
    return made;
  };
  return {
    ofAccount,
    find: (deviceNo: number): DeviceBudget | undefined => devices.get(deviceNo),
    of({ accountID, deviceNo }: DeviceRef, nowMs: number): DeviceBudget {
      const known = devices.get(deviceNo);
      if (known !== undefined) return known;
      forgetFull(nowMs);
      const made = new DeviceBudget(limits, ofAccount(accountID, nowMs), nowMs);
      devices.set(deviceNo, made);
      return made;
    },
  };
}

/** Reports devices and accounts over a limit to the operator, each at most once in ten minutes. */
function createNaming({ limits, clock, log }: EventLimiterOptions) {
  const over = createHourCounts(clock);
  const loggedMs = new Map<string, number>();
  const isDue = (name: string, nowMs: number): boolean => {
    if (nowMs - (loggedMs.get(name) ?? Number.NEGATIVE_INFINITY) < logEveryMs) return false;
    // Keeps the map in the order of the last line, so the first entry is the oldest.
    loggedMs.delete(name);
    loggedMs.set(name, nowMs);
    const [oldest = name] = loggedMs.keys();
    if (loggedMs.size > 1000) loggedMs.delete(oldest);
    return true;
  };
  return {
    list: () => over.list(),
    onOver(hold: Hold, device: DeviceRef, budget: DeviceBudget, nowMs: number): void {
      if (hold === 'pace') return;
      const clientID = formatDeviceUser(device);
      over.add(clientID);
      if (!isDue(hold === 'device' ? clientID : device.accountID, nowMs)) return;
      const isDevice = hold === 'device';
      log.warn(isDevice ? 'device_over_limit' : 'account_over_limit', {
        accountID: device.accountID,
        deviceID: device.deviceID,
        clientID,
        eventsPerS: budget.rateAt(nowMs),
        setting: isDevice ? 'ingest.deviceEventsPerS' : 'ingest.accountEventsPerS',
        limit: isDevice ? limits.deviceEventsPerS : (budget.account.ownPerS ?? limits.accountEventsPerS),
      });
    },
  };
}

export function createEventLimiter(options: EventLimiterOptions): EventLimiter {
  const { limits, clock } = options;
  const budgets = createBudgets(options);
  const naming = createNaming(options);
  const queue = createFairQueue();
  const held: Record<Hold, number> = { device: 0, pace: 0, account: 0 };
  let waiting = 0;
  let cancelTick: Cancel | null = null;
  const holdOf = (deviceNo: number): Hold | null =>
    budgets.find(deviceNo)?.holdAt(limits, clock.monoMs()) ?? null;
  const mayEnter = ({ userID }: Owner): boolean => holdOf(Number(userID)) === null;
  const tick = (): void => {
    cancelTick = null;
    // Each publish that enters is charged before the next one is judged.
    while (queue.next(mayEnter));
    schedule();
  };
  const schedule = (): void => {
    if (waiting > 0) cancelTick ??= clock.after(tickMs, tick);
  };
  return {
    isHeld({ deviceNo }) {
      const hold = holdOf(deviceNo);
      if (hold !== null) held[hold] += 1;
      return hold !== null;
    },
    mayOvertake(device, message) {
      if (!isPressing(message)) return false;
      const nowMs = clock.monoMs();
      return budgets.of(device, nowMs).mayOvertake(nowMs);
    },
    wait({ accountID, deviceNo }, goOn) {
      let isWaiting = true;
      const end = (): void => {
        if (isWaiting) waiting -= 1;
        isWaiting = false;
      };
      waiting += 1;
      const leave = queue.add({ accountID, userID: String(deviceNo), tokenHash: '' }, () => {
        end();
        goOn();
      });
      schedule();
      return () => {
        end();
        leave();
      };
    },
    charge(device, { verb, payload }, events) {
      const nowMs = clock.monoMs();
      const budget = budgets.of(device, nowMs);
      budget.charge(verb === 'events' ? costOf(payload.length, events) : costOfVerb[verb], nowMs);
      const hold = budget.holdAt(limits, nowMs);
      if (hold !== null) naming.onOver(hold, device, budget, nowMs);
    },
    setAccountLimit(accountID, eventsPerS) {
      const budget = budgets.ofAccount(accountID, clock.monoMs());
      budget.ownPerS = eventsPerS;
    },
    counts: () => ({ held: { ...held }, waiting }),
    overLimit: () => naming.list(),
    close() {
      cancelTick?.();
      waiting = 0;
    },
  };
}
