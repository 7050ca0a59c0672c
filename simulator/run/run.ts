// One run of a scenario, from creating its devices to its judgement. It ends every process and connection that it began, and passes no
// run whose events it has not read back.
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../src/core/errors.ts';
import type { Cancel } from '../../src/ports.ts';
import { judge } from '../core/judgement/judgement.ts';
import { createLedger } from '../core/ledger/ledger.ts';
import { linkShares } from '../core/live/control-requests.ts';
import type { StopSignal } from '../core/result/stop-signal.ts';
import { countOf } from '../core/text/number-text.ts';
import { removeStaleSocket } from './control-socket.ts';
import { execute, stoppedDrainS } from './execute.ts';
import { readFinally } from './final-reads.ts';
import type { FleetDevice } from './fleet/fleet.ts';
import { watchBroker } from './measure/broker-watch.ts';
import { createIntervalMetrics } from './measure/interval-metrics.ts';
import { createLatencies } from './measure/latency.ts';
import { createRecorder } from './measure/recorder.ts';
import { isWorthKeeping, type RunResult, resultOf } from './measure/result.ts';
import { settingOf } from './measure/setting.ts';
import { startOwnBroker } from './own-broker.ts';
import { preflight } from './preflight.ts';
import { type RunContext, type RunOptions } from './run-context.ts';
import type { BrokerAccess, OwnBroker, Target } from './service/broker-access.ts';
import { deviceIDs, leftText, type Provisioned, provision, removeDevices } from './service/provision.ts';
import { findNewestEvent } from './service/read-back.ts';
import { type Login, openService, type Service } from './service/service.ts';
import { type RunTime } from './shared/run-ports.ts';
import { createSecretText } from './shared/secret-text.ts';
import type { WorkerSetup } from './workers/worker.ts';
import { openWorkers } from './workers/workers.ts';

const idBits = 36;

/** A run with a control socket sends all its vehicles through proxies; the proxies cannot inject faults into a TLS link. */
const linkSharesOf = ({ controlPath }: RunOptions, target: Target): readonly number[] =>
  controlPath === null || !target.mqtt.startsWith('mqtt:') ? [] : linkShares;

const secondPerson = 'second-person';

/** A second user that approves cuts; both users are older than the waiting time of new approvers. */
async function createSecondPerson({ ports }: RunOptions, own: OwnBroker, service: Service): Promise<Login> {
  const { accountID } = own.target.login;
  const password = createSecretText(ports.entropy);
  const body = { userID: secondPerson, roleID: 'operator', groups: ['all'], password };
  await service.call({ method: 'POST', path: '/user/createuser/authorization', body });
  for (const user of [secondPerson, own.target.login.userID]) await own.ageUser(user);
  return { accountID, userID: secondPerson, password };
}

async function openBrokerAccess(options: RunOptions): Promise<BrokerAccess> {
  const { ports, folder, environment } = options;
  const own =
    options.target === null
      ? await startOwnBroker({
          folder,
          entropy: ports.entropy,
          openDatabase: ports.openDatabase,
          environment,
        })
      : null;
  const target = options.target ?? own?.target;
  const opened: Service[] = [];
  if (target === undefined) throw new AppError('internal', 'The run has no broker');
  try {
    const logIn = async (login: Login): Promise<Service> => {
      const service = await openService(target.http, login, target.ca ?? null);
      opened.push(service);
      return service;
    };
    const service = await logIn(target.login);
    const { approver = null } = target;
    if (own !== null) {
      const body = { accountID: target.login.accountID, cutsPerHour: 1000 };
      await service.call({ method: 'POST', path: '/auth/updateaccount/authorization', body });
    }
    const approving =
      approver !== null
        ? await logIn(approver)
        : own !== null && options.scenario.exercises.includes('approvals')
          ? await logIn(await createSecondPerson(options, own, service))
          : null;
    const linkShares = linkSharesOf(options, target);
    return { own, target, service, approver: approving, created: [], linkShares };
  } catch (thrown) {
    for (const one of opened) await one.close();
    await own?.close();
    throw thrown;
  }
}

