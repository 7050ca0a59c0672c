// The `demo` command, which is `npm start`: a broker, an account and a few vehicles in one go, kept under one folder.
// It must print nothing that does not work when pasted, keep secrets at mode 0600, and stop within 5 s.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentStatus } from '../../agent/agent.ts';
import { type AgentConfig, standardProtection, standardSettings, toAgentConfig } from '../../agent/config.ts';
import { type OutboxOptions, openOutbox } from '../../agent/outbox.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { PersonsCrypto } from '../../src/core/persons/webauthn.ts';
import type { Clock, Entropy, Log, OpenMqttLink, Verifier } from '../../src/ports.ts';
import { ageUser } from '../age-user.ts';
import {
  assertPortFree,
  type BrokerProcess,
  type BrokerProcessOptions,
  runBrokerCommand,
  startBrokerProcess,
} from '../broker-process.ts';
import { createSeededEntropy } from '../core/random.ts';
import { type BoardName, fittedOverrides, type WiringName } from '../hardware/board-maps.ts';
import { simulatedBus } from '../hardware/bus-hardware.ts';
import { createTown } from '../town/town.ts';
import { drawTownMap, townFile } from '../town/town-map.ts';
import { createVehicle, type Vehicle } from '../vehicle.ts';
import { createCityRoute } from '../world/city-route.ts';
import type { Streets } from '../world/streets.ts';
import { type ColleagueOptions, createColleague, shareOwner } from './colleague.ts';
import {
  accountID,
  type DeviceSecret,
  deviceIDs,
  forget,
  makeLoginCode,
  ownerFiles,
  type Paths,
  pathsIn,
  type Setup,
  setUp,
  userID,
  writeRecord,
} from './demo-setup.ts';
import { createFileLog } from './file-log.ts';
import { createNetworkSwitch } from './network-switch.ts';
import { openPracticeOwner, type PracticeOwner } from './practice-owner.ts';
import { createPracticeWorld, type PracticeMember } from './practice-world.ts';

interface DemoPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly openMqttLink: OpenMqttLink;
  createVerifier(publicKey: string): Verifier;
  readonly openDatabase: OutboxOptions['openDatabase'];
  readonly personsCrypto: PersonsCrypto;
}

