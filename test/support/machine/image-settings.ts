// Settings of the broker that its image brings, as `systemd/package-image.ts` writes them.
import { readFileSync } from 'node:fs';
import { checkout } from './checkout.ts';

const source = readFileSync(new URL('systemd/package-image.ts', checkout), 'utf8');

/** Values by variable. */
export const imageSettings: Readonly<Record<string, string>> = Object.fromEntries(
  [...source.matchAll(/'(FLEETWARD_\w+)=([^']*)'/g)].map(([, name = '', value = '']) => [name, value]),
);
