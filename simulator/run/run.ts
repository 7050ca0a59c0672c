// One run of a scenario from its first device to its judgement. It ends every process and connection that it began, and calls no run
// good whose truth it has not read back.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../src/core/errors.ts';
import type { Cancel } from '../../src/ports.ts';
import { linkShares } from '../core/control.ts';
import { countOf } from '../core/count-words.ts';
import { judge } from '../core/judgement.ts';
import { createLedger } from '../core/ledger.ts';
import { watchBroker } from './broker-watch.ts';
import { collect, findBeginning } from './collect.ts';
import { makeWay } from './control-socket.ts';
import { drive, type RunOptions, type Scene, type Site } from './drive.ts';
import type { FleetDevice } from './fleet.ts';
import type { RunTime } from './fleet-vehicle.ts';
import { createLatencies } from './latency.ts';
import { startOwnBroker } from './own-broker.ts';
import type { PartSetup } from './part.ts';
import { openParts } from './parts.ts';
import { preflight } from './preflight.ts';
import { deviceIDs, type Provisioned, provision, removeDevices } from './provision.ts';
import { createRecorder } from './recorder.ts';
import { type RunResult, resultOf } from './result.ts';
import { openService } from './service.ts';
import { settingOf } from './setting.ts';
import { createTap } from './tap.ts';

const idBits = 36;

async function openSite(options: RunOptions): Promise<Site> {
  const { ports, folder, environment } = options;
  const own =
    options.target === null ? await startOwnBroker({ folder, entropy: ports.entropy, environment }) : null;
  const target = options.target ?? own?.target;
  if (target === undefined) throw new AppError('internal', 'there is no broker');
  try {
    const service = await openService(target.http, target.login, target.ca ?? null);
    if (own !== null) {
      const body = { accountID: target.login.accountID, cutsPerHour: 1000 };
      await service.call({ method: 'POST', path: '/auth/updateaccount/authorization', body });
    }
    return { own, target, service };
  } catch (thrown) {
    await own?.close();
    throw thrown;
  }
}

/** The broker's key; the own broker tells it together with a new secret of the first device. */
async function findKey(site: Site, devices: readonly Provisioned[]) {
  const [first, ...others] = devices;
  if (site.target.publicKey !== null) return { publicKey: site.target.publicKey, devices };
  if (site.own === null || first === undefined) {
    throw new AppError('usage', 'The public key of the broker is not known', {
      hint: 'Give it with --public-key: `fleetward-broker device secret` shows it.',
    });
  }
  const { secret, publicKey } = await site.own.keyWithSecret(first.deviceID);
  return { publicKey, devices: [{ ...first, secret }, ...others] };
}

async function prepare(options: RunOptions, site: Site) {
  const { scenario, ports, output } = options;
  const runID = Math.floor(ports.clock.utcMs()).toString(idBits);
  const ids = deviceIDs(runID, scenario.fleet.devices);
  output.write(`Creating ${countOf(ids.length, 'device')} (${ids[0]} ...) at ${site.target.http}\n`);
  const since = await findBeginning(site.service);
  const secrets = await provision(site.service, ids, (count) => {
    if (count % 500 === 0) output.write(`  ${count} of ${ids.length} have their secret\n`);
  });
  const [first] = secrets;
  if (first !== undefined) await preflight(ports, site.target, first);
  const { publicKey, devices } = await findKey(site, secrets);
  return { since, publicKey, devices: devices.map((device, index): FleetDevice => ({ ...device, index })) };
}

const disksOf = ({ folder }: RunOptions): string => join(folder, 'vehicles');

/** A run that may be changed by hand sends all its vehicles through proxies; an encrypted link cannot be struck. */
const sharesOf = ({ controlPath }: RunOptions, { target }: Site): readonly number[] =>
  controlPath === null || !target.mqtt.startsWith('mqtt:') ? [] : linkShares;

/** The scripts of the vehicles of a process, by number. */
function scriptsFor({ scripts, processes }: RunOptions, no: number): PartSetup['scripts'] {
  if (scripts === null) return null;
  const mine = [...scripts.entries()].filter(([index]) => index % processes === no);
  return new Map(mine);
}

/** Every process takes each so-many-th vehicle, so that faults and phases strike all processes alike. */
function setupsOf(
  options: RunOptions,
  site: Site,
  of: { publicKey: string; devices: readonly FleetDevice[] },
): readonly PartSetup[] {
  const { scenario, processes, version } = options;
  const { target } = site;
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
    linkShares: sharesOf(options, site),
    folder: needsDisks ? disksOf(options) : null,
    scripts: scriptsFor(options, no),
    version,
  }));
}

const mebibyte = 1024 * 1024;

