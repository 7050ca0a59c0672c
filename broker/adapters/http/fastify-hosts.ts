// By which names a listener may be asked. A page of another host can make its own name point here (DNS rebinding), and its scripts then count
// as of this origin; the name in the header Host is still theirs. An address cannot be made to point elsewhere.
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../../src/core/errors.ts';

/** The name or address in a Host header, without its port; '' for anything else. */
function nameIn(header: string): string {
  const url = `http://${header}`;
  if (/[/?#@\\]/.test(header) || !URL.canParse(url)) return '';
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** Refuses every request that names another host. A request of HTTP/1.0 without the header is of no browser. */
export function addHostCheck(app: FastifyInstance, names: readonly string[]): void {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  app.addHook('onRequest', (request, _reply, done) => {
    const { host } = request.headers;
    const name = host === undefined ? 'localhost' : nameIn(host);
    if (known.has(name) || isIP(name) !== 0) return done();
    throw new AppError('malformed_request', 'This listener is not asked by that name', {
      hint: 'Ask by its address. The operator may add the name to admin.names.',
    });
  });
}
