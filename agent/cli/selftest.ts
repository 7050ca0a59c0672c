// `fleetward-agent selftest`: does this installation work, without any hardware: native parts load, the disk keeps
// synced data, codecs match the test vectors of their standards. For use after an installation, and for a new release
// before it is trusted. It writes only to a temporary folder, which it removes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/core/errors.ts';
import { decodeProtobuf, encodeProtobuf } from '../../src/core/events/event-protobuf.ts';
import type { Clock, Database, Verifier } from '../../src/ports.ts';
import { serviceCode } from '../../src/service-codes.ts';
import { sql } from '../../src/sql.ts';
import { listBoardProfiles, readBoardProfile } from '../boards.ts';
import { crc16 } from '../core/board/modbus-frame.ts';
import { createNmeaState, decodeNmea } from '../core/gnss/nmea.ts';
import type { Output } from './settings-file.ts';

export interface SelftestPorts {
  readonly clock: Clock;
  /** As the agent opens its outbox: every write is forced to the disk. */
  openDatabase(path: string): Database;
  createVerifier(publicKey: string): Verifier;
  /** Throws when the native part of the serial ports does not load. */
  loadSerial(): Promise<void>;
}

export interface SelftestResult {
  readonly name: string;
  readonly isGood: boolean;
  /** Figures when good, the reason when not. */
  readonly words: string;
  readonly ms: number;
}

type Part = readonly [name: string, run: (ports: SelftestPorts) => Promise<string> | string];

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}

const rows = 100;

/** Writes, closes, opens again and reads: what a power cut would ask for, short of the power cut. */
async function disk({ openDatabase }: SelftestPorts): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-selftest-'));
  try {
    const path = join(folder, 'selftest.db');
    const first = openDatabase(path);
    await first.write([sql`CREATE TABLE kept (number INTEGER PRIMARY KEY, text TEXT NOT NULL)`]);
    for (let number = 1; number <= rows; number += 1)
      await first.write([sql`INSERT INTO kept (number, text) VALUES (${number}, ${`row ${number}`})`]);
    await first.close();
    const second = openDatabase(path);
    const found = await second.read(sql`SELECT count(*) AS count, max(text) AS last FROM kept`);
    await second.close();
    must(found[0]?.['count'] === rows, `of ${rows} rows ${String(found[0]?.['count'])} were read back`);
    return `${rows} forced writes read back in ${tmpdir()}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A token that was signed once with a key that was thrown away (Ed25519, RFC 8032; JWS, RFC 7515). */
const signed = {
  publicKey: 'z/W9iTCMq7nuB1GH03jng+Fmpvt1Ma3ZB+fib0PHv/0=',
  type: 'fleetward-selftest-1',
  token:
    'eyJhbGciOiJFZERTQSIsInR5cCI6ImZsZWV0d2FyZC1zZWxmdGVzdC0xIiwia2lkIjoiM2I0MGMxY2I0MzU4MDU4YyJ9.c2VsZnRlc3Q.y2yztGE9p8fm5Acx-dVf1Q8va8r7WRumIJHnfi8m7RBKJvThTgO2JnKUdO2GDftuq-IRLjXSz8N69YPeuhdWAg',
} as const;

function signature({ createVerifier }: SelftestPorts): string {
  const verifier = createVerifier(signed.publicKey);
  const payload = verifier.verify(signed.token, signed.type);
  must(payload !== null && new TextDecoder().decode(payload) === 'selftest', 'a good signature was refused');
  const spoilt = signed.token.replace(
    /^(.{120})./,
    (_all, head: string) => `${head}${signed.token[120] === 'A' ? 'B' : 'A'}`,
  );
  must(verifier.verify(spoilt, signed.type) === null, 'a spoilt signature was taken');
  return 'a good signature is taken, a spoilt one refused';
}

/** The example of NMEA 0183 for RMC, with its checksum; and the same with another one. */
function nmea(): string {
  const line = '$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n';
  const decode = (text: string) => decodeNmea(createNmeaState(), new TextEncoder().encode(text));
  const good = decode(line).sentences[0];
  must(good?.type === 'RMC', 'a good sentence was refused');
  must(decode(line.replace('*6A', '*6B')).rejected.checksum === 1, 'a wrong checksum was taken');
  return 'a sentence is read, a wrong checksum refused';
}

/** MODBUS over Serial Line V1.02, appendix B: the CRC of 02 07 is 41 12 on the wire. */
function modbus(): string {
  must(crc16(Uint8Array.of(0x02, 0x07)) === 0x1241, 'the CRC is wrong');
  return 'the CRC of the standard';
}

function events(): string {
  const event = {
    seq: 1,
    timestamp: 1_763_683_200_000,
    upMs: 1000,
    timeQuality: 'gnss',
    statusCode: 61_472,
  } as const;
  const { payload, count } = encodeProtobuf('selftest', [event]);
  const decoded = decodeProtobuf(payload);
  must(
    count === 1 && decoded.ok && decoded.batch.events[0]?.timestamp === event.timestamp,
    'an event changed on its way',
  );
  return `an event of ${payload.length} bytes`;
}

/** RFC 6238 appendix B, SHA-256, time 59 s: counter 1. */
function codes(): string {
  const key = new TextEncoder().encode('12345678901234567890123456789012');
  must(serviceCode(key, 1) === '46119246', 'a service code is wrong');
  return 'one-time codes';
}

async function profiles(): Promise<string> {
  const names = await listBoardProfiles();
  await Promise.all(names.map(readBoardProfile));
  must(names.length > 0, 'no board profile came with the program');
  return `${names.length} board profiles`;
}

const parts: readonly Part[] = [
  ['serial port binding', async ({ loadSerial }) => (await loadSerial(), 'loaded')],
  ['disk', disk],
  ['signatures', signature],
  ['NMEA 0183', nmea],
  ['Modbus', modbus],
  ['events', events],
  ['service codes', codes],
  ['board profiles', profiles],
];

/** Every part once, in order; a part that fails does not keep the others from running. Never rejects. */
export async function selftest(ports: SelftestPorts): Promise<readonly SelftestResult[]> {
  const results: SelftestResult[] = [];
  for (const [name, run] of parts) {
    const startMs = ports.clock.monoMs();
    const result = await (async () => run(ports))().then(
      (words) => ({ name, isGood: true, words }),
      (thrown: unknown) => ({ name, isGood: false, words: messageOf(thrown) }),
    );
    results.push({ ...result, ms: Math.round(ports.clock.monoMs() - startMs) });
  }
  return results;
}

/** What `selftest [--json]` prints. */
export function reportSelftest(
  version: string,
  results: readonly SelftestResult[],
  rssBytes: number,
): Output & { readonly isGood: boolean } {
  const isGood = results.every((result) => result.isGood);
  const lines = results.map(
    ({ name, isGood: good, words, ms }) =>
      `${good ? 'ok   ' : 'FAULT'} ${name.padEnd(20)} ${words} (${ms} ms)`,
  );
  const end = `fleetward-agent ${version} on Node ${process.versions.node}, ${process.arch}: ${isGood ? 'works' : 'does not work'}; ${Math.round(rssBytes / 1e6)} MB of memory`;
  return {
    isGood,
    json: { version, node: process.versions.node, arch: process.arch, isGood, rssBytes, results },
    text: [...lines, end].join('\n'),
  };
}
