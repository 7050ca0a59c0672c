// A wallboard runs for weeks: when the service has another build of it, it loads that one.
import { isBuildCurrent } from '../service/build.ts';
import { connection } from '../service/live.ts';

const page = '/console/wallboard';
const againMs = 600_000;

async function look(): Promise<void> {
  if ((await isBuildCurrent(page)) === false) location.reload();
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
