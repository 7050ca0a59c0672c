#!/usr/bin/env node
// The simulator's command line and its composition root. Errors end here as text with an exit code of sysexits.h. The first Ctrl-C
// ends cleanly, the second at once.
import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { openSqlite } from '../src/adapters/database/sqlite.ts';
import { openMqttLink } from '../src/adapters/mqtt-link.ts';
import { personsCrypto } from '../src/adapters/persons-crypto.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createVerifier } from '../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { readVersion } from '../src/adapters/version.ts';
import { readEnvironment } from '../src/config.ts';
import { AppError } from '../src/core/errors.ts';
import { boardBauds, hardwareEpilogue, runHardware } from './bench/hardware-command.ts';
import { withCtl } from './cli/ctl.ts';
import { record, replay, withRecord, withReplay } from './cli/record.ts';
import { compare, run, withCompare, withRun, withScenario, worker } from './cli/run.ts';
import { usageError } from './cli/usage.ts';
import { type DemoOptions, runDemo } from './demo/demo.ts';
import { boardMaps, boardNames, wiringNames } from './hardware/board-maps.ts';

function parseCity(text: string): { latitude: number; longitude: number } {
  const [latitude = Number.NaN, longitude = Number.NaN, ...rest] = text.split(',').map(Number);
  if (rest.length === 0 && Math.abs(latitude) <= 80 && Math.abs(longitude) <= 180)
    return { latitude, longitude };
  throw new AppError('usage', `--city ${text} is not <lat>,<lon>, e.g. 43.6511,-79.3470`);
}

function parseNumber(value: number, flag: string, limits: { low: number; high: number }): number {
  const { low, high } = limits;
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new AppError('usage', `--${flag} takes a whole number from ${low} to ${high}`);
}

const standardCity = '44.4200,-78.9800';
const cityOption = {
  type: 'string',
  // No yargs default: one would conflict with --route.
  defaultDescription: standardCity,
  describe: 'centre of the generated streets, <lat>,<lon>',
} as const;
const seedOption = {
  type: 'string',
  default: 'fleetward',
  describe: 'same seed, same drives and faults',
} as const;

const boardList = boardNames.map((name) => `  ${name.padEnd(22)} ${boardMaps[name].label}`).join('\n');

function withHardware(command: Argv) {
  return command
    .option('desk', {
      type: 'string',
      describe: 'folder for both ports and an agent.toml that names them; made when it is missing',
    })
    .option('link-board', {
      type: 'string',
      describe: "path of the board's serial port; ttyBoard in the folder of --desk, else here",
    })
    .option('link-gnss', {
      type: 'string',
      describe: "path of the receiver's serial port; ttyGnss in that folder",
    })
    .option('link-fuel', {
      type: 'string',
      describe: 'path of a further serial port, with a fuel sender of the LLS protocol at address 1',
    })
    .option('board', {
      choices: boardNames,
      default: 'waveshare-io-analog' as const,
      describe: 'I/O board to simulate',
    })
    .option('wiring', {
      choices: wiringNames,
      default: 'plain' as const,
      describe: 'positive: with an off contact of ignition, a life input and a loop-back',
    })
    .option('board-baud', {
      choices: boardBauds,
      default: 9600 as const,
      describe: "speed of the board's line; the agent needs the same",
    })
    .option('route', { type: 'string', describe: 'CSV track to drive along, header t,lat,lon' })
    .option('city', cityOption)
    .conflicts('route', 'city')
    .option('control-port', { type: 'number', describe: 'HTTP control on 127.0.0.1; 0 takes any free port' })
    .option('seed', seedOption)
    .option('json', { type: 'boolean', default: false, describe: 'print what is ready as one line of JSON' })
    .example('$0 hardware', 'a board and a receiver, commands at the prompt')
    .example(
      '$0 hardware --control-port 9100 </dev/null',
      'controlled by: curl localhost:9100/command -d drive',
    )
    .epilogue(`Boards:\n${boardList}\n\n${hardwareEpilogue}`);
}

