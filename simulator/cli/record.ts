// The commands `record` and `replay`: `record` writes an account's real traffic to a file without personal data. `replay` sends
// it by light trackers, at its speed or faster, and checks every event.
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Argv } from 'yargs';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { checkScenario } from '../core/scenario/scenario.ts';
import { countOf } from '../core/text/number-text.ts';
import {
  createRecordingReader,
  type Recording,
  recordingLimits,
  scriptsOf,
} from '../core/traffic/recording.ts';
import { record as recordTraffic } from '../run/service/record.ts';
import { openService } from '../run/service/service.ts';
import { runAndReport, withResult } from './run.ts';
import { assertNumber } from './scenario-flags.ts';
import { loginOf, withLogin } from './target.ts';

export const withRecord = (command: Argv) =>
  withLogin(command)
    .demandOption(['target', 'account', 'password-file'])
    .positional('file', { type: 'string', demandOption: true, describe: 'file to create, JSON lines' })
    .option('from', {
      type: 'string',
      demandOption: true,
      describe: 'start of the range, such as 2026-11-01T00:00:00Z',
    })
    .option('to', { type: 'string', describe: 'end of the range; now unless given' })
    .option('device', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'only this device; may be repeated',
    })
    .option('key-file', {
      type: 'string',
      describe:
        'file with the key of the id hashes (32 bytes or more); a random key that is not kept unless given',
    })
    .option('true-positions', {
      type: 'boolean',
      default: false,
      describe: 'keep the positions instead of shifting all of them by the same amount',
    })
    .example(
      '$0 record day.jsonl --target https://… --account acme --password-file p --from 2026-11-20',
      'a day',
    );

type RecordFlags = Awaited<ReturnType<ReturnType<typeof withRecord>['parseAsync']>>;

function secondsOf(text: string | undefined, flag: string): number {
  if (text === undefined) return 0;
  const ms = Date.parse(text);
  if (Number.isFinite(ms) && ms > 0) return Math.floor(ms / 1000);
  throw new AppError('usage', `--${flag} ${text} is not a time such as 2026-11-01T08:00:00Z`);
}

async function keyOf(file: string | undefined): Promise<Uint8Array> {
  if (file === undefined) return randomBytes(32);
  const key = await readFile(file).catch((thrown: unknown) => {
    throw new AppError('usage', `Cannot read the key: ${messageOf(thrown)}`, {
      hint: 'Check the path and its rights.',
    });
  });
  if (key.length >= 32) return key;
  throw new AppError(
    'usage',
    `--key-file ${file} has less than 32 bytes: ids could be guessed from their hashes`,
  );
}

export async function record(flags: RecordFlags): Promise<void> {
  const { file, device } = flags;
  if ((await stat(file).catch(() => null)) !== null)
    throw new AppError('usage', `${file} exists already and is not overwritten`);
  const { http, login, ca } = await loginOf(flags);
  const [fromS, toS, key] = [
    secondsOf(flags.from, 'from'),
    secondsOf(flags.to, 'to'),
    await keyOf(flags['key-file']),
  ];
  const service = await openService(http, login, ca);
  try {
    const isShifted = !flags['true-positions'];
    const deviceIDs = device === undefined ? null : device;
    const { events, devices, spanS } = await recordTraffic({
      service,
      fromS,
      toS,
      deviceIDs,
      key,
      isShifted,
      file,
    });
    process.stdout.write(
      `${file}: ${countOf(events, 'event')} of ${countOf(devices, 'device')} over ${Math.round(spanS)} s, ids scrambled, positions ${isShifted ? 'shifted' : 'as they were'}\n`,
    );
  } finally {
    await service.close();
  }
}

export const withReplay = (command: Argv) =>
  withResult(command)
    .positional('file', { type: 'string', demandOption: true, describe: 'a recording' })
    .option('speed', { type: 'number', default: 1, describe: 'so many times as fast, 0.1 to 1000' })
    .option('drain', { type: 'number', default: 120, describe: 'seconds for what waits at the end' })
    .example('$0 replay day.jsonl --speed 60', 'an hour in a minute, against a broker of its own');

type ReplayFlags = Awaited<ReturnType<ReturnType<typeof withReplay>['parseAsync']>>;

/** @throws AppError `config` that names file and line. */
async function readRecording(file: string): Promise<Recording> {
  const found = await stat(file).catch((thrown: unknown) => {
    throw new AppError('config', `Cannot read the recording: ${messageOf(thrown)}`, {
      hint: 'Check the path and its rights.',
    });
  });
  if (found.size > recordingLimits.bytes)
    throw new AppError('config', `${file} is larger than ${recordingLimits.bytes} bytes`);
  const reader = createRecordingReader();
  const lines = createInterface({
    input: createReadStream(file, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  try {
    for await (const line of lines) reader.take(line);
    return reader.finish();
  } catch (thrown) {
    throw new AppError('config', `${file}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

const connectS = 2;

export async function replay(flags: ReplayFlags): Promise<void> {
  const { file, speed, threshold: thresholds, drain: drainS } = flags;
  assertNumber('speed', speed, { low: 0.1, high: 1000, isWhole: false });
  assertNumber('drain', drainS, { low: 5, high: 86_400, isWhole: false });
  const { events } = await readRecording(file);
  const scripts = scriptsOf(events, speed);
  const lastMs = scripts.reduce((most, script) => Math.max(most, script.at(-1)?.atMs ?? 0), 0);
  const verdict = checkScenario({
    title: speed === 1 ? `${file}, as it was` : `${file}, ${speed} times as fast`,
    durationS: Math.max(5, Math.ceil(lastMs / 1000) + connectS + 1),
    drainS,
    fleet: { kind: 'tracker', devices: scripts.length, connectSpreadS: connectS },
    thresholds,
  });
  if (verdict.kind === 'faults')
    throw new AppError(
      'usage',
      verdict.faults.map(({ pointer, message }) => `${pointer}: ${message}`).join('; '),
    );
  await runAndReport(flags, { name: 'replay', scenario: verdict.scenario, scripts, controlPath: null });
}
