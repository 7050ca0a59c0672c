// Composition root of `fleetward-agent fuel calibrate`.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Argv } from 'yargs';
import { readVersion } from '../../src/adapters/version.ts';
import { text, withConfig } from './options.ts';
import { type Flags, loadSettings } from './settings-file.ts';

async function calibrateFuel(flags: Flags): Promise<void> {
  const [{ fuelCalibrate }, { toAgentConfig }, { openSerialPort }, { createSystemClock }, { untilStopped }] =
    await Promise.all([
      import('./fuel-calibrate.ts'),
      import('../config.ts'),
      import('../adapters/serial-port.ts'),
      import('../../src/adapters/system.ts'),
      import('../../src/adapters/program.ts'),
    ]);
  const { value: file } = loadSettings(flags);
  const given = { secret: '', agentVersion: readVersion(), hardwareID: '' };
  const { profile, boardPort, fuelSender } = await toAgentConfig(file, given);
  const { answers, capacity, drain, litres } = flags;
  await fuelCalibrate({
    profile,
    port: boardPort,
    fuelSender,
    clock: createSystemClock(),
    openByteLink: openSerialPort,
    plan:
      typeof capacity === 'number'
        ? { capacityL: capacity, mode: drain === true ? 'drain' : 'fill', startL: Number(litres) }
        : null,
    answers: typeof answers === 'string' ? readFileSync(answers, 'utf8') : null,
    progressPath: join(dirname(file.storage.path), 'fuel-calibration.json'),
    input: process.stdin,
    output: process.stdout,
    stopped: untilStopped(),
  });
}

const withCalibrate = (parser: Argv): Argv =>
  withConfig(parser)
    .option('capacity', { type: 'number', describe: 'Litres in the full tank' })
    .option('litres', { type: 'number', default: 0, describe: 'Litres in the tank now' })
    .option('drain', { type: 'boolean', describe: 'Take fuel out step by step instead of filling' })
    .option('answers', text('JSON file with the amounts, for unattended use'))
    .example('$0 fuel calibrate --capacity 300', 'An empty tank of 300 litres; Ctrl-C keeps every point');

export const withFuel = (parser: Argv): Argv =>
  parser.command('fuel', 'Commands for the fuel tank', (more) =>
    more
      .command(
        'calibrate',
        'Make the table of a tank of any shape: fill or drain it step by step (stop the agent first)',
        withCalibrate,
        calibrateFuel,
      )
      .demandCommand(1, 'Give a subcommand: calibrate'),
  );
