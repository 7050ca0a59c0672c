// The kinds of faults that act on the link, and what each does in the proxy. Data only.
import type { Fault, FaultKind } from '../../core/scenario/scenario-schema.ts';
import type { LinkFaults } from './link-proxy.ts';

const linkKinds: readonly FaultKind[] = [
  'link-outage',
  'link-half-open',
  'link-delay',
  'link-loss',
  'slow-consumer',
];

export const isLinkKind = (kind: FaultKind): boolean => linkKinds.includes(kind);

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