/** The broker's public key; the run's own broker returns it together with a new secret of the first device. */
async function findKey(access: BrokerAccess, devices: readonly Provisioned[]) {
  const [first, ...others] = devices;
  if (access.target.publicKey !== null) return { publicKey: access.target.publicKey, devices };
  if (access.own === null || first === undefined) {
    throw new AppError('usage', 'The public key of the broker is not known', {
      hint: 'Give it with --public-key: `fleetward-broker device secret` shows it.',
    });
  }
  const { secret, publicKey } = await access.own.keyWithSecret(first.deviceID);
  return { publicKey, devices: [{ ...first, secret }, ...others] };
}

/** Request to end the run early, with its signal. */
interface Stop {
  isAsked: boolean;
  signal: StopSignal | null;
}

async function prepare(options: RunOptions, access: BrokerAccess, stop: Stop) {
  const { scenario, ports, output } = options;
  const runID = Math.floor(ports.clock.utcMs()).toString(idBits);
  const ids = deviceIDs(runID, scenario.fleet.devices);
  output.write(`Creating ${countOf(ids.length, 'device')} (${ids[0]} ...) at ${access.target.http}\n`);
  const since = await findNewestEvent(access.service);
  access.created.push(...ids);
  options.onDevices?.(ids);
  const secrets = await provision(access.service, ids, (count) => {
    if (stop.isAsked)
      throw new AppError('unavailable', `${stop.signal} ended the run before its vehicles started`);
    if (count % 500 === 0) output.write(`  ${count} of ${ids.length} have their secret\n`);
  });
  const [first] = secrets;
  if (first !== undefined) await preflight(ports, access.target, first);
  const { publicKey, devices } = await findKey(access, secrets);
  return { since, publicKey, devices: devices.map((device, index): FleetDevice => ({ ...device, index })) };
}

const disksOf = ({ folder }: RunOptions): string => join(folder, 'vehicles');

/** The scripts of a worker's vehicles, by number. */
function scriptsFor({ scripts, processes }: RunOptions, no: number): WorkerSetup['scripts'] {
  if (scripts === null) return null;
  const mine = [...scripts.entries()].filter(([index]) => index % processes === no);
  return new Map(mine);
}

/** Vehicles are dealt to the workers in turn, so that faults and phases load all workers alike. */
function setupsOf(
  options: RunOptions,
  access: BrokerAccess,
  of: { publicKey: string; devices: readonly FleetDevice[] },
): readonly WorkerSetup[] {
  const { scenario, processes, version } = options;
  const { target } = access;
  const needsDisks =
    options.controlPath !== null ||
    scenario.faults.some(({ kind }) => kind === 'agent-kill' || kind === 'disk-full');
  return Array.from({ length: processes }, (_, no) => ({
    no,
    scenario,
    devices: of.devices.filter(({ index }) => index % processes === no),
    accountID: target.login.accountID,
    publicKey: of.publicKey,
    mqttUrl: target.mqtt,
    ca: target.ca ?? null,
    linkShares: access.linkShares,
    folder: needsDisks ? disksOf(options) : null,
    scripts: scriptsFor(options, no),
    version,
  }));
}

const mebibyte = 1024 * 1024;

