// Checks of the I/O board: whether it answers as configured, and if not, at which speed and address it does; whether
// its registers match the profile; its present inputs; the shortest panic press. They read, and write nothing.
import type { AgentConfig } from '../config.ts';
import { decodePoll } from '../core/board/board-decode.ts';
import { type BoardProfile, pollRequest, worstSampleGapMs } from '../core/board/board-profile.ts';
import { formatException, formatRequest } from '../core/board/modbus-frame.ts';
import { isNoisy, noiseText, noiseTodo } from '../core/status/line-noise.ts';
import {
  type Found,
  fitProfile,
  fits,
  formatFraming,
  hasAnswered,
  isNmea,
  searchBoard,
} from './board-search.ts';
import { type Bus, openBus } from './bus.ts';
import { type Check, type Finding, fault, ok, skipped, warning } from './check.ts';
import { lifeAfter, rawText, sightsOf } from './input-sights.ts';
import type { DoctorPorts } from './ports.ts';

export interface BoardContext {
  readonly config: Pick<AgentConfig, 'profile' | 'boardPort'>;
  readonly shipped: readonly BoardProfile[];
  readonly ports: DoctorPorts;
  isStopped(): boolean;
}

interface Session {
  /** The board answers as it is configured. */
  works: boolean;
}

const unitsOf = (profile: BoardProfile): readonly number[] =>
  Object.values(profile.units).map(({ address }) => address);

function foundElsewhere(found: Found, { config }: BoardContext): readonly Finding[] {
  const { settings, units, fitting } = found;
  const { profile, boardPort } = config;
  const speed = `${settings.baudRate} baud ${formatFraming(settings)}`;
  const wanted = `${boardPort.baudRate} baud ${formatFraming(boardPort)}`;
  const who = `unit ${units.join(', ')} answers at ${speed}`;
  const best = fitting[0]?.profile;
  const isProfile = fitting.some((fit) => fit.profile.name === profile.name);
  const isSpeed = speed === wanted;
  const lines: string[] = [];
  if (!isSpeed) {
    const parity = settings.parity === boardPort.parity ? '' : ` and parity = "${settings.parity}"`;
    lines.push(
      `set baudRate = ${settings.baudRate}${parity} in [board.overrides.serial], or set the board to ${wanted}`,
    );
  }
  if (!isProfile && best !== undefined)
    lines.push(`its registers fit ${best.name}: set board.profile = "${best.name}"`);
  const missing = unitsOf(profile).filter((unit) => !units.includes(unit));
  if (!isProfile && best === undefined)
    lines.push(
      missing.length > 0
        ? `the profile ${profile.name} wants unit ${missing.join(', ')}: set the address on the board, or in [board.overrides.units]`
        : 'its registers fit no shipped profile as it stands: compare its manual with board.overrides',
    );
  return [
    fault(
      `${who}; ${profile.name} at ${wanted} does not`,
      `${lines.join('; ')}.`.replace(/^./, (first) => first.toUpperCase()),
    ),
  ];
}

const swapped = (path: string): Finding =>
  fault(
    `a GNSS receiver talks on ${path}: the two ports are swapped`,
    'Exchange board.port and gnss.port, or run `fleetward-agent-ports set` the other way round.',
  );

async function search(context: BoardContext): Promise<readonly Finding[]> {
  const { config, shipped, ports, isStopped } = context;
  const result = await searchBoard({
    ports,
    path: config.boardPort.path,
    configured: config.profile,
    shipped,
    isStopped,
  });
  switch (result.kind) {
    case 'found':
      return foundElsewhere(result.found, context);
    case 'nmea':
      return [swapped(config.boardPort.path)];
    case 'nothing':
      return [
        result.noiseBytes === 0
          ? fault(
              `nothing answers on ${config.boardPort.path}, at ${result.tried} speeds and framings`,
              'Check the supply of the board, the wires A and B, and that this is its port.',
            )
          : fault(
              `${result.noiseBytes} bytes came on ${config.boardPort.path}, and none of them is an answer`,
              `A and B may be swapped, or another master on the bus. ${noiseTodo}`,
            ),
      ];
  }
}

async function asConfigured(bus: Bus, { config, shipped }: BoardContext): Promise<readonly Finding[] | null> {
  const { profile, boardPort } = config;
  const [first] = Object.values(profile.polls).flatMap((poll) => pollRequest(profile, poll) ?? []);
  if (first !== undefined && !hasAnswered(await bus.ask(first)) && isNmea(bus.received()))
    return [swapped(boardPort.path)];
  const fit = await fitProfile(bus, profile);
  const where = `${boardPort.baudRate} baud ${formatFraming(boardPort)}`;
  if (fits(fit)) {
    const words = `${profile.name} answers at ${where}, unit ${unitsOf(profile).join(', ')}`;
    const { noiseBytes } = bus.counters();
    return [isNoisy(bus.counters()) ? warning(`${words}; ${noiseText(noiseBytes)}`, noiseTodo) : ok(words)];
  }
  const received: number[] = [];
  for (const unit of unitsOf(profile))
    if (hasAnswered(await bus.ask({ kind: 'readBits', unit, function: 1, first: 0, count: 1 })))
      received.push(unit);
  if (fit.read === 0 && received.length === 0) return null;
  const better: string[] = [];
  for (const other of shipped)
    if (other.name !== profile.name && fits(await fitProfile(bus, other))) better.push(other.name);
  const silent = unitsOf(profile).filter((unit) => !received.includes(unit));
  const todo =
    better.length > 0
      ? `Its registers fit ${better.join(', ')}: set board.profile.`
      : silent.length > 0
        ? `Unit ${silent.join(', ')} is silent: check its supply and address.`
        : 'Compare the manual of the board with the profile, and mend board.overrides.';
  return [fault(`something answers at ${where}, but not as ${profile.name}: ${fit.faults.join('; ')}`, todo)];
}

