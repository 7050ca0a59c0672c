// `fleetward-broker audit`, `retention` and `config`, on the machine itself.
import { existsSync } from 'node:fs';
import { createLog } from '../../src/adapters/log.ts';
import { createSigner, createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { settingAt, settingsOf } from '../../src/config.ts';
import { withoutPassword } from '../../src/core/database-url.ts';
import { AppError } from '../../src/core/errors.ts';
import { reportHeads, reportVerify } from '../audit/report.ts';
import { brokerSchema } from '../config/broker-config.ts';
import { acceptClock, createAgingClock } from '../upkeep/aging-clock.ts';
import { runRetention } from '../upkeep/retention.ts';
import type { Flags } from './command-line.ts';
import { inspectConfig, needNoFault } from './config-check.ts';
import { loadFleetKey } from './known-fleet.ts';
import { administer, configOf, needDatabase, print, readText } from './program.ts';

/** Between two batches, so that a running broker has the disk in between. */
const retentionRestMs = 20;

export async function runAudit(flags: Flags, action: 'verify' | 'heads'): Promise<void> {
  const config = configOf(flags).value;
  needDatabase(config);
  const accountID = typeof flags['account'] === 'string' ? flags['account'] : null;
  const file = flags['head'];
  await administer(config, async ({ db, clock }) => {
    const key = () => loadFleetKey(config, db, flags);
    if (action === 'heads') {
      return print(
        flags,
        await reportHeads({ db, clock, signer: createSigner((await key()).privatePem) }, accountID),
      );
    }
    const kept = typeof file === 'string' ? readText(file, 'the saved heads') : null;
    // Without its file the key would be made anew here, and could have signed nothing.
    const isKeyHere = kept !== null || existsSync(config.signingKeyFile);
    const verifier = isKeyHere ? createVerifier((await key()).publicKey) : null;
    const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
    const report = await reportVerify({ db, clock, accountID, verifier, kept, onProgress });
    print(flags, report);
    // Not a fault of the program or of its input: the log itself is wrong.
    if (!report.isGood) process.exitCode = 1;
  });
}

/** A clock that is ahead would remove what is not old. */
function leapError(nowMs: number, leapMs: number): AppError {
  const [at, expected] = [nowMs + leapMs, nowMs].map((ms) => new Date(ms).toISOString());
  return new AppError(
    'conflict',
    `This clock says ${at}; by the last run of the service it should be about ${expected}`,
    {
      hint: 'Set the clock right. If it is right, and the service was off for so long, give --accept-clock.',
    },
  );
}

export async function runRetentionOnce(flags: Flags): Promise<void> {
  const config = configOf(flags).value;
  needDatabase(config);
  const isDry = flags['dry-run'] === true;
  await administer(config, async ({ db, clock }) => {
    if (flags['accept-clock'] === true) await acceptClock(db, clock);
    const { nowMs, leapMs } = await createAgingClock({ db, clock, log: createLog('silent') }).read();
    if (leapMs > 0) throw leapError(nowMs, leapMs);
    const rest = (): Promise<void> => new Promise((resolve) => void clock.after(retentionRestMs, resolve));
    const run = { db, clock, nowMs, rest, isDry };
    const { slices, accounts } = await runRetention(run);
    const whole = slices.map(({ sliceNo, openedMs, closedMs, events, became }) => {
      const [from, to] = [openedMs, closedMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
      const when = became === 'dropped' ? '' : ', whose space is free after a run an hour later';
      return `slice ${sliceNo}, received ${from} to ${to}: up to ${events} events${when}`;
    });
    const rows = accounts.map(
      ({ accountID, days, devices, events, payloads }) =>
        `${accountID}: ${events} events and ${payloads} unreadable payloads of ${devices} devices, older than ${days} days`,
    );
    const head = isDry ? 'Would remove:' : 'Removed:';
    const lines = [...whole, ...rows];
    const text = lines.length === 0 ? 'No account limits retention' : [head, ...lines].join('\n');
    print(flags, { json: { isDry, slices, accounts }, text });
  });
}

/** A start with these settings would go through: as `nginx -t`, every file is opened and every address bound. */
async function checkConfig(flags: Flags): Promise<void> {
  const { faults, notes } = await inspectConfig(configOf(flags).value, createSystemClock().utcMs());
  needNoFault(faults);
  const text = ['The configuration is valid', ...notes.map((note) => `note: ${note}`)].join('\n');
  print(flags, { json: { ok: true, notes }, text });
}

export async function runConfig(flags: Flags, action: 'check' | 'show'): Promise<void> {
  if (action === 'check') return checkConfig(flags);
  const { value: whole, origins } = configOf(flags);
  const value = { ...whole, database: withoutPassword(whole.database) };
  const lines = settingsOf(brokerSchema).map(({ key }) => {
    const origin = flags['origin'] === true ? `   # ${origins[key]?.name ?? 'default'}` : '';
    return `${key} = ${JSON.stringify(settingAt(value, key))}${origin}`;
  });
  print(flags, { json: { config: value, origins }, text: lines.join('\n') });
}