async function openFleet(
  options: RunOptions,
  access: BrokerAccess,
  prepared: Awaited<ReturnType<typeof prepare>>,
) {
  const { ports, environment, program } = options;
  let begun: RunTime | null = null;
  const time: RunTime = { nowMs: () => begun?.nowMs() ?? 0 };
  const recorder = createRecorder({ clock: ports.clock, time });
  const latencies = recorder.wrap(createLatencies());
  const intervalMetrics = createIntervalMetrics();
  let print = (text: string): void => void options.output.write(`${text}\n`);
  const workers = await openWorkers({
    setups: setupsOf(options, access, prepared),
    program,
    environment,
    ports,
    ledger: createLedger(),
    handlers: {
      onLatency(name, ms) {
        latencies.record(name, ms);
        intervalMetrics.record(name, ms);
      },
      say: (text) => print(text),
    },
    onLag(ms) {
      latencies.recordLag(ms);
      recorder.book.gauge('lagMs', time.nowMs(), ms);
      intervalMetrics.record('lag', ms);
    },
  }).catch((thrown: unknown) => {
    latencies.close();
    throw thrown;
  });
  const setPrinter = (printer: (text: string) => void): void => {
    print = printer;
  };
  const begin = async (): Promise<RunTime> => (begun = await workers.begin());
  return { latencies, recorder, intervalMetrics, workers, setPrinter, begin };
}

type OpenFleet = Awaited<ReturnType<typeof openFleet>>;

/** CPU time and memory of the generator since now: this process and the worker processes. */
function measureGenerator({ workers }: OpenFleet) {
  const startRssMb = process.memoryUsage.rss() / mebibyte;
  const usage = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(usage);
    const others = workers.machine();
    const rssMb = process.memoryUsage.rss() / mebibyte;
    // This process frees memory of the device set-up meanwhile: with worker processes, only their growth is that of the vehicles.
    const isApart = others.processes > 1;
    return {
      grownMb: isApart ? others.rssMb - others.startRssMb : rssMb - startRssMb,
      processes: others.processes,
      cpuMs: (user + system) / 1000 + others.cpuMs,
      eachCpuMs: [(user + system) / 1000, ...others.eachCpuMs],
      rssMb: rssMb + others.rssMb,
      startRssMb: startRssMb + others.startRssMb,
    };
  };
}

/** Deletes the devices of the run. @returns how many could not be deleted. */
async function removeCreated(
  { output, onDevices }: RunOptions,
  { service, created, target }: BrokerAccess,
): Promise<number> {
  if (created.length === 0) return 0;
  const kept = await removeDevices(service, created);
  output.write(kept.length === 0 ? 'The devices are removed\n' : leftText(target.http, kept));
  onDevices?.(kept);
  return kept.length;
}

async function runWith(options: RunOptions, access: BrokerAccess, stop: Stop): Promise<RunResult> {
  const { scenario, ports, output, scripts } = options;
  const prepared = await prepare(options, access, stop);
  const { devices } = prepared;
  const open = await openFleet(options, access, prepared);
  const { workers, latencies, recorder } = open;
  const machine = measureGenerator(open);
  let endWatch: Cancel = () => undefined;
  const startedAt = new Date(ports.clock.utcMs()).toISOString();
  output.write(`Running ${options.name} for ${scenario.durationS} s: ${scenario.title}\n`);
  const measured = async (): Promise<RunResult> => {
    const time = await open.begin();
    const metrics =
      options.metrics ?? (access.own === null ? null : { url: access.own.metricsUrl, token: null, ca: null });
    const watch = watchBroker({ address: metrics, clock: ports.clock, time, book: recorder.book });
    endWatch = () => watch.close();
    const { ledger } = workers;
    const context: RunContext = { ...access, ...open, options, time, ledger, devices, machine };
    const execution = await execute(context, stop);
    watch.close();
    output.write('Reading back the records of the service\n');
    const { streamSights, exercises } = execution;
    const { since } = prepared;
    const isStopped = stop.isAsked;
    let unreadReason: string | null = null;
    const onUnread = (reason: string): void => {
      unreadReason = reason;
    };
    const asked = { options, access, ledger, devices, since, streamSights, exercises, isStopped, onUnread };
    const { views, exercised } = await readFinally(asked);
    const { panicMs, fleet, reporting } = scenario;
    const judgement = judge(ledger, {
      endMs: execution.offRoadMs,
      panicMs,
      inputsMs: fleet.inputsMs,
      movingS: reporting.movingS,
      views,
    });
    options.onWorld?.({ ledger, devices, faults: recorder.faults() });
    return resultOf({
      ...execution,
      exercised,
      name: options.name,
      scenario,
      startedAt,
      ledger,
      judgement,
      latencies,
      elapsedS: execution.endMs / 1000,
      readVehicles: views?.vehicles.length ?? 0,
      recorded: scripts === null ? null : [...scripts].reduce((sum, script) => sum + script.length, 0),
      interruptedBy: stop.signal,
      hasViews: views !== null,
      unreadReason,
      thresholds: scenario.thresholds,
      series: recorder.data(),
      faults: recorder.faults(),
      brokerSight: watch.sight(),
      setting: settingOf({
        command: options.command ?? '',
        target: options.target?.http ?? null,
        version: options.version,
      }),
    });
  };
  try {
    return await Promise.race([measured(), workers.failed]);
  } catch (thrown) {
    // After the failure of a worker process, the execution that still goes on must end too.
    stop.isAsked = true;
    throw thrown;
  } finally {
    endWatch();
    recorder.close();
    latencies.close();
    workers.kill();
    await rm(disksOf(options), { recursive: true, force: true });
    // Of a run with a broker of its own the folder holds that broker's files. ENOENT: nothing was written.
    if (options.target !== null) await rmdir(options.folder).catch(() => undefined);
  }
}

