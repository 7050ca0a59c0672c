// The build of the console that the service serves. A release has files of other names: an open page goes on with what it has loaded, and says
// that there is a new version. It never reloads by itself: sound needs a press again afterwards, and an open form loses what stands in it.
import { createValue } from '../state/value.ts';

/** True once the service serves another build than that of this page. */
export const isOutdated = createValue(false);

const index = '/console/index.html';

/** Files that a page of the build names, as paths. */
const filesIn = (html: string): readonly string[] =>
  [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

/** Files that this page names, and those that it loaded since. */
function ownFiles(): ReadonlySet<string> {
  const elements = document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[href]');
  return new Set([...elements].map((one) => new URL('src' in one ? one.src : one.href).pathname));
}

/** Asks the service which build it serves; never throws. */
export async function checkBuild(): Promise<void> {
  try {
    const answer = await fetch(index, { cache: 'no-store', credentials: 'omit' });
    if (!answer.ok) return;
    const own = ownFiles();
    if (filesIn(await answer.text()).some((path) => !own.has(path))) isOutdated.set(true);
  } catch {
    // Without an answer nothing is known of it.
  }
}
