// A proxy between a unit and the broker, on plain HTTP: passes each exchange on, and may change its content, keep the
// answer back, or do something at a chosen moment.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Members = Record<string, unknown>;

export interface Alterations {
  /** What the broker is to see. */
  request?: (body: Members) => Members;
  /** After the broker has answered, before the unit gets it. @returns what the unit is to see; null: nothing. */
  answer?: (body: Members) => Members | null | Promise<Members | null>;
}

/** Starts it in front of the HTTP port. What it does is set in `alterations`, and may be changed at any time. */
export async function startAlteringProxy(httpPort: () => number) {
  const alterations: Alterations = {};
  const seen: { readonly request: Members; readonly status: number }[] = [];
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const said = JSON.parse(Buffer.concat(parts).toString()) as Members;
      const passed = alterations.request?.(said) ?? said;
      const answer = await fetch(`http://127.0.0.1:${httpPort()}${request.url ?? ''}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(passed),
      });
      const body = (await answer.json()) as Members;
      seen.push({ request: passed, status: answer.status });
      const altered = alterations.answer === undefined ? body : await alterations.answer(body);
      if (altered === null) return void response.destroy();
      const retryAfter = answer.headers.get('retry-after');
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
      });
      response.end(JSON.stringify(altered));
    };
    serve().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    alterations,
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
