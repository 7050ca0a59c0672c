// The page of a wallboard that is started while the service is away. It is kept in the cache of the browser for the worker of the wallboard
// (`public/wallboard-worker.mjs`), in the language and theme of the board. It has no script, and nothing of the fleet.
const pageURL = '/console/wallboard';
const againS = 10;

/** Texts of the catalogues: they hold no mark-up. */
type AwayTexts = Readonly<Record<'title' | 'hint', string>>;

function pageOf({ title, hint }: AwayTexts, isDark: boolean): string {
  const { lang, dir } = document.documentElement;
  return `<!doctype html>
<html lang="${lang}" dir="${dir}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${isDark ? 'dark' : 'light'}">
<meta http-equiv="refresh" content="${againS}">
<title>${title}</title>
<main style="font: 1.5rem/1.5 system-ui, sans-serif; margin: 20vh 10vw">
<h1>${title}</h1>
<p>${hint}</p>
</main>`;
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

/** Keeps the page, and registers its worker. Without TLS, or where the browser refuses, the page of the browser is shown as before. */
export async function keepAwayPage(texts: AwayTexts, isDark: boolean): Promise<void> {
  if (!('serviceWorker' in navigator && 'caches' in window)) return;
  try {
    const kept = await caches.open('fleetward-wallboard');
    await kept.put(pageURL, new Response(pageOf(texts, isDark), { headers }));
    await navigator.serviceWorker.register('/console/wallboard-worker.mjs', { scope: pageURL });
  } catch {
    // Nothing of the board needs it.
  }
}
