// A Traccar server as far as forwarding goes, after its source of August 2026 (`PositionForwardingHandler`, `PositionForwarderJson`,
// `ProcessingHandler`, `PositionResource`), in a process of its own so that it can be killed. A fake: no byte of Traccar runs here.
// Each position is forwarded, then stored and numbered; a repeat is written anew and then bears its number. Repeats: 100 ms doubled,
// 10 times, none while more than 100 positions wait; all of it in memory. Events of its files: what the trackers sent, which they send
// again until it is stored, and what is stored, with the digits that MySQL keeps.
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const { folder, url, token, apiToken, apiPort, count, devices, perS } = JSON.parse(process.argv[2]);
const retry = { delayMs: 100, count: 10, limit: 100 };
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
const iso = (ms) => new Date(ms).toISOString().replace('Z', '+00:00');

/** Whole lines of a file; a line that a kill tore off was never written. */
function linesOf(name) {
  const file = `${folder}/${name}`;
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(10) + 1;
  truncateSync(file, end);
  return bytes
    .subarray(0, end)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
const append = (name, value) => appendFileSync(`${folder}/${name}`, `${JSON.stringify(value)}\n`);

const sent = linesOf('tracker.jsonl');
const stored = new Map(linesOf('stored.jsonl').map((one) => [one.number, one]));
const byDevice = new Map();
const index = (one) => {
  const list = byDevice.get(one.number % devices) ?? [];
  list.push(one);
  byDevice.set(one.number % devices, list);
};
for (const one of stored.values()) index(one);

/** @param fixMs as the tracker sent it. */
const positionOf = ({ number, fixMs, id, serverMs }) => ({
  id,
  attributes: { sat: 9, ignition: number % 3 > 0, distance: 12.3, totalDistance: number, motion: true },
  deviceId: (number % devices) + 1,
  protocol: 'gt06',
  serverTime: iso(serverMs),
  deviceTime: iso(fixMs),
  fixTime: iso(fixMs),
  valid: true,
  latitude: 40 + number / 1e6,
  longitude: -79.40123,
  altitude: 100 + number / 7,
  speed: (number % 90) / 1.852,
  course: (number % 359) + 1 / 3,
  address: null,
  accuracy: 0,
  network: null,
  geofenceIds: null,
});
const digits = (value) => Number(value.toPrecision(6));
const wholeS = (ms) => iso(Math.round(ms / 1000) * 1000);
const storedPosition = (one) => {
  const position = positionOf(one);
  const { altitude, speed, course } = position;
  const times = {
    serverTime: wholeS(one.serverMs),
    deviceTime: wholeS(one.fixMs),
    fixTime: wholeS(one.fixMs),
  };
  return { ...position, ...times, altitude: digits(altitude), speed: digits(speed), course: digits(course) };
};

let pending = 0;
function forward(position) {
  pending += 1;
  let retries = 0;
  const send = () => {
    const device = {
      id: position.deviceId,
      uniqueId: `imei-${position.deviceId}`,
      name: `Van ${position.deviceId}`,
      attributes: {},
    };
    const body = JSON.stringify({ position, device });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    let isDone = false;
    const finish = (isWell) => {
      if (isDone) return;
      isDone = true;
      if (!isWell && pending <= retry.limit && retries < retry.count) {
        setTimeout(send, retry.delayMs * 2 ** retries);
        retries += 1;
      } else pending -= 1;
    };
    const call = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer
        .resume()
        .on('close', () => finish(answer.complete && answer.statusCode >= 200 && answer.statusCode < 300));
    });
    call.on('error', () => finish(false)).setTimeout(5000, () => call.destroy());
    call.end(body);
  };
  send();
}

async function handle({ number, fixMs }) {
  const position = positionOf({ number, fixMs, id: 0, serverMs: Date.now() });
  forward(position);
  await sleep(1);
  position.id = stored.size + 1;
  const one = { number, fixMs, id: position.id, serverMs: Date.parse(position.serverTime) };
  append('stored.jsonl', one);
  stored.set(number, one);
  index(one);
}

createServer((asked, answer) => {
  const { pathname, searchParams } = new URL(asked.url, 'http://localhost');
  if (pathname === '/api/devices') {
    const uniqueId = searchParams.get('uniqueId');
    const id = Number(uniqueId.split('-')[1]);
    return answer
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify([{ id, uniqueId }]));
  }
  if (pathname !== '/api/positions' || asked.headers.authorization !== `Bearer ${apiToken}`)
    return answer.writeHead(401).end();
  const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name)));
  const secondOf = ({ fixMs }) => Math.round(fixMs / 1000) * 1000;
  const list = (byDevice.get(Number(searchParams.get('deviceId')) - 1) ?? [])
    .filter((one) => secondOf(one) >= from && secondOf(one) <= to)
    .sort((one, other) => secondOf(one) - secondOf(other))
    .slice(0, 50_000)
    .map(storedPosition);
  answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
}).listen(apiPort, '127.0.0.1');

for (const one of sent) if (!stored.has(one.number)) await handle(one);
const beganMs = Date.now();
for (let number = sent.length, done = 0; number < count; number++, done++) {
  const one = { number, fixMs: Date.now() };
  append('tracker.jsonl', one);
  await handle(one);
  if (number % 100 === 0) process.stdout.write(`${number}\n`);
  const aheadMs = (done / perS) * 1000 - (Date.now() - beganMs);
  if (aheadMs > 2) await sleep(aheadMs);
}
process.stdout.write(`${count}\n`);
