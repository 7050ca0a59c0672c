// Whether the service of this container is ready: what the image's health check asks.
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';

const waitMs = 5000;

/** Asks `/readyz` on loopback. The name in its certificate is another one: only this container is asked, and nothing is told. */
export function isReady(environment: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const isSecure = environment['FLEETWARD_HTTP_TLS_CERT_FILE'] !== undefined;
  const place = { host: '127.0.0.1', port: environment['FLEETWARD_HTTP_PORT'] ?? '8080', path: '/readyz' };
  return new Promise((done) => {
    const call = (isSecure ? secure : plain)(
      { ...place, timeout: waitMs, ...(isSecure ? { rejectUnauthorized: false } : {}) },
      (answer) => {
        answer.resume();
        done(answer.statusCode === 200);
      },
    );
    call.on('timeout', () => call.destroy());
    call.on('error', () => done(false));
    call.end();
  });
}
