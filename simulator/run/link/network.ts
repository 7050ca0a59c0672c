// Ways to the broker: direct, or through a proxy for vehicles with the same link faults.
import { AppError } from '../../../src/core/errors.ts';
import type { Cancel, Clock } from '../../../src/ports.ts';
import type { SeededEntropy } from '../../core/random.ts';
import type { Fault } from '../../core/scenario/scenario-schema.ts';
import { isLinkKind, linkFaultsOf } from './link-kinds.ts';
import { type LinkProxy, noLinkFaults, openLinkProxy } from './link-proxy.ts';

export interface Network {
  /** The address at which the vehicle of this number reaches the broker. */
  urlOf(index: number): string;
  /** Begins a fault of the link. @returns the way to end it. */
  strike(fault: Fault): Cancel;
  close(): Promise<void>;
}

/** The vehicles up to this share of the fleet that no smaller share includes. */
interface ProxyGroup {
  readonly share: number;
  readonly proxy: LinkProxy;
  readonly running: Set<Fault>;
}

function apply({ proxy, running }: ProxyGroup): void {
  proxy.setFaults([...running].reduce((so, fault) => ({ ...so, ...linkFaultsOf(fault) }), noLinkFaults));
}

/** @throws AppError `usage` for an encrypted link: the certificate does not hold the name of the proxy. */
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
    throw new AppError('usage', `Link faults need an address without TLS, and ${mqttUrl} is not one`, {
      hint: 'Use mqtt://, or a scenario without link faults.',
    });
  }
  const groups: ProxyGroup[] = [];
  for (const share of levels) {
    const far = { host: url.hostname, port: Number(url.port || 1883) };
    const proxy = await openLinkProxy({ ...far, clock, entropy: entropy.stream(`link ${share}`) });
    groups.push({ share, proxy, running: new Set() });
  }
  return {
    urlOf(index) {
      const own = groups.find(({ share }) => index < Math.round(share * devices));
      return own === undefined ? mqttUrl : `mqtt://127.0.0.1:${own.proxy.port}`;
    },
    strike(fault) {
      const struck = groups.filter(({ share }) => share <= fault.share);
      for (const one of struck) apply({ ...one, running: one.running.add(fault) });
      return () => {
        for (const one of struck) {
          one.running.delete(fault);
          apply(one);
        }
      };
    },
    async close() {
      await Promise.all(groups.map(({ proxy }) => proxy.close()));
    },
  };
}
