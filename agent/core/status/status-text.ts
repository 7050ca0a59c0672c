// The state of a running agent as text for one screen: what works, what does not, since when, and what to do. Pure. A
// part without a recent observation must never be shown as working.

import { standstillText, verdictHint, verdictText } from '../../../src/core/verdict/verdict-text.ts';
import { witnessNames } from '../../../src/core/verdict/witness.ts';
import type { ModemReading } from '../modem/modem-reading.ts';
import { countProven } from '../protection/witness-rules.ts';
import type { AgentFacts } from './agent-facts.ts';
import { busText } from './bus-text.ts';
import { driverText } from './driver-status.ts';
import { conditionsOf } from './health.ts';
import { isNoisy, noiseText, noiseTodo } from './line-noise.ts';
import type { PortStatus, VehicleStatus } from './status.ts';

/** `note`: worth mentioning, no fault. */
export type Level = 'ok' | 'note' | 'fault';

export interface StatusLine {
  readonly level: Level;
  readonly name: string;
  readonly words: string;
  /** What to do about it; '' when nothing. */
  readonly todo: string;
}

const minuteS = 60;
const hourS = 3600;
const dayS = 86_400;

/** A duration for display: `8 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function formatSpan(spanS: number | null): string {
  if (spanS === null) return 'an unknown time';
  if (spanS < 2 * minuteS) return `${Math.round(spanS)} s`;
  if (spanS < 2 * hourS) return `${Math.floor(spanS / minuteS)} min`;
  const [high, low, highWord, lowWord] =
    spanS < 2 * dayS ? [hourS, minuteS, 'h', 'min'] : [dayS, hourS, 'd', 'h'];
  return `${Math.floor(spanS / high)} ${highWord} ${Math.floor((spanS % high) / low)} ${lowWord}`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

const isOld = (ageS: number | null, mostS: number): boolean => ageS === null || ageS >= mostS;

function closed(name: string, { path, reason, attempts }: PortStatus): StatusLine {
  const tried = attempts > 1 ? `, ${attempts} tries` : '';
  const words = `${path} is not open: ${reason === '' ? 'unknown' : reason}${tried}`;
  return {
    level: 'fault',
    name,
    words,
    todo: 'Check cable and port; stop the agent and run `fleetward-agent doctor`.',
  };
}

function boardLine({ board }: VehicleStatus): StatusLine {
  const name = 'I/O board';
  if (board.state !== 'open') return closed(name, board);
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

function gnssLine({ gnss }: VehicleStatus): StatusLine {
  const name = 'GNSS';
  if (gnss.state !== 'open') return closed(name, gnss);
  if (gnss.antenna === 'open' || gnss.antenna === 'short')
    return {
      level: 'fault',
      name,
      words: `the receiver reports its antenna as ${gnss.antenna}`,
      todo: 'Check plug and cable.',
    };
  const received = Object.values(gnss.tracked).reduce((sum, count) => sum + count, 0);
  const sky = Object.keys(gnss.tracked).length === 0 ? '' : `, ${received} satellites received`;
  if (!gnss.hasFix) {
    const last = gnss.fixAgeS === null ? 'none since the start' : `the last ${formatSpan(gnss.fixAgeS)} ago`;
    return {
      level: 'note',
      name,
      words: `no position, ${last}${sky}`,
      todo: 'A first position takes minutes under open sky; a roof or a metal lid over the antenna stops it.',
    };
  }
  const doubts = gnss.isSuspect ? '; lately doubtful' : '';
  const moves =
    gnss.motion === 'moving'
      ? `moving at ${String(gnss.speedKmh)} km/h`
      : gnss.motion === 'still'
        ? `standing for ${formatSpan(gnss.standingS)}`
        : `standstill not proven: ${standstillText(gnss.fault)}`;
  const words = `position ${formatSpan(gnss.fixAgeS)} old, ${gnss.satellites ?? '?'} satellites, HDOP ${gnss.hdop ?? '?'}, ${moves}${doubts}`;
  const isLate = gnss.fault === 'fix_late';
  return {
    level: gnss.isSuspect || isLate ? 'note' : 'ok',
    name,
    words,
    todo: isLate
      ? 'Its line may be too slow for its sentences: raise the speed of the receiver and gnss.baud, or let it send fewer. Else check the clock of the broker.'
      : '',
  };
}

function brokerLine({ vehicle, backlog, ackedAgoS }: AgentFacts): StatusLine {
  const name = 'Broker';
  const { state, reason, forS, attempts, nextTryInS, isWelcomed } = vehicle.connection;
  const waits = `${backlog} events wait`;
  if (state === 'up' && isWelcomed) {
    const acked =
      ackedAgoS === null ? 'nothing acknowledged yet' : `last acknowledgement ${formatSpan(ackedAgoS)} ago`;
    return { level: 'ok', name, words: `connected for ${formatSpan(forS)}; ${waits}, ${acked}`, todo: '' };
  }
  if (state === 'up')
    return {
      level: 'note',
      name,
      words: `connected for ${formatSpan(forS)}, not greeted yet; ${waits}`,
      todo: '',
    };
  const isRefused = /refused:|certificate|signature/i.test(reason);
  const next = nextTryInS === null ? '' : `, next try in ${formatSpan(nextTryInS)}`;
  return {
    level: isRefused ? 'fault' : 'note',
    name,
    words: `offline (${reason === '' ? 'connecting' : reason}), ${attempts} tries${next}; ${waits} on disk`,
    todo: isRefused
      ? 'Check device.account, device.id and the secret, or enrol again.'
      : 'Nothing is lost meanwhile. With a network there, stop the agent and run `fleetward-agent doctor`.',
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
  const apart = Object.entries(clock.differencesS).flatMap(([source, byS]) =>
    byS !== null && Math.abs(byS) >= 2 ? [`${source} differs by ${byS} s`] : [],
  );
  const words = [`known by ${clock.quality}`, ...apart].join('; ');
  return { level: apart.length === 0 ? 'ok' : 'note', name, words, todo: '' };
}

function relayLines({ relays, commands }: VehicleStatus): readonly StatusLine[] {
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
    ...commands.map(({ feature, state, phase, verdict }) => ({
      level: 'note' as const,
      name: 'Command',
      words: `${feature} to ${state}: ${phase}${verdict === null ? '' : `. ${verdictText(verdict)}`}`,
      todo: (verdict === null ? null : verdictHint(verdict)) ?? '',
    })),
  ];
}

const driveWords = { driving: 'driving', standing: 'standing', unknown: 'not known' } as const;

function evidenceLine({ evidence }: VehicleStatus): StatusLine {
  const { drive, by, forS, witnesses } = evidence;
  const fitted = witnessNames.filter((name) => witnesses[name] !== 'absent');
  const states = fitted.map((name) => `${name} ${witnesses[name]}`).join(', ');
  const shown = `${driveWords[drive]}${by === null ? '' : ` by ${by}`} for ${formatSpan(forS)}`;
  const proven = countProven((name) => witnesses[name] === 'proven');
  return {
    level: proven >= 2 ? 'ok' : 'note',
    name: 'Evidence',
    words: `${shown}; ${states}`,
    todo:
      proven >= 2
        ? ''
        : 'A cut needs two proven sensors: drive a minute with a view of the sky, stop, switch off.',
  };
}

function inputsLine({ inputs, analogs }: VehicleStatus): StatusLine {
  const unknown = inputs.filter(({ reading }) => reading === 'unknown');
  const words = [
    ...inputs.map(({ input, reading }) => `${input} ${reading}`),
    ...Object.entries(analogs).map(
      ([name, value]) => `${name} ${value === null ? 'unknown' : String(Math.round(value * 1000) / 1000)}`,
    ),
  ].join(', ');
  return {
    level: unknown.length > 0 ? 'note' : 'ok',
    name: 'Inputs',
    words: words === '' ? 'none fitted' : words,
    todo: unknown.length > 0 ? 'An unknown input counts as neither on nor off.' : '',
  };
}

/** Operator, technology, signal and SIM in one line. */
function modemText({ operator, isRoaming, iccid, signal, technology, bytes }: ModemReading): string {
  const network = isRoaming === null ? 'not registered' : isRoaming ? 'roaming' : 'home network';
  return [
    operator ?? 'operator unknown',
    network,
    ...(technology === null ? [] : [technology]),
    ...(signal === null ? [] : [`signal ${signal} %`]),
    iccid === null ? 'no SIM that can be read' : `SIM ${iccid}`,
    ...(bytes === null ? [] : [`${Math.round(bytes / 1e6)} MB since the machine started`]),
  ].join(', ');
}

