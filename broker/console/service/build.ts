// The build of a page that the service serves. A release has files of other names: an open page goes on with what it has loaded. The console says
// that there is a new version and never reloads by itself: sound needs a press again afterwards, and an open form loses what stands in it.
import { createValue } from '../state/value.ts';

/** True once the service serves another build than that of this page. */
export const isOutdated = createValue(false);

/** Files that a page of the build names, as paths. */
const filesIn = (html: string): readonly string[] =>
  [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

/** Files that this page names, and those that it loaded since. */
function ownFiles(): ReadonlySet<string> {
  const elements = document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[href]');
  return new Set([...elements].map((one) => new URL('src' in one ? one.src : one.href).pathname));
}

/** Asks the service which build of the console it serves; an answer that is no page of a build says nothing. */
export async function checkBuild(): Promise<void> {
  const asked = { cache: 'no-store', credentials: 'omit' } as const;
  const answer = await fetch('/console/index.html', asked).catch(() => null);
  if (answer?.ok !== true) return;
  const files = filesIn(await answer.text().catch(() => ''));
  const own = ownFiles();
  if (!files.every((path) => own.has(path))) isOutdated.set(true);
}
