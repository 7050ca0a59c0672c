// The service worker of the console: makes it installable, opens it without network, and shows what is pushed.

export const workerScope = '/console/';
const worker = '/console/service-worker.mjs';

/** @throws Error where the browser has no service workers: without HTTPS, or by its settings. */
export const registerWorker = (): Promise<ServiceWorkerRegistration> =>
  navigator.serviceWorker.register(worker, { scope: workerScope, updateViaCache: 'none' });

/** Registers it where the browser can. Without it the console works as with it, but not offline. */
export async function beginWorker(): Promise<void> {
  if (!window.isSecureContext || !('serviceWorker' in navigator)) return;
  await registerWorker().catch(() => undefined);
}
