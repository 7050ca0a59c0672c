// Whether this page is of the release that the service serves now.

/** The file of the script that runs, as the page names it: its name has a hash of the content. */
const ownScript = (): string =>
  document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src') ?? '';

interface Served {
  /** False: the service has another build of this page. */
  readonly isCurrent: boolean;
  /** Clock of the service minus clock of this computer, s; 0 when the answer has no time. */
  readonly skewS: number;
}

/** @param page path of this page, as the service serves it. @returns null when the service does not answer with a page. */
export async function checkRelease(page: string): Promise<Served | null> {
  const answer = await fetch(page, { credentials: 'omit', cache: 'no-cache' }).catch(() => null);
  if (answer?.ok !== true) return null;
  const text = await answer.text().catch(() => '');
  const script = ownScript();
  if (script === '' || !text.includes('<script')) return null;
  const atMs = Date.parse(answer.headers.get('date') ?? '');
  return {
    isCurrent: text.includes(script),
    skewS: Number.isNaN(atMs) ? 0 : Math.round((atMs - Date.now()) / 1000),
  };
}
