// A target that answers and shows nothing: no event in its lists, nothing on its live stream, no state of a device. A run against it
// fails, and says what it did not see.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import { startFaultyBroker } from '../support/broker/faulty-broker.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { runAgainst } from '../support/programs/simulated-run.ts';

const folder = temporaryFolder('empty');

/** Answers requests of that path itself, and passes all others on. */
async function startEmptyTarget(http: string, path: RegExp, answer: (response: ServerResponse) => void) {
  const pass = (asked: IncomingMessage, response: ServerResponse): void => {
    const { method = 'GET', headers, url = '' } = asked;
    const onward = request(`${http}${url}`, { method, headers }, (got) => {
      response.writeHead(got.statusCode ?? 500, got.headers);
      got.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    asked.pipe(onward);
  };
  const server = createServer((asked, response) => {
    if (path.test(asked.url ?? '')) answer(response);
    else pass(asked, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    http: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close(): Promise<void> {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

async function runWith(path: RegExp, answer: (response: ServerResponse) => void): Promise<RunResult> {
  const broker = await startFaultyBroker(null);
  const empty = await startEmptyTarget(broker.target.http, path, answer);
  try {
    const target = { ...broker.target, http: empty.http };
    const commands = { perMinute: 10, restoreS: 5 };
    return await runAgainst({ ...broker, target }, folder, { commands, needs: { commands: 0 } });
  } finally {
    await empty.close();
    await broker.close();
  }
}

const json = (value: object) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

const unmet = ({ expectations }: RunResult): readonly string[] =>
  expectations.filter(({ isMet }) => !isMet).map(({ name }) => name);

describe.concurrent('a run against a target', () => {
  it('with empty lists is reported to miss every acknowledged event', async () => {
    const result = await runWith(/fleetdata/, json({ eventdata: { devices: [] }, more: false, upTo: '0' }));
    expect(result.isPassed).toBe(false);
    expect(result.counts.shown).toBe(0);
    expect(result.truth.acknowledgedMissing).toBe(result.counts.acknowledged);
  });

  it('with a silent live stream fails the run', async () => {
    const result = await runWith(/events\/stream/, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': \n\n');
    });
    expect(result.isPassed).toBe(false);
    expect(unmet(result)).toEqual(['live']);
  });

  it('that refuses every command fails the run with its reason', async () => {
    const result = await runWith(/command\/feature/, (response) => {
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code: 'conflict', detail: 'not today' } }));
    });
    expect(result.isPassed).toBe(false);
    expect(unmet(result)).toEqual(['commandsTaken']);
    expect(result.expectations.find(({ name }) => name === 'commandsTaken')?.detail).toContain('not today');
  });

  it('that shows devices without a state fails the run', async () => {
    const result = await runWith(/device\/getdevice\//, json({ deviceID: 'x', state: {} }));
    expect(result.isPassed).toBe(false);
    expect(result.truth.wrongState).toBeGreaterThan(0);
  });
});
