// Commands of people over HTTP, at the intended moments whatever the vehicles do: state 1 to a vehicle of the fleet, and state 0
// some time later, so that no run leaves a vehicle cut off. What the service refuses is counted and never sent in another way.
import { messageOf } from '../../src/core/errors.ts';
import type { FeatureName, FeatureState } from '../../src/core/event.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import { phaseAt } from '../core/deeds.ts';
import type { Ledger } from '../core/ledger.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import type { SeededEntropy } from '../random.ts';
import type { RunTime } from './fleet-vehicle.ts';
import type { Service } from './service.ts';

export interface Commander {
  /** From now on so many times as many as planned. */
  setRate(factor: number): void;
  /** Sends no further command of state 1, and at once what brings every vehicle back. */
  finish(): Promise<void>;
  /** Asks the service how every command ended. */
  settle(): Promise<void>;
  /** Commands that the service refused, and its last words. */
  refused(): { readonly count: number; readonly last: string };
}

export interface CommanderOptions {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly time: RunTime;
  readonly entropy: SeededEntropy;
  readonly ledger: Ledger;
  readonly service: Service;
  /** The vehicles that are on the road as intended, whether they have started or not. */
  fleet(): readonly { readonly deviceID: string }[];
}

interface Order {
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
}

interface Answer {
  readonly commandID: string;
  readonly commandState: string;
}

const keyOf = ({ deviceID, feature }: Order): string => `${deviceID} ${feature}`;

/** Starts to send when the first vehicle may be there. */
export function createCommander(options: CommanderOptions): Commander {
  const { scenario, clock, time, entropy, ledger, service } = options;
  const { perMinute, features, ttlS, restoreS } = scenario.commands;
  const refused = { count: 0, last: '' };
  /** What is to be brought back, with its timer. */
  const open = new Map<string, { readonly order: Order; readonly cancel: Cancel }>();
  const sending = new Set<Promise<void>>();
  let isFinished = false;
  let factor = 1;
  let next: Cancel = () => undefined;

  const post = async (order: Order, patienceMs: number): Promise<void> => {
    const requestedMs = time.nowMs();
    const body = { ...order, reason: 'simulation', ...(order.state === '1' ? { ttl: ttlS } : {}) };
    const path = '/command/feature/authorization';
    try {
      const { commandID } = await service.call<Answer>({ method: 'POST', path, body, patienceMs });
      const expiresMs = requestedMs + (order.state === '1' ? ttlS * 1000 : Number.POSITIVE_INFINITY);
      if (!ledger.commands.has(commandID)) ledger.requested({ ...order, commandID, requestedMs, expiresMs });
    } catch (thrown) {
      refused.count += 1;
      refused.last = messageOf(thrown);
    }
  };
  const send = (order: Order, patienceMs = 0): Promise<void> => {
    const work = post(order, patienceMs).finally(() => sending.delete(work));
    sending.add(work);
    return work;
  };
  /** The safe state is insisted upon. */
  const restore = (key: string): Promise<void> => {
    const entry = open.get(key);
    if (entry === undefined) return Promise.resolve();
    entry.cancel();
    open.delete(key);
    return send({ ...entry.order, state: '0' }, 60_000);
  };
  const order = (): void => {
    const fleet = options.fleet();
    const { deviceID } = fleet[entropy.integer(0, Math.max(0, fleet.length - 1))] ?? {};
    const feature = features[entropy.integer(0, features.length - 1)];
    if (deviceID === undefined || feature === undefined) return;
    const wanted: Order = { deviceID, feature, state: '1' };
    const key = keyOf(wanted);
    if (open.has(key)) return;
    open.set(key, { order: wanted, cancel: clock.after(restoreS * 1000, () => void restore(key)) });
    void send(wanted);
  };
  /** By intended times, so that the same seed gives the same commands whatever the answers take. */
  const schedule = (beforeMs: number): void => {
    const perMs = (perMinute * factor * (phaseAt(scenario.phases, beforeMs)?.rate ?? 0)) / 60_000;
    const dueMs = beforeMs + -Math.log(1 - entropy.fraction()) * (perMs === 0 ? 1000 : 1 / perMs);
    next = clock.after(Math.max(0, dueMs - time.nowMs()), () => {
      if (isFinished) return;
      if (perMs > 0) order();
      schedule(dueMs);
    });
  };
  if (perMinute > 0) schedule(0);
  return {
    setRate(times) {
      factor = times;
      next();
      if (perMinute > 0 && !isFinished) schedule(Math.max(0, time.nowMs()));
    },
    async finish() {
      isFinished = true;
      next();
      for (const key of open.keys()) void restore(key);
      await Promise.all(sending);
    },
    async settle() {
      for (const { commandID, hasEnded } of ledger.commands.values()) {
        if (hasEnded) continue;
        const path = `/command/get/${commandID}/authorization`;
        const row = await service.call<Answer & { readonly hasEnded: boolean }>({ path });
        ledger.ended(commandID, row.commandState, row.hasEnded);
      }
    },
    refused: () => ({ ...refused }),
  };
}
