// Vehicles of a run that are light trackers: connections and events, and nothing else.
import type { FleetOptions, Maker } from './fleet.ts';
import { startTracker } from './tracker.ts';

/** Gives what starts the tracker of a number. */
export function createTrackerMaker(options: FleetOptions): Maker {
  const { scenario, ports, time, ledger, network, accountID } = options;
  const { connectSpreadS, trackerEveryS, trackerJitter } = scenario.fleet;
  return async ({ index, deviceID, secret }) => {
    const tracker = startTracker({
      clock: ports.clock,
      time,
      ledger,
      entropy: options.entropy.stream(`vehicle ${index}`),
      agentEntropy: ports.entropy,
      accountID,
      deviceID,
      secret,
      ca: options.ca,
      url: network.urlOf(index),
      script: options.scripts?.get(index) ?? null,
      everyMs: trackerEveryS * 1000,
      hasJitter: trackerJitter,
      connectSpreadMs: connectSpreadS * 1000,
      onAcknowledged: (notes, nowMs) => options.onAcknowledged(deviceID, notes, nowMs),
    });
    const { isUp, cutLink, setRate, rest, close } = tracker;
    return { member: { deviceID, isUp, cutLink, agent: null }, setRate, rest, close };
  };
}
