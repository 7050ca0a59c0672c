// How much a test repeats: in the gate what finds its mutants, in `npm run test:nightly` all of it.

const isWhole = process.env['FLEETWARD_TEST_EXTENT'] === 'whole';

/** A count, a step or a list. */
export const extent = <T>(sizes: { readonly gate: T; readonly nightly: T }): T =>
  isWhole ? sizes.nightly : sizes.gate;