async function openFleet(options: RunOptions, site: Site, prepared: Awaited<ReturnType<typeof prepare>>) {
  const { ports, environment, program } = options;
  let begun: RunTime | null = null;
  const time: RunTime = { nowMs: () => begun?.nowMs() ?? 0 };
  const recorder = createRecorder({ clock: ports.clock, time });
  const latencies = recorder.tee(createLatencies());
  const tap = createTap();
  let say = (text: string): void => void options.output.write(`${text}\n`);
  const parts = await openParts({
    setups: setupsOf(options, site, prepared),
    program,
    environment,
    ports,
    ledger: createLedger(),
    handlers: {
      onLatency(name, ms) {
        latencies.record(name, ms);
        tap.record(name, ms);
      },
      say: (text) => say(text),
    },
    onLag(ms) {
      latencies.recordLag(ms);
      recorder.book.gauge('lagMs', time.nowMs(), ms);
      tap.record('lag', ms);
    },
  }).catch((thrown: unknown) => {
    latencies.close();
    throw thrown;
  });
  const onSay = (tell: (text: string) => void): void => {
    say = tell;
  };
  const begin = async (): Promise<RunTime> => (begun = await parts.begin());
  return { latencies, recorder, tap, parts, onSay, begin };
}

type OpenFleet = Awaited<ReturnType<typeof openFleet>>;

/** What the generator itself took: this process and those of the parts. */
function watchMachine({ parts }: OpenFleet) {
  const startRssMb = process.memoryUsage.rss() / mebibyte;
  const usage = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(usage);
    const others = parts.machine();
    const rssMb = process.memoryUsage.rss() / mebibyte;
    // Whoever leads has made thousands of devices before, and lets go of that meanwhile: the vehicles are in the others.
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

async function clean({ output }: RunOptions, { service }: Site, devices: readonly FleetDevice[]) {
  const ids = devices.map(({ deviceID }) => deviceID);
  const kept = await removeDevices(service, ids);
  output.write(
    kept.length === 0
      ? 'The devices are removed\n'
      : `${countOf(kept.length, 'device')} could not be removed\n`,
  );
}

async function runAt(options: RunOptions, site: Site, stop: { isAsked: boolean }): Promise<RunResult> {
  const { scenario, ports, output } = options;
  const prepared = await prepare(options, site);
  const { devices } = prepared;
  const open = await openFleet(options, site, prepared);
  const { parts, latencies, recorder } = open;
  const machine = watchMachine(open);
  let endWatch: Cancel = () => undefined;
  const startedAt = new Date(ports.clock.utcMs()).toISOString();
  output.write(`Running ${options.name} for ${scenario.durationS} s: ${scenario.title}\n`);
  const lead = async (): Promise<RunResult> => {
    const time = await open.begin();
    const metrics =
      options.metrics ?? (site.own === null ? null : { url: site.own.metricsUrl, token: null, ca: null });
    const watch = watchBroker({ address: metrics, clock: ports.clock, time, book: recorder.book });
    endWatch = () => watch.close();
    const { ledger } = parts;
    const shares = sharesOf(options, site);
    const scene: Scene = { ...site, ...open, options, time, ledger, devices, machine, linkShares: shares };
    const driven = await drive(scene, stop);
    watch.close();
    output.write('Reading back what the service holds\n');
    await collect(site.service, ledger, prepared.since);
    const { panicMs, fleet } = scenario;
    const judgement = judge(ledger, { endMs: driven.offRoadMs, panicMs, inputsMs: fleet.inputsMs });
    if (options.isClean) await clean(options, site, devices);
    return resultOf({
      ...driven,
      name: options.name,
      scenario,
      startedAt,
      ledger,
      judgement,
      latencies,
      elapsedS: driven.endMs / 1000,
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
    return await Promise.race([lead(), parts.failed]);
  } catch (thrown) {
    // Where a process of the fleet has failed, what still drives comes to its end too.
    stop.isAsked = true;
    throw thrown;
  } finally {
    endWatch();
    recorder.close();
    latencies.close();
    parts.kill();
    await rm(disksOf(options), { recursive: true, force: true });
  }
}

/**
 * Runs a scenario. Ended early by `stop` it is judged on what there was until then.
 * @throws AppError when it cannot be run: broker not there, login wrong, scenario that does not fit.
 */
export async function runScenario(options: RunOptions, stop: Promise<void>): Promise<RunResult> {
  const asked = { isAsked: false };
  const ask = (): boolean => (asked.isAsked = true);
  void stop.then(ask);
  if (options.target !== null && options.scenario.faults.some(({ kind }) => kind === 'broker-kill')) {
    throw new AppError(
      'usage',
      'A broker that the run did not start is never killed: broker-kill needs its own',
    );
  }
  // Said before anything is started for nothing.
  if (options.controlPath !== null) await makeWay(options.controlPath);
  const site = await openSite(options);
  const died = site.own?.died.then((reason): never => {
    throw new AppError('unavailable', reason);
  });
  try {
    const run = runAt(options, site, asked);
    const result = await (died === undefined ? run : Promise.race([run, died]));
    if (site.own !== null && result.isPassed) await rm(options.folder, { recursive: true, force: true });
    return result;
  } finally {
    await site.service.close();
    await site.own?.close();
  }
}
