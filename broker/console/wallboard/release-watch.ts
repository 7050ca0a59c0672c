// A wallboard runs for weeks: when the service has another build of it, it loads that one. The same answer says what time it is there.
import { servedBuild } from '../service/build.ts';
import { connection } from '../service/live.ts';
import { createValue } from '../state/value.ts';

const page = '/console/wallboard';
const againMs = 600_000;
/** The clocks are compared to the second, s. */
const clockFaultS = 2;

/** Clock of the service minus clock of this computer, s: televisions are set wrong often. */
export const skewS = createValue(0);

async function look(): Promise<void> {
  const served = await servedBuild(page);
  if (served === null) return;
  if (!served.isCurrent) return location.reload();
  skewS.set(Math.abs(served.skewS) <= clockFaultS ? 0 : served.skewS);
}

/** Looks at the start, each time that the connection is back, and every ten minutes. */
export function followRelease(): void {
  let before = connection.get().state;
  connection.subscribe(() => {
    const { state } = connection.get();
    if (state === 'live' && before === 'down') void look();
    before = state;
  });
  setInterval(() => void look(), againMs);
  void look();
}
