// Vehicles of a run that are light trackers: connections and events, and nothing else.
import { startMsOf } from '../core/deeds.ts';
import type { FleetOptions, Maker } from './fleet.ts';
import { startTracker } from './tracker.ts';

/** Gives what starts the tracker of a number. */
export function createTrackerMaker(options: FleetOptions): Maker {
  const { scenario, ports, time, ledger, network, accountID } = options;
  const { connectSpreadS, trackerEveryS } = scenario.fleet;
  return async (index) => {
    const device = options.devices[index];
    if (device === undefined || startMsOf(scenario, index) === null) return null;
    const { deviceID, secret } = device;
    const tracker = startTracker({
      clock: ports.clock,
      time,
      ledger,
      entropy: options.entropy.stream(`vehicle ${index}`),
      agentEntropy: ports.entropy,
      accountID,
      deviceID,
      secret,
      url: network.urlOf(index),
      everyMs: trackerEveryS * 1000,
      connectSpreadMs: connectSpreadS * 1000,
      onAcknowledged: (notes, nowMs) => options.onAcknowledged(deviceID, notes, nowMs),
    });
    const { isUp, cutLink, rest, close } = tracker;
    return { member: { deviceID, isUp, cutLink, agent: null }, rest, close };
  };
}