async function hardware(options: Awaited<ReturnType<typeof withHardware>['argv']>): Promise<void> {
  const { controlPort } = options;
  const given = {
    clock: createSystemClock(),
    seed: options.seed,
    boardName: options.board,
    wiring: options.wiring,
    desk: options.desk ?? null,
    boardLink: options['link-board'] ?? join(options.desk ?? '.', 'ttyBoard'),
    gnssLink: options['link-gnss'] ?? join(options.desk ?? '.', 'ttyGnss'),
    fuelLink: options['link-fuel'] ?? null,
    boardBaud: options['board-baud'],
    routeFile: options.route ?? null,
    city: parseCity(options.city ?? standardCity),
    controlPort:
      controlPort === undefined ? null : parseNumber(controlPort, 'control-port', { low: 0, high: 65_535 }),
    json: options.json,
    input: process.stdin,
    output: process.stdout,
  };
  await runHardware(given, untilStopped());
}

function withDemo(command: Argv) {
  return command
    .option('state', {
      type: 'string',
      default: './.fleetward',
      describe: 'folder of database, logs and vehicles',
    })
    .option('fresh', { type: 'boolean', default: false, describe: 'begin with an empty folder' })
    .option('http-port', { type: 'number', default: 8080, describe: 'port of the HTTP service' })
    .option('mqtt-port', { type: 'number', default: 1883, describe: 'port of the MQTT broker' })
    .option('vehicles', { type: 'number', default: 6, describe: 'number of vehicles, 1 to 50' })
    .option('city', cityOption)
    .option('seed', seedOption)
    .example('npm start', 'as it is')
    .example('npm start -- --fresh --vehicles 20', 'a new start with a larger fleet')
    .epilogue(
      'FLEETWARD_DEMO_PASSWORD (12 to 256 characters) sets the password of demo/admin at the first start; otherwise one is\ngenerated and shown once. The state folder holds the logs broker.log and vehicles.log.',
    );
}

async function demo(options: Awaited<ReturnType<typeof withDemo>['argv']>): Promise<void> {
  const ports: DemoOptions['ports'] = {
    clock: createSystemClock(),
    entropy: createSystemEntropy(),
    openMqttLink,
    createVerifier,
    openDatabase: openSqlite,
    personsCrypto,
  };
  const given = {
    ports,
    folder: options.state,
    isFresh: options.fresh,
    httpPort: parseNumber(options['http-port'], 'http-port', { low: 1, high: 65_535 }),
    mqttPort: parseNumber(options['mqtt-port'], 'mqtt-port', { low: 1, high: 65_535 }),
    vehicles: parseNumber(options.vehicles, 'vehicles', { low: 1, high: 50 }),
    seed: options.seed,
    city: parseCity(options.city ?? standardCity),
    version: readVersion(),
    environment: readEnvironment(),
    output: process.stdout,
  };
  await runDemo(given, untilStopped());
}

function createCommands(args: readonly string[]): Argv {
  return yargs(args)
    .scriptName('fleetward-simulator')
    .usage('$0 <command>\n\nSimulated vehicles: the real agent on simulated hardware.')
    .command('demo', 'a broker with a few vehicles: what `npm start` runs', withDemo, demo)
    .command(
      'hardware',
      'a simulated I/O board and GNSS receiver on two serial ports, controlled by hand or by script',
      withHardware,
      hardware,
    )
    .command('run <scenario>', 'a fleet of real agents, with the check that no event was lost', withRun, run)
    .command('compare <a> <b>', 'compares two runs by their JSON reports', withCompare, compare)
    .command('worker', false, (more) => more, worker)
    .command('ctl', 'changes a running simulation: rate, faults', withCtl)
    .command(
      'record <file>',
      'records the traffic of an account into a file without personal data',
      withRecord,
      record,
    )
    .command(
      'replay <file>',
      'sends a recording again with light trackers, and checks every event',
      withReplay,
      replay,
    )
    .command('scenario', 'lists, shows and validates scenarios', withScenario)
    .demandCommand(1, 'Name a command; --help lists them.')
    .strict()
    .help()
    .version(readVersion())
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw usageError(message, error);
    });
}

await runProgram('fleetward-simulator', () => createCommands(process.argv.slice(2)).parseAsync());
