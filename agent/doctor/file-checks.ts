// Checks of files: settings and the files they name, the device files of the two ports, and the outbox on its disk.
// They change nothing but a small probe file, which is removed before they end.
import { dirname } from 'node:path';
import { messageOf } from '../../src/core/errors.ts';
import type { AgentFile } from '../config.ts';
import { type Check, type Finding, fault, faultOf, ok, warning } from './check.ts';
import type { DoctorPorts, Holder, Machine, PathFacts, Person } from './ports.ts';

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0');

/** Whether the mode of a path lets this person read and write it. */
export function mayUse(facts: Pick<PathFacts, 'mode' | 'owner' | 'group'>, person: Person): boolean {
  if (person.isRoot) return true;
  const { mode, owner, group } = facts;
  if (owner === person.name) return (mode & 0o600) === 0o600;
  if (person.groups.includes(group)) return (mode & 0o060) === 0o060;
  return (mode & 0o006) === 0o006;
}

function secretFinding(path: string, machine: Machine): Finding {
  const facts = machine.look(path);
  if (facts === null) return fault(`the secret ${path} is not there`, 'Get it with `fleetward-agent enrol`.');
  const person = machine.agentUser();
  if ((facts.mode & 0o077) !== 0)
    return fault(`${path} can be read by others (mode ${octal(facts.mode)})`, `Run: chmod 600 ${path}`);
  if (!person.isRoot && facts.owner !== person.name)
    return fault(
      `${path} belongs to ${facts.owner}, and the agent runs as ${person.name}`,
      `Run: chown ${person.name} ${path}`,
    );
  return ok(`${path} is readable by ${facts.owner} alone`);
}

/** @param given.problem why the agent would not start with its settings; null when it would. */
export function configurationCheck(given: {
  readonly path: string;
  readonly problem: unknown;
  readonly file: AgentFile | null;
  readonly ports: DoctorPorts;
}): Check {
  const { path, problem, file, ports } = given;
  return {
    id: 'configuration',
    title: 'Configuration',
    mostS: 10,
    async run() {
      const findings: Finding[] = [];
      if (problem === null) findings.push(ok(`${path} is complete`));
      else
        findings.push(faultOf(problem, 'Mend the file; `fleetward-agent config check` looks at it alone.'));
      if (file === null) return findings;
      try {
        ports.createVerifier(file.broker.publicKey);
      } catch (thrown) {
        findings.push(fault(`broker.publicKey is no key: ${messageOf(thrown)}`, 'Enrol again.'));
      }
      findings.push(secretFinding(file.broker.secretFile, ports.machine));
      return findings;
    },
  };
}

const keepModemManagerOff =
  'ModemManager sends AT commands to ports that it does not know: `fleetward-agent-ports set` names this one so that it leaves it alone.';

/** Programs of Linux distributions that open serial ports by themselves, by the name of the process. */
const portOpeners: readonly (readonly [name: RegExp, todo: string])[] = [
  [/^ModemManager$/, keepModemManagerOff],
  [/^brltty/, 'It takes USB adapters for Braille displays: apt remove brltty.'],
  [
    /^gpsd/,
    'It takes USB adapters for receivers: systemctl disable --now gpsd.socket gpsd, or apt remove gpsd.',
  ],
  [
    /getty$/,
    'It waits for a login there: systemctl mask --now serial-getty@NAME (the name of the device without /dev/), and take console=NAME out of the command line of the kernel.',
  ],
];

/** What to do about the programs that have a port open; null where none of them is known. */
function openerAdvice(holders: readonly Holder[]): string | null {
  const known = portOpeners.filter(([name]) => holders.some((holder) => name.test(holder.name)));
  return known.length === 0 ? null : known.map(([, todo]) => todo).join(' ');
}

/** A program that locked the port has it; one that only has it open may take bytes away. */
function holderFindings(path: string, holders: readonly Holder[]): readonly Finding[] {
  if (holders.length === 0) return [];
  const names = holders.map(({ pid, name }) => `${name === '' ? 'process' : name} (${pid})`).join(', ');
  const advice = openerAdvice(holders);
  return holders.some(({ hasLock }) => hasLock)
    ? [fault(`${path} is in use by ${names}`, advice ?? 'Stop that program.')]
    : [
        warning(
          `${path} is open in ${names}`,
          advice ?? 'Two readers take bytes from each other: stop it, if it reads.',
        ),
      ];
}

