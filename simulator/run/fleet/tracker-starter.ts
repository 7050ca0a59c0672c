// Starts vehicles that are light trackers: a connection and events, without agent and hardware.
import type { FleetOptions, VehicleStarter } from './fleet.ts';
import { startTracker } from './tracker.ts';

export function createTrackerStarter(options: FleetOptions): VehicleStarter {
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
    const { isUp, cutLink, setRate, stopActivity, close } = tracker;
    return { member: { deviceID, isUp, cutLink, agent: null }, setRate, stopActivity, close };
  };
}