function modemLines({ modem }: VehicleStatus): readonly StatusLine[] {
  if (modem === null) return [];
  const name = 'Modem';
  return modem.reading === null
    ? [
        {
          level: 'note',
          name,
          words: `cannot be read: ${modem.reason}`,
          todo: 'Check modem.program, and try `mmcli -m any`. The connection does not depend on it.',
        },
      ]
    : [{ level: 'ok', name, words: modemText(modem.reading), todo: '' }];
}

const updatePhases = {
  fetching: 'is being fetched',
  staged: 'is ready',
  swapping: 'starts now',
  trial: 'runs on trial',
} as const;

function updateLines({ update }: AgentFacts): readonly StatusLine[] {
  if (update === null) return [];
  const { version, phase, waiting } = update;
  const why = waiting === '' ? '' : `, waits: ${waiting}`;
  return [
    { level: 'note', name: 'Update', words: `release ${version} ${updatePhases[phase]}${why}`, todo: '' },
  ];
}

/** One line for each part, most important first. */
export function statusLines(facts: AgentFacts): readonly StatusLine[] {
  const { vehicle } = facts;
  const { light, trafficMb, monthlyMb } = vehicle.connection;
  const bad = conditionsOf({ ...facts, lagMs: facts.process.lagMs }).filter(
    ({ isGood, name }) => !isGood && (name === 'loop' || name === 'sync'),
  );
  const { version, onTrial, zones } = vehicle.config;
  const source = version === 0 ? 'the file of the installer' : `version ${version} of the broker`;
  return [
    boardLine(vehicle),
    gnssLine(vehicle),
    evidenceLine(vehicle),
    ...(vehicle.bus === null ? [] : [{ name: 'Bus', ...busText(vehicle.bus) }]),
    ...modemLines(vehicle),
    ...(vehicle.driver === null ? [] : [{ name: 'Driver', ...driverText(vehicle.driver) }]),
    brokerLine(facts),
    storageLine(facts),
    clockLine(vehicle),
    ...relayLines(vehicle),
    inputsLine(vehicle),
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
    ...updateLines(facts),
  ];
}

/** True when something does not work. */
export function isDegraded(lines: readonly StatusLine[]): boolean {
  return lines.some(({ level }) => level === 'fault');
}

const marks: Readonly<Record<Level, string>> = { ok: 'ok   ', note: 'note ', fault: 'FAULT' };

/** The screen; the head names both the release that runs and the packaged one where they differ. */
export function formatStatus(facts: AgentFacts, packaged: string): string {
  const lines = statusLines(facts);
  const release = facts.version === packaged ? packaged : `${facts.version} (packaged ${packaged})`;
  const head = `fleetward-agent ${release}, running for ${formatSpan(facts.upS)}: ${isDegraded(lines) ? 'something does not work' : 'works'}`;
  return [
    head,
    ...lines.flatMap(({ level, name, words, todo }) => [
      `${marks[level]} ${name.padEnd(10)} ${words}`,
      ...(todo === '' ? [] : [`${' '.repeat(17)}${todo}`]),
    ]),
  ].join('\n');
}
