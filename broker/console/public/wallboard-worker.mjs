// The service worker of the wallboard: a screen that is started while the service is away gets the page that the board left in the cache
// (`screens/live/board-away.ts`), which loads itself again until the service answers. It keeps no file of the console.

const pageURL = '/console/wallboard';
const firstServerFault = 500;

const keptPage = () => caches.match(pageURL).catch(() => undefined);

async function answer(request) {
  const answered = await fetch(request).catch(() => undefined);
  if (answered !== undefined && answered.status < firstServerFault) return answered;
  return (await keptPage()) ?? answered ?? Response.error();
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('fetch', (event) => {
  const isPage = event.request.mode === 'navigate' && new URL(event.request.url).pathname === pageURL;
  if (isPage) event.respondWith(answer(event.request));
});
