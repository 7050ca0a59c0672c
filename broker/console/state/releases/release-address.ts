// Releases in an address. A separate file, as the router loads it at the start.
import type { Result } from '../../api/operations.ts';

export const releaseDialogs = ['create', 'begin', 'stop', 'again'] as const;

export type Phase = Result<'getReleaseUnits'>['units'][number]['phase'];

export const phases = [
  'waiting',
  'underWay',
  'failed',
  'withdrawn',
  'done',
] as const satisfies readonly Phase[];
