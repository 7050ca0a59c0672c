// The state of a running agent as text for one screen: what works, what does not, since when, and what to do. Pure. A
// part without a recent observation must never be shown as working.

import type { Verdict } from '../../../src/core/verdict/verdict.ts';
import { verdictHint, verdictText } from '../../../src/core/verdict/verdict-text.ts';
import { clockText } from '../clock-verdict.ts';
import type { Level, StatusLine } from '../kernel/module.ts';
import { modules } from '../vehicle/modules.ts';
import type { AgentFacts } from './agent-facts.ts';
import { evidenceLine, gnssLine, obstacleOf } from './gnss-lines.ts';
import { conditionsOf } from './health.ts';
import { isNoisy, noiseText, noiseTodo } from './line-noise.ts';
import { obstacleText } from './receiver-text.ts';
import type { VehicleStatus } from './status.ts';
import { formatSpan, isStarting, portLine, starting } from './status-line.ts';

function formatBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

const isOld = (ageS: number | null, mostS: number): boolean => ageS === null || ageS >= mostS;

function boardLine({ vehicle: { board }, upS }: AgentFacts): StatusLine {
  const name = 'I/O board';
  if (board.state !== 'open') return portLine(name, board, upS);
  if (isStarting({ upS }) && board.polledAgoS === null) return starting(name, `${board.path} is asked`);
  const silent = board.units.filter(({ isUp }) => isUp !== true);
  const { requests = 0, answers = 0, noiseBytes = 0 } = board.counters;
  const noise = isNoisy(board.counters) ? `; ${noiseText(noiseBytes)} since the start` : '';
  if (isOld(board.polledAgoS, 15) || silent.length > 0) {
    const since = board.polledAgoS === null ? 'never since the start' : `${formatSpan(board.polledAgoS)} ago`;
    const who = silent.map(({ unit, address }) => `${unit} (unit ${address})`).join(', ');
    return {
      level: 'fault',
      name,
      words: `no answer from ${who === '' ? board.profile : who}; last good answer ${since}${noise}`,
      todo: `Check its supply and the A/B wires; stop the agent and \`fleetward-agent doctor\` finds speed and unit id.${noise === '' ? '' : ` ${noiseTodo}`}`,
    };
  }
  const { life, ...unfit } = board.problems;
  if (life !== undefined)
    return {
      level: 'fault',
      name,
      words: `the life input reads 0: ${life}`,
      todo: 'Check supply, fuse and common of the contacts, then the wire of the life input: `fleetward-agent doctor --watch` shows it live.',
    };
  const problems = Object.entries(unfit).map(([place, reason]) => `${place}: ${reason}`);
  if (problems.length > 0)
    return {
      level: 'fault',
      name,
      words: `${board.profile} answers, but does not fit the profile: ${problems.join('; ')}`,
      todo: 'Take the profile of this board (`fleetward-agent boards`), or mend board.overrides.',
    };
  const words = `${board.profile} at ${board.path} answers; ${answers} of ${requests} requests since the start`;
  return noise === ''
    ? { level: 'ok', name, words, todo: '' }
    : { level: 'note', name, words: `${words}${noise}`, todo: noiseTodo };
}

const isRefusal = (reason: string): boolean => /refused:|certificate|signature/i.test(reason);

function brokerLine({ vehicle, backlog, ackedAgoS, upS, connects }: AgentFacts): StatusLine {
  const name = 'Broker';
  const { state, reason, forS, attempts, nextTryInS, isWelcomed } = vehicle.connection;
  const waits = `${backlog} events wait`;
  if (state === 'up' && isWelcomed) {
    const acked =
      ackedAgoS === null ? 'nothing acknowledged yet' : `last acknowledgement ${formatSpan(ackedAgoS)} ago`;
    return { level: 'ok', name, words: `connected for ${formatSpan(forS)}; ${waits}, ${acked}`, todo: '' };
  }
  if (isStarting({ upS }) && connects === 0 && (state === 'up' || attempts <= 1) && !isRefusal(reason))
    return starting(name, `the connection is being made; ${waits} on disk`);
  if (state === 'up')
    return {
      level: 'note',
      name,
      words: `connected for ${formatSpan(forS)}, not greeted yet; ${waits}`,
      todo: '',
    };
  const isRefused = isRefusal(reason);
  const next = nextTryInS === null ? '' : `, next try in ${formatSpan(nextTryInS)}`;
  return {
    level: isRefused ? 'fault' : 'note',
    name,
    words: `offline (${reason === '' ? 'connecting' : reason}), ${attempts} tries${next}; ${waits} on disk`,
    todo: isRefused
      ? 'Check device.account, device.id and the secret, or enrol again.'
      : 'Nothing is lost meanwhile. With a network there, `fleetward-agent doctor` follows the way to the broker step by step.',
  };
}

