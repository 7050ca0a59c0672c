// Joins ports and adapters for `doctor`, which needs more of them than the other commands together.
import { holdSqlite, inspectSqlite } from '../../src/adapters/database/sqlite.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { untilAsked } from '../../src/adapters/program.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { createMachine } from '../adapters/machine.ts';
import { createNetworkProbe } from '../adapters/network-probe.ts';
import { openSerialPort } from '../adapters/serial-port.ts';
import { askPerson } from '../adapters/terminal.ts';
import { askUnixSocket } from '../adapters/unix-http.ts';
import type { DoctorPorts } from '../doctor/ports.ts';
import { countQueued } from '../outbox/file/outbox-schema.ts';
import { evidenceKey } from '../vehicle-record.ts';
import { runDoctor } from './doctor.ts';
import type { Flags } from './settings-file.ts';
import { askIfRunning } from './status.ts';

/** Runs `doctor`, and sets the exit code to its verdict. @throws AppError `usage`. */
export async function doctor(flags: Flags): Promise<void> {
  const clock = createSystemClock();
  const ports: DoctorPorts = {
    clock,
    entropy: createSystemEntropy(),
    openByteLink: openSerialPort,
    openMqttLink,
    createVerifier,
    machine: createMachine(),
    network: createNetworkProbe(),
    inspectOutbox(path) {
      const { rows, integrity } = inspectSqlite(path, countQueued(evidenceKey));
      const [row] = rows;
      const evidence = row?.['value'];
      return {
        events: Number(row?.['events'] ?? 0),
        integrity,
        evidence: typeof evidence === 'string' ? evidence : null,
      };
    },
  };
  const stopped = untilAsked();
  process.exitCode = await runDoctor(flags, {
    ports,
    askAgent: (socket) => askIfRunning(askUnixSocket, socket),
    holdSqlite,
    ask: (question) => askPerson(question, stopped),
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (text) => void process.stderr.write(`${text}\n`),
    stopped,
  });
}
