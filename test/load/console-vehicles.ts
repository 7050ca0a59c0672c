// Vehicles of the console bench, a process of its own: plain MQTT connections whose vehicles drive through a town and report where they are,
// in turn and at a given pace; some of them report on order only. Orders come over the IPC channel; each is answered once.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveOrders } from './measured-process.ts';
import { openFleetClient, type RawFleetClient } from './raw-fleet-client.ts';

export type VehiclesOrder =
  /** Opens vehicles `0` to `count - 1`. */
  | { readonly kind: 'open'; readonly port: number; readonly count: number }
  /** So many reports a second, of vehicles `first` and on in turn; 0: rest. */
  | { readonly kind: 'drive'; readonly perS: number; readonly first: number }
  /** One report of one vehicle, answered with its acknowledgement. */
  | { readonly kind: 'report'; readonly index: number; readonly speed: number; readonly statusCode: number };

export interface VehiclesAnswer {
  readonly connected: number;
  /** Since the last order. */
  readonly sent: number;
  /** Reports that were due while those of their vehicle were not acknowledged. */
  readonly skipped: number;
  /** Of the ordered report: when its PUBACK came, ms since 1970. */
  readonly ackedMs: number;
}

const openMs = 180_000;
/** Reports of one vehicle that may wait for their PUBACK. */
const window = 4;
/** Speed of all vehicles that drive, km/h, and how far that is in a second, degrees of latitude. */
const drivingKmh = 54;
const stepDegrees = 0.000135;

const boot = `b${randomBytes(6).toString('hex')}`;
const clients: RawFleetClient[] = [];
const sequences: number[] = [];
const acked = new Map<number, (atMs: number) => void>();
let perS = 0;
let first = 0;
let [sent, skipped] = [0, 0];

/** Where a vehicle begins: a grid of 100 columns, a hundredth of a degree apart. */
export const startOf = (index: number): readonly [latitude: number, longitude: number] => [
  43.2 + (index % 100) * 0.01,
  -80 + Math.floor(index / 100) * 0.01,
];

function report(index: number, speed: number, statusCode: number): void {
  const seq = (sequences[index] ?? 0) + 1;
  sequences[index] = seq;
  const [latitude, longitude] = startOf(index);
  const event = {
    seq,
    timestamp: Date.now(),
    upMs: seq * 1000,
    timeQuality: 'gnss',
    statusCode,
    latitude: Math.round((latitude + (seq % 200) * stepDegrees) * 1e6) / 1e6,
    longitude: Math.round(longitude * 1e6) / 1e6,
    speed,
    heading: seq % 360,
    hdop: 0.9,
    satellites: 11,
    odometer: 1000 + seq,
    inputs: { ignition: true },
  };
  clients[index]?.publish(JSON.stringify({ boot, events: [event] }));
}

function openOne(port: number, index: number): Promise<void> {
  const from = `127.0.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`;
  return new Promise((resolve, reject) => {
    clients[index] = openFleetClient(
      index,
      { port, from, secureContext: null, session: null },
      {
        onReady: resolve,
        onEnd: (why) => reject(new Error(`vehicle ${index}: ${why}`)),
        onLatency: () => {
          acked.get(index)?.(performance.timeOrigin + performance.now());
          acked.delete(index);
        },
        onPong: () => undefined,
        onTicket: () => undefined,
      },
    );
  });
}

async function open(port: number, count: number): Promise<void> {
  const late = setTimeout(() => process.exit(1), openMs);
  for (let from = 0; from < count; from += 50) {
    const some = Array.from({ length: Math.min(50, count - from) }, (_unused, at) => from + at);
    await Promise.all(some.map((index) => openOne(port, index)));
  }
  clearTimeout(late);
}

/** Sends what is due, in steps of a few ms. */
async function drive(): Promise<void> {
  let turn = 0;
  let [beganMs, due] = [performance.now(), 0];
  let pace = perS;
  for (;;) {
    await sleep(5);
    if (pace !== perS) [pace, beganMs, due] = [perS, performance.now(), 0];
    const wanted = Math.floor(((performance.now() - beganMs) / 1000) * pace);
    for (; due < wanted && clients.length > first; due += 1) {
      const index = first + (turn % (clients.length - first));
      turn += 1;
      const client = clients[index];
      if (client === undefined || !client.isReady() || client.waiting() >= window) skipped += 1;
      else {
        report(index, drivingKmh, 61472);
        sent += 1;
      }
    }
  }
}

async function carryOut(order: VehiclesOrder): Promise<VehiclesAnswer> {
  let ackedMs = 0;
  if (order.kind === 'open') await open(order.port, order.count);
  if (order.kind === 'drive') [perS, first] = [order.perS, order.first];
  if (order.kind === 'report') {
    const acknowledgement = new Promise<number>((resolve) => void acked.set(order.index, resolve));
    report(order.index, order.speed, order.statusCode);
    ackedMs = await acknowledgement;
  }
  const connected = clients.filter((client) => client.isReady()).length;
  const answer = { connected, sent, skipped, ackedMs };
  [sent, skipped] = [0, 0];
  return answer;
}

serveOrders(carryOut);
if (process.send !== undefined) void drive();