function storageLine({ storage, commits, queue, process }: AgentFacts): StatusLine {
  const name = 'Storage';
  if (commits.failing !== null)
    return {
      level: 'fault',
      name,
      words: `the disk does not take events: ${commits.failing}; ${commits.waiting} commits wait in memory`,
      todo: 'Free space, check the rights, or change the card: what waits is lost with the power.',
    };
  const dropped = queue.dropped.reduce((sum, count) => sum + count, 0);
  const free =
    process.diskFreeBytes === null ? '' : `, ${formatBytes(process.diskFreeBytes)} free on the disk`;
  const lost = dropped === 0 ? '' : `; ${dropped} events were given up for want of space so far`;
  const words = `${formatBytes(storage.bytes)} of ${formatBytes(process.storageMostBytes)}${free}${lost}`;
  const isTight = process.diskFreeBytes !== null && process.diskFreeBytes < 10_000_000;
  return {
    level: isTight ? 'fault' : 'ok',
    name,
    words,
    todo: isTight ? 'Free space on the disk.' : '',
  };
}

function clockLine({ clock }: VehicleStatus): StatusLine {
  const name = 'Clock';
  if (clock.utcMs === null)
    return {
      level: 'note',
      name,
      words: 'the time is not known; events get theirs later',
      todo: 'It comes with a position or with the broker.',
    };
  // The line of the receiver names what is wrong with it.
  const wrong = clock.verdict
    .filter(({ kind }) => kind !== 'agree' && !kind.startsWith('receiver_'))
    .map(clockText);
  const apart = Object.entries(clock.differencesS).flatMap(([source, byS]) =>
    wrong.length === 0 && byS !== null && Math.abs(byS) >= 2 ? [`${source} differs by ${byS} s`] : [],
  );
  const words = [`known by ${clock.quality}`, ...apart, ...wrong.map((one) => one.words)].join('; ');
  const level = apart.length + wrong.length === 0 ? 'ok' : 'note';
  return { level, name, words, todo: wrong.map(({ todo }) => todo).join(' ') };
}

/** Hint for a waiting command: known facts of the receiver come before its rule's general hint. */
function commandHint(vehicle: VehicleStatus, verdict: Verdict): string {
  const isOfProof = /^(standstill|witness)/.test(verdict.code);
  const obstacle = isOfProof ? obstacleOf(vehicle) : null;
  return obstacle === null ? (verdictHint(verdict) ?? '') : obstacleText(obstacle).todo;
}

function guardLines({ guardRefused }: VehicleStatus): readonly StatusLine[] {
  if (guardRefused === null) return [];
  const { feature, refusals, agoS } = guardRefused;
  return [
    {
      level: 'fault',
      name: 'Relay guard',
      words: `refused to close ${feature ?? 'a relay'} ${agoS ?? 0} s ago: ${refusals.join(', ')}`,
      todo: 'The interlock had allowed it, so one of both is wrong. Nothing moved. Report it with a diagnostic; `agent/guard/README.md` names the conditions.',
    },
  ];
}

function relayLines(vehicle: VehicleStatus): readonly StatusLine[] {
  const { relays, commands } = vehicle;
  const words = relays.map(({ feature, isEnergised }) => {
    const state = isEnergised === null ? 'not known' : isEnergised ? 'energised' : 'de-energised';
    return `${feature} ${state}`;
  });
  const wrong = relays.filter(
    ({ isEnergised, wanted }) => isEnergised !== null && wanted !== null && isEnergised !== wanted,
  );
  const isWorking = commands.some(({ phase }) => phase === 'executing' || phase === 'unknown');
  const line: StatusLine =
    wrong.length > 0 && !isWorking
      ? {
          level: 'fault',
          name: 'Relays',
          words: `${words.join(', ')}; not as they should be: ${wrong.map(({ feature }) => feature).join(', ')}`,
          todo: 'The agent repairs what it may. If it stays so, check the relay and who else drives it.',
        }
      : { level: 'ok', name: 'Relays', words: words.join(', ') || 'none fitted', todo: '' };
  return [
    line,
    ...guardLines(vehicle),
    ...commands.map(({ feature, state, phase, verdict }) => ({
      level: 'note' as const,
      name: 'Command',
      words: `${feature} to ${state}: ${phase}${verdict === null ? '' : `. ${verdictText(verdict)}`}`,
      todo: verdict === null ? '' : commandHint(vehicle, verdict),
    })),
  ];
}

