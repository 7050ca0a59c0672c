// A short run of real agents in this process against a broker of the tests.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { checkScenario } from '../../../simulator/core/scenario/scenario.ts';
import type { RunResult } from '../../../simulator/run/measure/result.ts';
import { runScenario } from '../../../simulator/run/run.ts';
import type { RunPorts } from '../../../simulator/run/shared/run-ports.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { openHttpReceiver } from '../../../src/adapters/http-receiver.ts';
import { openMqttLink } from '../../../src/adapters/mqtt-link.ts';
import { createVerifier } from '../../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../../src/adapters/system.ts';
import type { FaultyBroker } from '../broker/faulty-broker.ts';

const base = {
  title: 'a test',
  durationS: 15,
  drainS: 40,
  panicMs: 10_000,
  fleet: { devices: 5, connectSpreadS: 1 },
  // Most vehicles rest at the depot, so that commands are carried out at once.
  route: { restS: 20_000 },
  actions: { panicPerHour: 600, doorPerHour: 600 },
  reporting: { movingS: 1, stoppedS: 10, windowS: 0 },
};

const openOutboxFile: RunPorts['openDatabase'] = (file) => openSqlite(file);

/** Runs it to its end. @param folder in which the run gets one of its own. @param change laid over the scenario. @param openDatabase of the disks of the vehicles. */
export async function runAgainst(
  broker: FaultyBroker,
  folder: string,
  change: object = {},
  openDatabase: RunPorts['openDatabase'] = openOutboxFile,
): Promise<RunResult> {
  const verdict = checkScenario({ ...base, ...change });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  return runScenario(
    {
      name: 'test',
      scenario: verdict.scenario,
      ports: {
        clock: createSystemClock(),
        entropy: createSystemEntropy(),
        openMqttLink,
        createVerifier,
        openDatabase,
        openHttpReceiver,
      },
      target: broker.target,
      folder: mkdtempSync(join(folder, 'run-')),
      environment: {},
      isClean: false,
      processes: 1,
      program: '',
      controlPath: null,
      scripts: null,
      version: '0.0.0',
      output: { write: () => true },
    },
    new Promise(() => undefined),
  );
}
