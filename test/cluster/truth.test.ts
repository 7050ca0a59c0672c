// The proof of the proof, behind a cluster: the simulator against two bridges behind RabbitMQ on one PostgreSQL. It passes with this
// build, and finds and names each fault of the table.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import {
  adminPassword,
  type Balancer,
  type Bridge,
  createAccount,
  startBalancer,
  startBridge,
} from '../support/cluster/cluster-bridge.ts';
import { type RabbitBench, rabbitmqMissing, startRabbit } from '../support/cluster/rabbitmq.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { checkout } from '../support/machine/checkout.ts';
import { freePort } from '../support/machine/free-port.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { runProgram } from '../support/programs/fleet-processes.ts';
import { killSimulators, simulate } from '../support/programs/simulator-program.ts';
import { clusterMutants } from '../support/truth/cluster-mutants.ts';
import { copyBuild, faultyBuild } from '../support/truth/faulty-build.ts';
import { foundIn } from '../support/truth/found-breaches.ts';

const isBuilt = existsSync(new URL('dist/simulator/main.js', checkout).pathname);
const missing = isBuilt ? (rabbitmqMissing ?? postgresMissing) : 'skipped: not built';
const title = `a run against two bridges behind RabbitMQ${missing === null ? '' : ` (${missing})`}`;
const scenario = fileURLToPath(new URL('../support/truth/cluster.toml', import.meta.url));

describe.skipIf(missing !== null)(title, () => {
  const folder = temporaryFolder('cluster-truth');
  const passwordFile = join(folder, 'password');
  let rabbit: RabbitBench;
  let postgres: PostgresBench;
  let balancer: Balancer;
  let database = '';
  let publicKey = '';
  let bridges: readonly Bridge[] = [];

  beforeAll(async () => {
    await copyBuild(folder);
    const authPort = await freePort();
    postgres = await startPostgres();
    rabbit = await startRabbit({ count: 1, authPort });
    database = await postgres.createMigrated();
    createAccount({ folder, database, rabbit });
    writeFileSync(passwordFile, `${adminPassword}\n`, { mode: 0o600 });
    const key = ['--signing-key-file', join(folder, 'signing-key.pem')];
    const create = ['device', 'create', 'demo', 'truck-1', '--json', '--database', database, ...key];
    ({ publicKey } = JSON.parse(runProgram('broker', create)) as { readonly publicKey: string });
    balancer = await startBalancer(authPort, () => bridges.map((bridge) => bridge.authPort));
  });

  afterAll(async () => {
    killSimulators();
    for (const { program } of bridges) program.signal('SIGTERM');
    await balancer?.close();
    await Promise.all([rabbit?.close(), postgres?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** The stream and the reads are those of the second bridge; what vehicles send is shared by both. */
  async function runBehind(build: { readonly build?: string }) {
    const setup = { folder, database, rabbit, ...build };
    bridges = [await startBridge(setup), await startBridge(setup)];
    const json = join(folder, 'result.json');
    await rm(json, { force: true });
    const flags = {
      target: `http://127.0.0.1:${bridges[1]?.httpPort}`,
      mqtt: `mqtt://127.0.0.1:${rabbit.nodes[0]?.mqtt}`,
      account: 'demo',
      user: 'admin',
      'password-file': passwordFile,
      'public-key': publicKey,
      json,
    };
    const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    try {
      const { code, text } = await simulate(['run', scenario, ...words]);
      const result = await readFile(json, 'utf8').catch(() => null);
      if (result === null) throw new Error(`it ended with ${code} and no result:\n${text.slice(-2000)}`);
      return { code, text, result: JSON.parse(result) as RunResult };
    } finally {
      for (const { program } of bridges) program.signal('SIGTERM');
      await Promise.all(bridges.map(({ program }) => program.ended()));
      bridges = [];
    }
  }

  it('passes', async () => {
    const { code, text } = await runBehind({});
    expect([code, text]).toEqual([0, expect.stringMatching(/truth: \d+ checks, all 0/)]);
  });

  it.each(clusterMutants.map((mutant, no) => [mutant.fault, mutant, no] as const))(
    'finds it when %s',
    async (_, mutant, no) => {
      const { faulty } = await faultyBuild(folder, { no, ...mutant });
      const { code, text, result } = await runBehind({ build: `${faulty}/` });
      const found = foundIn(mutant, result);
      expect(code, text.slice(-2000)).toBe(3);
      expect(found).not.toEqual([]);
    },
  );
});