/** Where a serial port is, whether the agent may open it, and which process has it open. @param port.table of agent.toml that names it. */
export function portCheck(
  port: { readonly table: string; readonly title: string; readonly path: string },
  { machine }: DoctorPorts,
): Check {
  const { table, title, path } = port;
  return {
    id: `port-${table}`,
    title,
    mostS: 10,
    async run() {
      const facts = machine.look(path);
      if (facts === null)
        return [
          fault(
            `${path} is not there`,
            'Is the adapter plugged in? `fleetward-agent-ports list` shows the ports, `fleetward-agent-ports set` names them. One that vanishes at once was taken by another program: `dmesg | grep brltty`.',
          ),
        ];
      if (facts.kind !== 'device')
        return [
          fault(`${path} is a ${facts.kind}, not a serial port`, `Name the right one in ${table}.port.`),
        ];
      const where = facts.realPath === path ? path : `${path} is ${facts.realPath}`;
      const person = machine.agentUser();
      const rights = `${facts.owner}:${facts.group} ${octal(facts.mode)}`;
      return [
        mayUse(facts, person)
          ? ok(`${where}, ${rights}: ${person.name} may use it`)
          : fault(
              `${where}, ${rights}: ${person.name} may not use it`,
              `Run: adduser ${person.name} ${facts.group === 'root' ? 'dialout' : facts.group}, then start the service anew.`,
            ),
        ...holderFindings(path, machine.holdersOf(facts.realPath)),
        ...(machine.isProbedByModemManager(facts.realPath)
          ? [warning(`${path} is not kept from ModemManager`, keepModemManagerOff)]
          : []),
      ];
    },
  };
}

/** Below this the outbox cannot grow to its limit, or a log cannot be written. */
const tightBytes = 50_000_000;
/** A card whose sync takes longer than this holds up every alarm. */
const slowSyncMs = 1000;

export function storageCheck(file: AgentFile, { machine, inspectOutbox }: DoctorPorts): Check {
  const { path, maxMb } = file.storage;
  const folder = dirname(path);
  const spaceFinding = (): Finding => {
    const { freeBytes, totalBytes } = machine.space(folder);
    const words = `${Math.floor(freeBytes / 1e6)} of ${Math.floor(totalBytes / 1e6)} MB are free at ${folder}; the outbox may take ${maxMb} MiB`;
    return freeBytes < Math.max(tightBytes, maxMb * 1024 * 1024)
      ? warning(words, 'Free some space, or lower storage.maxMb.')
      : ok(words);
  };
  const syncFinding = (): Finding => {
    const ms = Math.round(machine.probeSync(folder));
    return ms > slowSyncMs
      ? warning(
          `a write that is forced to the disk takes ${ms} ms`,
          'The card may be worn out or cheap: take an industrial one.',
        )
      : ok(`a write that is forced to the disk takes ${ms} ms`);
  };
  const outboxFinding = (): Finding => {
    if (machine.look(path) === null) return ok(`${path} is not there yet; the agent makes it`);
    const { events, integrity } = inspectOutbox(path);
    return integrity === 'ok'
      ? ok(`${path} is sound; ${events} events wait`)
      : fault(
          `${path} is damaged: ${integrity}`,
          'The agent sets it aside and salvages it at its next start; keep the card in mind.',
        );
  };
  const guarded = (work: () => Finding): Finding => {
    try {
      return work();
    } catch (thrown) {
      return faultOf(thrown, 'Check the disk and the rights on the folder.');
    }
  };
  return {
    id: 'storage',
    title: 'Storage',
    mostS: 60,
    async run() {
      if (machine.look(folder) === null)
        return [
          fault(
            `the folder ${folder} is not there`,
            'Make it and give it to the user that the agent runs as.',
          ),
        ];
      return [guarded(spaceFinding), guarded(syncFinding), guarded(outboxFinding)];
    },
  };
}
