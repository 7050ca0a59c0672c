// Where the checkout is, for support files that run as source under vitest and as built files under the benches.

const here = new URL('.', import.meta.url);
const isBuilt = here.pathname.endsWith('/dist/test/support/machine/');

/** The root folder of the checkout. */
export const checkout: URL = new URL(isBuilt ? '../../../../' : '../../../', here);
