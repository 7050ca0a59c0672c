// The event loop of the agent: one event after the other into `stepVehicle`, a timer event when no other arrives, the
// watchdog fed while that works, and the network polled periodically. It decides nothing.

import { messageOf } from '../src/core/errors.ts';
import type { Cancel, Clock, Entropy } from '../src/ports.ts';
import type { Dispatch } from './agent-module.ts';
import { type VehicleEffect, type VehicleEvent } from './core/kernel/vehicle-events.ts';
import type { VehicleState } from './core/kernel/vehicle-state.ts';
import { type VehicleConfig } from './core/kernel/vehicle-types.ts';
import { stepVehicle, vehicleWakeMs } from './core/vehicle/vehicle.ts';
import type { AgentPorts } from './ports.ts';

const limits = {
  watchdogMs: 10_000,
  /** How often the network is asked for. */
  networkMs: 30_000,
  /** A commit that hangs this long means that the agent does not work; then the watchdog is not fed. */
  commitHangMs: 30_000,
  /**
   * A serial driver that hangs this long releases the port only when the process ends; a newly plugged port works
   * meanwhile.
   */
  driverStuckMs: 600_000,
  /** Time alone makes a step twice a second; without one for this long the loop is dead. */
  stepHangMs: 5000,
  /** A poll, a session or a commit that should have moved this long ago and did not: one of the machines is stuck. */
  overdueMs: 60_000,
} as const;

interface LoopOptions {
  readonly vehicle: VehicleConfig;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly state: VehicleState;
  perform(effect: VehicleEffect): void;
}

/** Steps the vehicle with one event after the other, and with time alone whenever it asks for that. */
export function createLoop({ vehicle, clock, entropy, perform, ...start }: LoopOptions) {
  const events: VehicleEvent[] = [];
  let { state } = start;
  let timer: Cancel = () => undefined;
  /** What the timer waits for; null once it has fired. */
  let armedMs: number | null = null;
  let isStopped = false;
  let isStepping = false;
  let steppedMs = clock.monoMs();
  const wait = (wakeMs: number): void => {
    if (isStopped) return;
    armedMs = wakeMs;
    timer = clock.after(Math.max(1, Math.ceil(wakeMs - clock.monoMs())), () => {
      // Timers count whole milliseconds and fire up to one too early: a step would not be due, and wait again.
      if (clock.monoMs() < wakeMs) return wait(wakeMs);
      armedMs = null;
      dispatch({ kind: 'time' });
    });
  };
  /** Waits for the next step that time demands; most bytes of a line leave it as it was. */
  const rearm = (): void => {
    const wakeMs = vehicleWakeMs(state, vehicle);
    if (wakeMs === armedMs) return;
    timer();
    wait(wakeMs);
  };
  const dispatch = (event: VehicleEvent): void => {
    events.push(event);
    if (isStepping) return;
    isStepping = true;
    try {
      for (let next = events.shift(); next !== undefined; next = events.shift()) {
        const now = { monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: entropy.fraction() };
        const step = stepVehicle(state, next, { now, config: vehicle });
        state = step.state;
        for (const effect of step.effects) perform(effect);
      }
      steppedMs = clock.monoMs();
    } finally {
      // The caller may swallow the error; the loop must continue all the same.
      isStepping = false;
      rearm();
    }
  };
  return {
    dispatch,
    state: (): VehicleState => state,
    /** Since the last step that went through. */
    idleMs: (): number => clock.monoMs() - steppedMs,
    /** How far the machine that should move next is behind its time: the board's poll, the session, a window of positions. */
    overdueMs: (): number => Math.max(0, clock.monoMs() - vehicleWakeMs(state, vehicle)),
    /** No more steps by time; events are still taken. */
    stopTime(): void {
      isStopped = true;
      timer();
    },
  };
}

/**
 * Feeds the service manager's watchdog while steps go through, every machine moves when it is time (polls, session), commits do
 * not hang, and the serial driver lets go of what it was given; being offline is healthy, and so is a port that is not there.
 */
export function startWatchdog(
  { clock, supervisor, driverStuckMs }: Pick<AgentPorts, 'clock' | 'supervisor' | 'driverStuckMs'>,
  look: { idleMs(): number; overdueMs(): number; hangingMs(): number; status(): string },
): Cancel {
  let cancel: Cancel = () => undefined;
  const feed = (): void => {
    const isStuck = (driverStuckMs?.() ?? 0) >= limits.driverStuckMs;
    const moves = look.idleMs() < limits.stepHangMs && look.overdueMs() < limits.overdueMs;
    const works = moves && look.hangingMs() < limits.commitHangMs;
    if (works && !isStuck) supervisor.alive();
    supervisor.status(look.status());
    cancel = clock.after(limits.watchdogMs, feed);
  };
  cancel = clock.after(0, feed);
  return () => cancel();
}

/** Dispatches what `look` gives, at once and then this long after each answer. */
function repeat(
  clock: Clock,
  { everyMs, look, dispatch }: { everyMs: number; look(): Promise<VehicleEvent>; dispatch: Dispatch },
): Cancel {
  let cancel: Cancel = () => undefined;
  let isStopped = false;
  const run = async (): Promise<void> => {
    const event = await look();
    if (isStopped) return;
    dispatch(event);
    cancel = clock.after(everyMs, () => void run());
  };
  void run();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Asks periodically about modem and SIM; why there is no answer is logged once. */
export function watchModem(
  { clock, log, modem }: Pick<AgentPorts, 'clock' | 'log' | 'modem'>,
  dispatch: Dispatch,
): Cancel {
  if (modem === undefined) return () => undefined;
  let reported = '';
  const look = async (): Promise<VehicleEvent> => {
    let reason = '';
    const reading = await modem.read().catch((thrown: unknown) => {
      reason = messageOf(thrown);
      return null;
    });
    if (reason !== reported && reason !== '') log.warn('modem_unreadable', { reason });
    reported = reason;
    return { kind: 'modem', sight: { reading, reason } };
  };
  return repeat(clock, { everyMs: modem.everyMs, look, dispatch });
}

/** Asks now and then where the modem is registered. */
export function watchNetwork(
  { clock, log, network }: Pick<AgentPorts, 'clock' | 'log' | 'network'>,
  dispatch: Dispatch,
): Cancel {
  if (network === undefined) return () => undefined;
  const look = async (): Promise<VehicleEvent> => {
    const place = await network().catch((thrown: unknown) => {
      log.warn('network_state_unreadable', { reason: messageOf(thrown) });
      return null;
    });
    return { kind: 'network', isRoaming: place === 'roaming' };
  };
  return repeat(clock, { everyMs: limits.networkMs, look, dispatch });
}
