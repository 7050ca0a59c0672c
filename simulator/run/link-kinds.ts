// Which faults of a scenario are faults of the link, and what each does to the bytes on it. Data only.
import type { Fault, FaultKind } from '../core/scenario-schema.ts';
import type { LinkFaults } from './link-proxy.ts';

const linkKinds: readonly FaultKind[] = [
  'link-outage',
  'link-half-open',
  'link-delay',
  'link-loss',
  'slow-consumer',
];

/** True for what the proxy does. */
export const isLinkKind = (kind: FaultKind): boolean => linkKinds.includes(kind);

/** What the proxy does for it. */
export function linkFaultsOf({ kind, delayMs, loss }: Fault): Partial<LinkFaults> {
  switch (kind) {
    case 'link-outage':
      return { isOut: true };
    case 'link-half-open':
      return { isSilent: true };
    case 'link-delay':
      return { delayMs };
    case 'link-loss':
      return { loss };
    case 'slow-consumer':
      return { isStalled: true };
    default:
      return {};
  }
}
