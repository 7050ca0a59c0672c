// The build of a page that the service serves. A release has files of other names: an open page goes on with what it has loaded. The console says
// that there is a new version and never reloads by itself: sound needs a press again afterwards, and an open form loses what stands in it.
import { createValue } from '../state/value.ts';

/** True once the service serves another build than that of this page. */
export const isOutdated = createValue(false);

interface ServedBuild {
  /** False: the service has another build of this page. */
  readonly isCurrent: boolean;
  /** Clock of the service minus clock of this computer, s; 0 when the answer has no time. */
  readonly skewS: number;
}

/** Files that a page of the build names, as paths. */
const filesIn = (html: string): readonly string[] =>
  [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

/** Files that this page names, and those that it loaded since. */
function ownFiles(): ReadonlySet<string> {
  const elements = document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[href]');
  return new Set([...elements].map((one) => new URL('src' in one ? one.src : one.href).pathname));
}

/** @param page path of this page, as the service serves it. @returns null when the service does not answer with a page of a build. */
export async function servedBuild(page: string): Promise<ServedBuild | null> {
  const answer = await fetch(page, { cache: 'no-store', credentials: 'omit' }).catch(() => null);
  if (answer?.ok !== true) return null;
  const files = filesIn(await answer.text().catch(() => ''));
  if (files.length === 0) return null;
  const own = ownFiles();
  const atMs = Date.parse(answer.headers.get('date') ?? '');
  return {
    isCurrent: files.every((path) => own.has(path)),
    skewS: Number.isNaN(atMs) ? 0 : Math.round((atMs - Date.now()) / 1000),
  };
}

/** Asks the service which build of the console it serves. */
export async function checkBuild(): Promise<void> {
  const served = await servedBuild('/console/index.html');
  if (served?.isCurrent === false) isOutdated.set(true);
}
