// The service worker of the console: shows what the service pushes. It keeps no file of the console and answers no request.

self.addEventListener('install', () => self.skipWaiting());

/** What the inbox has left here: names of status codes in the language of the user (`screens/inbox/use-push.ts`). */
const wordsURL = '/console/push-words.json';
async function readWords() {
  const kept = await caches.match(wordsURL).catch(() => undefined);
  const words = (await kept?.json().catch(() => undefined)) ?? {};
  const { codes = {}, lateAlarms = 'Late alarms', locale = 'en', dir = 'ltr' } = words;
  return { codes, lateAlarms, locale, dir };
}

function messageOf(data) {
  try {
    return data?.json() ?? {};
  } catch {
    return {};
  }
}

async function show(data) {
  const message = messageOf(data);
  const { notificationID, deviceDisplayName, statusCode, statusDescription, urgent, count } = message;
  // Nothing happened after it was received: a vehicle's clock can be ahead.
  const timestamp = Math.min(message.timestamp, message.creationTime ?? message.timestamp);
  const { codes, lateAlarms, locale, dir } = await readWords();
  const isDigest = typeof count === 'number' && count > 1;
  const what = isDigest
    ? `${lateAlarms}: ${count.toLocaleString(locale)}`
    : (codes[statusCode] ?? statusDescription ?? 'Fleetward');
  await self.registration.showNotification(
    [what, deviceDisplayName].filter((text) => typeof text === 'string' && text !== '').join(' · '),
    {
      // A repeat of one notification takes the place of the first.
      tag: String(notificationID ?? ''),
      body: Number.isFinite(timestamp) ? new Date(timestamp * 1000).toLocaleString(locale) : '',
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
