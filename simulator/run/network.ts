// Which way each vehicle goes to the broker: straight, or, where a fault of the scenario will strike its link, through a proxy that
// it shares with the vehicles that meet the same faults.
import { AppError } from '../../src/core/errors.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import type { Fault } from '../core/scenario-schema.ts';
import type { SeededEntropy } from '../random.ts';
import { isLinkKind, linkFaultsOf } from './link-kinds.ts';
import { type LinkProxy, noLinkFaults, openLinkProxy } from './link-proxy.ts';

export interface Network {
  /** The broker's address as the vehicle of this number has to call it. */
  urlOf(index: number): string;
  /** Begins a fault of the link; gives the way to end it. */
  strike(fault: Fault): Cancel;
  close(): Promise<void>;
}

/** Vehicles up to this part of the fleet, beyond the class before. */
interface Class {
  readonly share: number;
  readonly proxy: LinkProxy;
  readonly running: Set<Fault>;
}

function apply({ proxy, running }: Class): void {
  proxy.setFaults([...running].reduce((so, fault) => ({ ...so, ...linkFaultsOf(fault) }), noLinkFaults));
}

/** @throws AppError `usage` where the link is encrypted: its faults would need another name in the certificate. */
export async function createNetwork(options: {
  readonly mqttUrl: string;
  readonly devices: number;
  readonly faults: readonly Fault[];
  /** Shares of the fleet that may be struck besides those of the faults. */
  readonly shares?: readonly number[];
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
}): Promise<Network> {
  const { mqttUrl, devices, clock, entropy } = options;
  const planned = options.faults
    .filter(({ kind, share }) => isLinkKind(kind) && share > 0)
    .map(({ share }) => share);
  const levels = [...new Set([...planned, ...(options.shares ?? [])])].sort((a, b) => a - b);
  const url = new URL(mqttUrl);
  if (levels.length > 0 && url.protocol !== 'mqtt:') {
    throw new AppError('usage', `Faults of the link need a plain address, and ${mqttUrl} is not one`, {
      hint: 'Take mqtt://, or a scenario without link faults.',
    });
  }
  const classes: Class[] = [];
  for (const share of levels) {
    const far = { host: url.hostname, port: Number(url.port || 1883) };
    const proxy = await openLinkProxy({ ...far, clock, entropy: entropy.stream(`link ${share}`) });
    classes.push({ share, proxy, running: new Set() });
  }
  return {
    urlOf(index) {
      const own = classes.find(({ share }) => index < Math.round(share * devices));
      return own === undefined ? mqttUrl : `mqtt://127.0.0.1:${own.proxy.port}`;
    },
    strike(fault) {
      const struck = classes.filter(({ share }) => share <= fault.share);
      for (const one of struck) apply({ ...one, running: one.running.add(fault) });
      return () => {
        for (const one of struck) {
          one.running.delete(fault);
          apply(one);
        }
      };
    },
    async close() {
      await Promise.all(classes.map(({ proxy }) => proxy.close()));
    },
  };
}
