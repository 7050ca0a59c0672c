// One run of a scenario from its first device to its judgement. It ends every process and connection that it began, and calls no run
// good whose truth it has not read back.
import { rm } from 'node:fs/promises';
import { AppError } from '../../src/core/errors.ts';
import { judge } from '../core/judgement.ts';
import { createLedger } from '../core/ledger.ts';
import { createSeededEntropy } from '../random.ts';
import { collect, findBeginning } from './collect.ts';
import { drive, type RunOptions, type Scene, type Site } from './drive.ts';
import type { RunTime } from './fleet-vehicle.ts';
import { createLatencies, watchStalls } from './latency.ts';
import { createNetwork } from './network.ts';
import { startOwnBroker } from './own-broker.ts';
import { deviceIDs, type Provisioned, provision, removeDevices } from './provision.ts';
import { type RunResult, resultOf } from './result.ts';
import { openService } from './service.ts';

const idBits = 36;

async function openSite(options: RunOptions): Promise<Site> {
  const { ports, folder, environment } = options;
  const own =
    options.target === null ? await startOwnBroker({ folder, entropy: ports.entropy, environment }) : null;
  const target = options.target ?? own?.target;
  if (target === undefined) throw new AppError('internal', 'there is no broker');
  try {
    const service = await openService(target.http, target.login);
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
  output.write(`Creating ${ids.length} devices (${ids[0]} ...) at ${site.target.http}\n`);
  const since = await findBeginning(site.service);
  const secrets = await provision(site.service, ids, (count) => {
    if (count % 500 === 0) output.write(`  ${count} of ${ids.length} have their secret\n`);
  });
  const { publicKey, devices } = await findKey(site, secrets);
  const network = await createNetwork({
    mqttUrl: site.target.mqtt,
    devices: devices.length,
    faults: scenario.faults,
    clock: ports.clock,
    entropy: createSeededEntropy(scenario.seed).stream('network'),
  });
  return { since, publicKey, devices, network };
}

const mebibyte = 1024 * 1024;

async function runAt(options: RunOptions, site: Site, stop: { isAsked: boolean }): Promise<RunResult> {
  const { scenario, ports, output } = options;
  const startRssMb = process.memoryUsage.rss() / mebibyte;
  const prepared = await prepare(options, site);
  const ledger = createLedger();
  const latencies = createLatencies();
  const startMs = ports.clock.monoMs();
  const time: RunTime = { nowMs: () => ports.clock.monoMs() - startMs };
  const startedAt = new Date(ports.clock.utcMs()).toISOString();
  const usage = process.cpuUsage();
  const scene: Scene = { ...site, ...prepared, options, time, ledger, latencies };
  const endStalls = watchStalls(ports.clock, (fromMs, toMs) =>
    ledger.stall(fromMs - startMs, toMs - startMs),
  );
  output.write(`Running ${options.name} for ${scenario.durationS} s: ${scenario.title}\n`);
  try {
    const driven = await drive(scene, stop);
    endStalls();
    const { user, system } = process.cpuUsage(usage);
    const machine = {
      cpuMs: (user + system) / 1000,
      rssMb: process.memoryUsage.rss() / mebibyte,
      startRssMb,
    };
    output.write('Reading back what the service holds\n');
    await collect(site.service, ledger, prepared.since);
    const { panicMs, fleet } = scenario;
    const judgement = judge(ledger, { endMs: driven.endMs, panicMs, inputsMs: fleet.inputsMs });
    if (options.isClean) {
      const kept = await removeDevices(
        site.service,
        prepared.devices.map(({ deviceID }) => deviceID),
      );
      output.write(
        kept.length === 0 ? 'The devices are removed\n' : `${kept.length} devices could not be removed\n`,
      );
    }
    return resultOf({
      ...driven,
      name: options.name,
      scenario,
      startedAt,
      ledger,
      judgement,
      latencies,
      elapsedS: driven.endMs / 1000,
      machine,
      thresholds: scenario.thresholds,
    });
  } finally {
    endStalls();
    latencies.close();
    await prepared.network.close();
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