/** Deletes the devices and closes the access. @returns how many devices could not be deleted. */
async function closeBrokerAccess(options: RunOptions, access: BrokerAccess): Promise<number> {
  try {
    return options.isClean ? await removeCreated(options, access) : 0;
  } finally {
    await access.approver?.close();
    await access.service.close();
    await access.own?.close();
  }
}

/** Place of the cause of a failed run, as a line for people. */
export const keptText = (folder: string): string => `The broker's log and database are kept in ${folder}\n`;

/**
 * Runs a scenario. A run that a signal ends early reports what it found until then and has not passed. `isClean` deletes its devices
 * also when it failed.
 * @throws AppError when it cannot run: no broker, wrong login, a scenario that does not fit.
 */
export async function runScenario(options: RunOptions, stop: Promise<StopSignal>): Promise<RunResult> {
  const asked: Stop = { isAsked: false, signal: null };
  const listen = async (): Promise<void> => {
    const signal = await stop;
    Object.assign(asked, { isAsked: true, signal });
    options.output.write(
      `Interrupted by ${signal}: waiting up to ${stoppedDrainS} s for deliveries; a second signal ends at once\n`,
    );
  };
  void listen();
  if (options.target !== null && options.scenario.faults.some(({ kind }) => kind === 'broker-kill')) {
    throw new AppError(
      'usage',
      'The fault broker-kill needs a broker that the run starts itself: leave out --target, or remove the fault',
    );
  }
  if (options.controlPath !== null) await removeStaleSocket(options.controlPath);
  const access = await openBrokerAccess(options);
  const died = access.own?.died.then((reason): never => {
    throw new AppError('unavailable', reason);
  });
  let result: RunResult;
  try {
    const run = runWith(options, access, asked);
    result = await (died === undefined ? run : Promise.race([run, died]));
  } catch (thrown) {
    // The cause of the failure is reported; devices that could not be removed were already printed.
    await closeBrokerAccess(options, access).catch(() => undefined);
    if (access.own !== null) options.output.write(keptText(options.folder));
    throw thrown;
  }
  const left = await closeBrokerAccess(options, access);
  if (access.own !== null && !isWorthKeeping(result))
    await rm(options.folder, { recursive: true, force: true });
  if (left === 0) return result;
  const warning = `${countOf(left, 'device')} of the run could not be removed`;
  return { ...result, warnings: [...result.warnings, warning] };
}