function inputsLine({ vehicle: { inputs, analogs }, upS }: AgentFacts): StatusLine {
  const unknown = inputs.filter(({ reading }) => reading === 'unknown');
  const words = [
    ...inputs.map(({ input, reading }) => `${input} ${reading}`),
    ...Object.entries(analogs).map(
      ([name, value]) => `${name} ${value === null ? 'unknown' : String(Math.round(value * 1000) / 1000)}`,
    ),
  ].join(', ');
  if (unknown.length > 0 && isStarting({ upS })) return starting('Inputs', words);
  return {
    level: unknown.length > 0 ? 'note' : 'ok',
    name: 'Inputs',
    words: words === '' ? 'none fitted' : words,
    todo: unknown.length > 0 ? 'An unknown input counts as neither on nor off.' : '',
  };
}

/** One line for each part, most important first. */
export function statusLines(facts: AgentFacts): readonly StatusLine[] {
  const { vehicle } = facts;
  const { light, trafficMb, monthlyMb } = vehicle.connection;
  const bad = conditionsOf(facts).filter(
    ({ isGood, name }) => !isGood && (name === 'loop' || name === 'sync'),
  );
  const { version, onTrial, zones } = vehicle.config;
  const source = version === 0 ? 'the file of the installer' : `version ${version} of the broker`;
  return [
    boardLine(facts),
    gnssLine(facts),
    evidenceLine(facts),
    ...modules.flatMap((module) => module.lines?.(vehicle) ?? []),
    brokerLine(facts),
    storageLine(facts),
    clockLine(vehicle),
    ...relayLines(vehicle),
    inputsLine(facts),
    ...bad.map(
      ({ seen }): StatusLine => ({
        level: 'fault',
        name: 'Program',
        words: seen,
        todo: 'The machine may be overloaded: look with `top` and at the log.',
      }),
    ),
    ...(light === 'green'
      ? []
      : [
          {
            level: 'note' as const,
            name: 'Data plan',
            words: `${light}: ${trafficMb} of ${monthlyMb} MB this month`,
            todo:
              light === 'red'
                ? 'Alarms and commands only until the month ends, or raise link.monthlyMb.'
                : '',
          },
        ]),
    {
      level: onTrial === null ? 'ok' : 'note',
      name: 'Settings',
      words: `${source}${onTrial === null ? '' : ', on trial'}; ${zones} geozones`,
      todo: '',
    },
    ...modules.flatMap((module) => module.lastLines?.(facts) ?? []),
  ];
}

/** True when something does not work. */
export function isDegraded(lines: readonly StatusLine[]): boolean {
  return lines.some(({ level }) => level === 'fault');
}

const marks: Readonly<Record<Level, string>> = { ok: 'ok   ', note: 'note ', fault: 'FAULT' };

/**
 * The screen; the head names both the release that runs and the packaged one where they differ.
 * @param advice Lines about the release, which do not count for the state in the head.
 */
export function formatStatus(
  facts: AgentFacts,
  packaged: string,
  advice: readonly StatusLine[] = [],
): string {
  const lines = statusLines(facts);
  const release = facts.version === packaged ? packaged : `${facts.version} (packaged ${packaged})`;
  const isReady = !lines.some(({ words }) => words.startsWith('starting'));
  const state = isDegraded(lines) ? 'something does not work' : isReady ? 'works' : 'starting';
  const head = `fleetward-agent ${release}, running for ${formatSpan(facts.upS)}: ${state}`;
  return [
    head,
    ...[...lines, ...advice].flatMap(({ level, name, words, todo }) => [
      `${marks[level]} ${name.padEnd(10)} ${words}`,
      ...(todo === '' ? [] : [`${' '.repeat(17)}${todo}`]),
    ]),
  ].join('\n');
}
