// Garbage collections on demand: what nothing refers to is gone afterwards, as it will be some time in a service that runs for long.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects everything that nothing refers to. */
export const collectGarbage = runInNewContext('gc') as () => void;
