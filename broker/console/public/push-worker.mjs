// Shows what the service pushes to this browser. It answers no request of a page: the console loads as without it.

/** What the page has left here: names of status codes in the language of the user (`screens/inbox/use-push.ts`). */
const wordsURL = '/console/push-words.json';

async function readWords() {
  const kept = await caches.match(wordsURL).catch(() => undefined);
  const { codes = {}, locale = 'en', dir = 'ltr' } = (await kept?.json().catch(() => undefined)) ?? {};
  return { codes, locale, dir };
}

function messageOf(data) {
  try {
    return data?.json() ?? {};
  } catch {
    return {};
  }
}

async function show(data) {
  const { notificationID, deviceDisplayName, statusCode, statusDescription, timestamp, urgent } =
    messageOf(data);
  const { codes, locale, dir } = await readWords();
  const what = codes[statusCode] ?? statusDescription ?? 'Fleetward';
  await self.registration.showNotification(
    [what, deviceDisplayName].filter((text) => typeof text === 'string' && text !== '').join(' · '),
    {
      // A repeat of one notification takes the place of the first.
      tag: String(notificationID ?? ''),
      body: typeof timestamp === 'number' ? new Date(timestamp * 1000).toLocaleString(locale) : '',
      icon: '/console/icon.svg',
      requireInteraction: urgent === true,
      lang: locale,
      dir,
    },
  );
}

async function openInbox() {
  const open = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = open.find(({ url }) => new URL(url).pathname.startsWith('/console/'));
  await (page === undefined ? self.clients.openWindow('/console/inbox') : page.focus());
}

self.addEventListener('push', (event) => event.waitUntil(show(event.data)));
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openInbox());
});
