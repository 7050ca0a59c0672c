// A web page of another origin in Chromium: it reads the live stream with fetch and the header `authorization`, resumes by the
// number that it saw last, and reads nothing when its origin is not listed.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';
import { chromiumNeeds, openBrowser } from '../support/machine/browser.ts';

const { missing } = chromiumNeeds();
const why = missing === null ? '' : ` [${missing}]`;

type Service = Awaited<ReturnType<typeof startHttpService>>;

/** An empty page at an origin of its own. */
async function startSite() {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>page</title>');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

// Runs in the page: reads a stream until a text comes, and gives everything up to there or the fault.
const reader = `async ({ url, token, lastEventID, until }) => {
  const controller = new AbortController();
  const headers = { authorization: token, ...(lastEventID === null ? {} : { 'last-event-id': lastEventID }) };
  try {
    const answer = await fetch(url, { headers, signal: controller.signal });
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of answer.body) {
      text += decoder.decode(chunk, { stream: true });
      window.seen = text;
      if (text.includes(until)) break;
    }
    controller.abort();
    return { status: answer.status, text, requestID: answer.headers.get('x-request-id') };
  } catch (thrown) {
    return { fault: String(thrown) };
  }
}`;

interface Read {
  readonly status?: number;
  readonly text?: string;
  readonly requestID?: string | null;
  readonly fault?: string;
}

describe.skipIf(missing !== null)(`a page in Chromium${why}`, () => {
  let service: Service;
  let browser: Browser;
  let base = '';
  let token = '';
  let seq = 0;
  const sites: Awaited<ReturnType<typeof startSite>>[] = [];

  beforeAll(async () => {
    sites.push(await startSite(), await startSite());
    service = await startHttpService({ origins: [sites[0]?.origin ?? ''] });
    base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
    await service.account('acme');
    await service.device('acme', 'truck-1');
    token = await service.login('acme', 'admin');
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.close();
    for (const site of sites) await site.close();
  });

  const openPage = async (at: number): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(sites[at]?.origin ?? '');
    return page;
  };
  const read = (page: Page, until: string, lastEventID: string | null = null): Promise<Read> =>
    page.evaluate(
      `(${reader})(${JSON.stringify({
        url: `${base}/api/v1/events/stream/authorization`,
        token,
        lastEventID,
        until,
      })})`,
    );
  const panic = async (): Promise<string> => {
    seq += 1;
    const events = [{ seq, timestamp: Date.now(), statusCode: 63553 }];
    await service.events('acme', 'truck-1', { boot: 'b1', events });
    return `b1:${seq}`;
  };

  it('of a listed origin reads the stream and resumes where it stopped', async () => {
    const page = await openPage(0);
    const reading = read(page, '"statusCode":63553');
    await page.waitForFunction('window.seen?.includes("event: hello")');
    const first = await panic();
    const seen = await reading;
    expect(seen).toMatchObject({ status: 200, requestID: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(seen.text).toContain(first);
    const lastID = [...(seen.text ?? '').matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? '';
    const missed = await panic();
    const resumed = await read(page, `"eventID":"${missed}"`, lastID);
    expect(resumed.text).not.toContain(`"eventID":"${first}"`);
    expect(resumed.text).not.toContain('event: reset');
  });

  it('of another origin reads nothing', async () => {
    const page = await openPage(1);
    expect(await read(page, 'event: hello')).toEqual({ fault: expect.stringContaining('Failed to fetch') });
    expect(service.streamCount()).toBe(0);
  });
});