function findCheck(context: BoardContext, session: Session): Check {
  return {
    id: 'board',
    title: 'I/O board',
    mostS: 90,
    async run() {
      const bus = await openBus(context.config.boardPort, context.ports);
      let findings: readonly Finding[] | null;
      try {
        findings = await asConfigured(bus, context);
      } finally {
        await bus.close();
      }
      if (findings === null) return search(context);
      session.works = findings.every(({ verdict }) => verdict !== 'fault');
      return findings;
    },
  };
}

const noBoard = skipped('the board does not answer as it is configured');

/** The set-up registers as they are; the agent sets them by itself at its start. */
function registersCheck(context: BoardContext, session: Session): Check {
  const { profile, boardPort } = context.config;
  return {
    id: 'board-setup',
    title: 'Set-up of the board',
    mostS: 20,
    async run() {
      if (!session.works) return [noBoard];
      if (profile.setup.length === 0) return [ok('the profile sets nothing up')];
      const bus = await openBus(boardPort, context.ports);
      try {
        const findings: Finding[] = [];
        for (const rule of profile.setup) {
          const unit = profile.units[rule.unit]?.address ?? 0;
          const request = {
            kind: 'readRegisters',
            unit,
            function: 3,
            first: rule.first,
            count: rule.count,
          } as const;
          const result = await bus.ask(request);
          const where = `${formatRequest(request)} (${rule.meaning})`;
          if (result.kind === 'ok')
            findings.push(
              result.values.every((value) => value === rule.value)
                ? ok(`${where} is ${rule.value}`)
                : warning(
                    `${where} is ${result.values.join(' ')}, not ${rule.value}`,
                    'The agent writes it at its next start.',
                  ),
            );
          else if (result.kind === 'exception' && rule.optional)
            findings.push(ok(`${where}: this board has no such registers`));
          else
            findings.push(
              fault(
                `${where}: ${result.kind === 'exception' ? formatException(result.code) : 'no good answer'}`,
                'Until it can be read, an input may switch a relay inside the board.',
              ),
            );
        }
        return findings;
      } finally {
        await bus.close();
      }
    },
  };
}

/** Every signal of the profile as text. */
async function readSignals(bus: Bus, profile: BoardProfile): Promise<readonly string[]> {
  const words: string[] = [];
  let life: boolean | null = null;
  const rank = (name: string): number => Number(name !== profile.life?.poll);
  const polls = Object.entries(profile.polls).sort(([one], [other]) => rank(one) - rank(other));
  for (const [name, poll] of polls) {
    const request = pollRequest(profile, poll);
    const result = request === null ? null : await bus.ask(request);
    const values = result?.kind === 'ok' ? result.values : null;
    for (const sight of sightsOf(profile, name, { values, life }))
      words.push(
        `${sight.input} ${sight.reading}${sight.raw.off === undefined ? '' : ` (${rawText(sight)})`}`,
      );
    life = lifeAfter(profile, name, { values, life });
    for (const output of decodePoll(profile, name, { values, atMs: 0 })) {
      if (output.kind === 'analogs')
        for (const [analog, value] of Object.entries(output.values))
          words.push(
            `${analog} ${typeof value === 'number' ? String(Math.round(value * 1000) / 1000) : 'outside of its range'}`,
          );
      if (output.kind === 'relays')
        for (const [relay, isOn] of Object.entries(output.values))
          words.push(
            `relay ${relay} ${isOn === null || isOn === undefined ? 'unknown' : isOn ? 'energised' : 'de-energised'}`,
          );
    }
  }
  return words;
}

function signalsCheck(context: BoardContext, session: Session): Check {
  return {
    id: 'inputs',
    title: 'Inputs now',
    mostS: 20,
    async run() {
      if (!session.works) return [noBoard];
      const { profile, boardPort } = context.config;
      const bus = await openBus(boardPort, context.ports);
      try {
        const seen = (await readSignals(bus, profile)).join(', ');
        const hasUnknown = /unknown|outside|life off/.test(seen);
        return [
          hasUnknown
            ? warning(seen, 'What is unknown or out of range: check its wire and its table.')
            : ok(seen),
          ...(profile.inputs.ignition === undefined
            ? [warning('no ignition input is fitted', 'Without it an engine is never cut: wire it.')]
            : []),
        ];
      } finally {
        await bus.close();
      }
    },
  };
}

function panicCheck({ config }: BoardContext): Check {
  return {
    id: 'panic',
    title: 'Panic button',
    mostS: 5,
    async run() {
      const { profile } = config;
      if (profile.inputs.panic === undefined)
        return [warning('no panic button is fitted', 'Wire one, or leave it.')];
      const gapMs = Math.ceil(worstSampleGapMs(profile, 'panic'));
      const words = `a press of ${gapMs} ms or longer is always seen`;
      return [
        gapMs > 50
          ? warning(words, 'For a press of 50 ms set board and profile to 38400 baud or more.')
          : ok(words),
      ];
    },
  };
}

/** In the order in which one needs the other. */
export function boardChecks(context: BoardContext): readonly Check[] {
  const session: Session = { works: false };
  return [
    findCheck(context, session),
    registersCheck(context, session),
    signalsCheck(context, session),
    panicCheck(context),
  ];
}