export interface DemoOptions {
  readonly ports: DemoPorts;
  readonly folder: string;
  readonly isFresh: boolean;
  readonly httpPort: number;
  readonly mqttPort: number;
  readonly vehicles: number;
  readonly seed: string;
  readonly city: { readonly latitude: number; readonly longitude: number };
  readonly version: string;
  /** The process's environment; FLEETWARD_DEMO_PASSWORD sets the administrator's password. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The one vehicle whose cargo has to be unlocked for a delivery, so that its deliveries raise an alarm. */
const lockedVehicle = 'van-03';
const boardName: BoardName = 'waveshare-io-analog';
/** The one vehicle with wires that prove its contacts: it can be cut in a garage, without a position. */
const provenVehicle = 'van-05';
/** The one vehicle with an owner's key: two persons agree to its cut. */
const ownedVehicle = 'van-06';
const wiringOf = (id: string): WiringName => (id === provenVehicle ? 'positive' : 'plain');
/** The trucks among them, with a J1939 bus. */
const trucks: readonly string[] = ['van-02', 'van-04'];
const statusEveryMs = 5000;
const stopMostMs = 4800;

function configOf(
  options: DemoOptions,
  paths: Paths,
  { id, device, owner }: Pick<GivenVehicle, 'id' | 'device' | 'owner'>,
): Promise<AgentConfig> {
  const file = {
    device: { account: accountID, id },
    broker: {
      url: `mqtt://127.0.0.1:${options.mqttPort}`,
      secretFile: paths.record,
      publicKey: device.publicKey,
      keepaliveS: 60,
      connectSpreadS: 1,
    },
    storage: { path: join(paths.outboxes, `${id}.db`), maxMb: 16, windowS: 5 },
    board: {
      profile: boardName,
      port: 'simulated board',
      overrides: fittedOverrides(boardName, wiringOf(id)),
    },
    gnss: { port: 'simulated gnss', baud: 9600, silenceS: 5 },
    network: {},
    protection: standardProtection,
    ...standardSettings,
    alarms: { ...standardSettings.alarms, breachLocked: id === lockedVehicle },
    reporting: { ...standardSettings.reporting, movingS: 5, stoppedS: 60, distanceM: 100, heartbeatS: 300 },
    local: { socket: '' },
    log: { level: 'info' as const },
    ...(owner === null ? {} : { owner: { key: owner.pin } }),
  };
  return toAgentConfig(file, { secret: device.secret, agentVersion: options.version, hardwareID: '' });
}

interface GivenVehicle {
  readonly id: string;
  readonly device: DeviceSecret;
  readonly streets: Streets;
  readonly log: Log;
  /** Null: it has no owner's key. */
  readonly owner: PracticeOwner | null;
}

async function startVehicle(
  options: DemoOptions,
  paths: Paths,
  given: GivenVehicle,
): Promise<PracticeMember> {
  const { id, device, streets, owner } = given;
  const { clock, entropy: agentEntropy, openMqttLink, openDatabase } = options.ports;
  const network = createNetworkSwitch(clock, openMqttLink);
  const entropy = createSeededEntropy(`${options.seed}/${id}`);
  const log = given.log.with({ device: id });
  const route = createCityRoute({
    centre: options.city,
    entropy: entropy.stream('route'),
    streets,
    restS: 240,
  });
  const path = join(paths.outboxes, `${id}.db`);
  const vehicle = await createVehicle({
    config: {
      ...(await configOf(options, paths, given)),
      ...(trucks.includes(id) ? { bus: simulatedBus } : {}),
    },
    boardName,
    wiring: wiringOf(id),
    route,
    // By the time of day: a vehicle is where it would be had the demo never been stopped.
    startS: (clock.utcMs() / 1000 + entropy.stream('start').fraction() * route.roundS) % route.roundS,
    clock,
    entropy,
    agentEntropy,
    log,
    verifier: options.ports.createVerifier(device.publicKey),
    openMqttLink: network.open,
    ...(owner === null
      ? {}
      : { owner: { crypto: options.ports.personsCrypto, documentText: owner.documentText } }),
    openOutbox: (ownClock, boot, bootMonoMs) =>
      openOutbox({
        path,
        maxBytes: 16 * 1024 * 1024,
        openDatabase,
        boot,
        bootMonoMs,
        clock: ownClock,
        entropy: agentEntropy,
        log,
      }),
  });
  return { deviceID: id, vehicle, network, hasOwner: owner !== null };
}

interface Entry {
  /** Null on a later start. */
  readonly password: string | null;
  /** One-time code of the console's login; null: none could be made. */
  readonly code: string | null;
}

const baseOf = ({ httpPort }: DemoOptions): string => `http://127.0.0.1:${httpPort}`;

function formatWelcome(options: DemoOptions, paths: Paths, { password, code }: Entry): string {
  const base = baseOf(options);
  const body = `{"accountID":"${accountID}","userID":"${userID}","password":"'"$PASSWORD"'"}`;
  const login = `curl -s ${base}/api/v1/auth/login -H 'content-type: application/json' -d '${body}'`;
  return [
    '',
    // Behind `#` the code reaches neither the service's log nor a proxy's.
    code === null
      ? `  Console        ${base}/console/`
      : `  Console        ${base}/console/login?next=/practice#code=${code}   (signs in once, within 15 min)`,
    `  HTTP service   ${base}/api/v1   (docs: ${base}/docs)`,
    `  MQTT           127.0.0.1:${options.mqttPort}`,
    `  Account        ${accountID}, user ${userID}`,
    password === null
      ? '  Password       printed at the first start; npm start -- --fresh starts over with a new one'
      : `  Password       ${password}   (shown once)`,
    `  State          ${paths.folder}`,
    '',
    password === null
      ? 'Log in (put in the password first) and list the vehicles:'
      : 'Log in and list the vehicles:',
    '',
    `  PASSWORD='${(password ?? 'the one printed at the first start').replaceAll("'", `'\\''`)}'`,
    `  TOKEN=$(${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    `  curl -s ${base}/api/v1/device/getalldevices/authorization -H "authorization: $TOKEN"`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

async function formatStatus(vehicles: readonly Vehicle[]): Promise<string> {
  const statuses = await Promise.all(vehicles.map((vehicle) => vehicle.agent.status()));
  const online = statuses.filter((status) => status.connection === 'up').length;
  const sum = (of: (status: AgentStatus) => number): number =>
    statuses.reduce((total, status) => total + of(status), 0);
  const driving = vehicles.filter((vehicle) => vehicle.now().speedKmh > 1).length;
  const cuts = vehicles.reduce((total, vehicle) => total + vehicle.truth().cutWhileMoving, 0);
  return [
    `${online} of ${vehicles.length} online`,
    `${driving} driving`,
    `${sum((status) => status.acknowledged)} events acknowledged`,
    `${sum(({ backlog }) => backlog)} waiting`,
    ...(cuts > 0 ? [`${cuts} CUT WHILE MOVING`] : []),
  ].join(', ');
}

/** Shows one line that is redrawn on a terminal, or one line a time elsewhere; settles as `until` does. */
async function showStatus(output: DemoOptions['output'], vehicles: readonly Vehicle[], until: Promise<void>) {
  const isTerminal = output.isTTY === true;
  const over = until.then(() => true);
  for (let isOver = false; !isOver; ) {
    const text = await formatStatus(vehicles);
    // A wrapped line could not be redrawn.
    output.write(isTerminal ? `\r\u001b[K${text.slice(0, (output.columns ?? 80) - 1)}` : `${text}\n`);
    const pause = new AbortController();
    const next = sleep(isTerminal ? statusEveryMs / 5 : statusEveryMs, false, { signal: pause.signal });
    isOver = await Promise.race([over, next.catch(() => true)]).finally(() => pause.abort());
  }
  if (isTerminal) output.write('\n');
}

/**
 * Runs until `stop` resolves. Rejects with AppError: bad ports or password, port taken, broker not starting or dying, damaged state.
 */
export async function runDemo(options: DemoOptions, stop: Promise<void>): Promise<void> {
  const paths = pathsIn(options.folder);
  const { output } = options;
  if (options.httpPort === options.mqttPort) {
    throw new AppError('usage', '--http-port and --mqtt-port must differ');
  }
  await assertPortFree(options.httpPort, 'http-port');
  await assertPortFree(options.mqttPort, 'mqtt-port');
  if (options.isFresh) await forget(paths);
  for (const folder of [paths.outboxes, paths.maps]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const ground = createSeededEntropy(`${options.seed}/town`);
  const town = createTown(options.city, ground.stream('streets'));
  const practice: Practice = { answer: () => Promise.reject(notYet()) };
  const brokerOptions: BrokerProcessOptions = {
    database: paths.database,
    httpPort: options.httpPort,
    mqttPort: options.mqttPort,
    logFile: paths.brokerLog,
    environment: options.environment,
    // Nothing lies there: the units of the demo have no key of releases, and refuse each.
    flags: ['--practice-account', accountID, '--maps', paths.maps, '--firmware-hosts', 'updates.example.com'],
    onRequest: (request) => practice.answer(request),
  };
  output.write('Fleetward demo: starting the broker\n');
  const begin = async (): Promise<Begun> => {
    const setup = await setUp({ ...options, entropy: options.ports.entropy }, paths, brokerOptions);
    const [broker, owner] = await Promise.all([
      startBrokerProcess(brokerOptions),
      openOwner(options, paths, brokerOptions),
      // Drawn while the broker starts, which takes as long.
      writeFile(join(paths.maps, townFile), drawTownMap(town, ground.stream('ground'))),
    ]);
    return { ...setup, brokerOptions, practice, broker, owner };
  };
  // Ctrl-C during the set-up ends at once: the next start continues from the saved steps.
  const begun = await Promise.race([begin(), stop.then(() => null)]);
  if (begun !== null) await runVehicles(options, paths, { ...begun, streets: town, stop });
}

/** The owner whose key the one vehicle has; null: that vehicle is not in the demo. */
async function openOwner(
  { vehicles, httpPort, ports }: DemoOptions,
  paths: Paths,
  broker: BrokerProcessOptions,
): Promise<PracticeOwner | null> {
  if (!deviceIDs(vehicles).includes(ownedVehicle)) return null;
  const run = (args: readonly string[]): Promise<string> =>
    runBrokerCommand({ ...broker, database: '' }, ['owner', ...args]);
  return openPracticeOwner({
    folder: paths.owner,
    files: ownerFiles(paths),
    crypto: ports.personsCrypto,
    accountID,
    deviceID: ownedVehicle,
    httpPort,
    run,
  });
}

/** Answers what users do in the world, once there are vehicles. */
interface Practice {
  answer(request: unknown): Promise<unknown>;
}

const notYet = (): AppError =>
  new AppError('unavailable', 'The vehicles of the practice fleet are still starting', { retryAfterS: 1 });

async function openPractice(
  options: DemoOptions,
  paths: Paths,
  { members, ...begun }: Begun & { readonly members: readonly PracticeMember[] },
): Promise<void> {
  const { record, password, brokerOptions, owner } = begun;
  const { clock, entropy, openDatabase } = options.ports;
  const colleague: ColleagueOptions = {
    base: baseOf(options),
    accountID,
    adminID: userID,
    adminPassword: password,
    entropy,
    makeLoginCode: () => makeLoginCode(brokerOptions),
    ageUser: (user) => ageUser({ openDatabase, path: paths.database, accountID, userID: user }),
    password: record.colleague ?? null,
    keepPassword: (kept) => writeRecord(paths.record, { ...record, colleague: kept }),
    owner,
  };
  begun.practice.answer = createPracticeWorld({ clock, members, ...createColleague(colleague) });
  await shareOwner(colleague).catch((thrown: unknown) =>
    options.output.write(`The service has no new list of the practice owner: ${messageOf(thrown)}\n`),
  );
}

interface Begun extends Setup {
  readonly practice: Practice;
  readonly brokerOptions: BrokerProcessOptions;
  readonly broker: BrokerProcess;
  readonly owner: PracticeOwner | null;
}

async function runVehicles(
  options: DemoOptions,
  paths: Paths,
  begun: Begun & { readonly streets: Streets; readonly stop: Promise<void> },
) {
  const { output } = options;
  const { broker, record, password, streets, stop } = begun;
  const members: PracticeMember[] = [];
  const vehicles: Vehicle[] = [];
  try {
    const log = createFileLog(paths.vehicleLog);
    for (const id of deviceIDs(options.vehicles)) {
      const device = record.devices[id];
      if (device === undefined) continue;
      const owner = id === ownedVehicle ? begun.owner : null;
      const member = await startVehicle(options, paths, { id, device, streets, log, owner });
      members.push(member);
      vehicles.push(member.vehicle);
    }
    await openPractice(options, paths, { ...begun, members });
    // Last: a newer code of the same user ends it, and on a later start the practice signs in by one too.
    const code = await makeLoginCode(begun.brokerOptions);
    output.write(formatWelcome(options, paths, { password, code }));
    const died = broker.died.then((reason): void => {
      throw new AppError('unavailable', reason);
    });
    await showStatus(output, vehicles, Promise.race([stop, died]));
  } finally {
    await stopAll(vehicles, broker, output);
  }
}

/** Vehicles first, so that the broker still takes their last reports; within 5 s in all. */
async function stopAll(
  vehicles: readonly Vehicle[],
  broker: BrokerProcess,
  output: DemoOptions['output'],
): Promise<void> {
  output.write('Stopping\n');
  const timer = setTimeout(() => broker.kill(), stopMostMs);
  await Promise.allSettled(vehicles.map((vehicle) => vehicle.close()));
  await broker.close();
  clearTimeout(timer);
}
