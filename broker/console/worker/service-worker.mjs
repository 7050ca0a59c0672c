// The service worker of the console. It opens the console without network, with the page that shows the last picture, and shows what the
// service pushes. It keeps the files of that page and of the wallboard, of one build, and nothing else: no answer of the service, no page
// with a session. A page comes from the service whenever it answers, so that no tab stays in an old build.

/** Of this build: its name, and path and digest of each file below `/console/`. `write-worker.mjs` writes both. */
const build = '@build';
const files = [];

const home = '/console/';
const keptName = `fleetward-files-${build}`;
const keptPrefix = 'fleetward-files-';
/** Longer than any answer of a service that is there, ms. */
const waitMs = 15_000;
/** Pages that are never answered from here: the login and the pages of share links. */
const untouched = new Set(['/console/login', '/console/share', '/console/share.html']);
const paths = new Set(files.map(([path]) => home + path));

/** The digests hold the build together: a file of another build is not kept, and this worker then not installed. */
async function keepFiles() {
  const kept = await caches.open(keptName);
  const requests = files.map(
    ([path, integrity]) =>
      new Request(home + path, {
        integrity,
        credentials: 'omit',
        cache: path.startsWith('assets/') ? 'default' : 'no-cache',
      }),
  );
  await kept.addAll(requests);
}

async function dropOtherBuilds() {
  const names = await caches.keys();
  await Promise.all(
    names
      .filter((name) => name.startsWith(keptPrefix) && name !== keptName)
      .map((name) => caches.delete(name)),
  );
}

async function keptFile(path) {
  const kept = await caches.open(keptName);
  return kept.match(path);
}

const later = () =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error('The service does not answer')), waitMs);
  });

/** The page of the service; while it cannot be reached the one that was kept in its place. */
async function openPage(request, instead) {
  try {
    const answer = await Promise.race([fetch(request), later()]);
    // A proxy answers so while the service behind it is away.
    if (answer.status < 500) return answer;
  } catch {
    // No network, no service, or neither in time.
  }
  return (await keptFile(instead)) ?? Response.error();
}

self.addEventListener('install', (event) => {
  // Nothing of an older worker is in use while it is replaced: pages have loaded their files, and load further ones by their hashed names.
  event.waitUntil(keepFiles().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => event.waitUntil(dropOtherBuilds()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin || request.method !== 'GET') return;
  if (request.mode === 'navigate') {
    if (untouched.has(pathname)) return;
    const isWallboard = pathname === '/console/wallboard';
    event.respondWith(openPage(request, home + (isWallboard ? 'wallboard.html' : 'offline.html')));
    return;
  }
  if (!pathname.startsWith('/console/assets/') || !paths.has(pathname)) return;
  event.respondWith(keptFile(pathname).then((kept) => kept ?? fetch(request)));
});

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
