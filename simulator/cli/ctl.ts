// The command `ctl`: asks a running simulation over its socket for its state, another rate, or a fault.
import type { Argv } from 'yargs';
import { parseDevices, parseFactor, parseFaultKind, parseSeconds } from '../core/control.ts';
import { askControlSocket } from '../run/control-socket.ts';
import { standardSocket } from './run.ts';

interface Given {
  readonly socket: string;
  readonly json: boolean;
}

interface Status {
  readonly [name: string]: unknown;
}

async function tell({ socket, json }: Given, request: unknown): Promise<void> {
  const answer = (await askControlSocket(socket, request)) as Status;
  if (json) return void process.stdout.write(`${JSON.stringify(answer)}\n`);
  const lines = Object.entries(answer).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(' ') || 'none' : String(value);
    return `${name.padEnd(14)} ${text}`;
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

const withStatus = (command: Argv) => command.example('$0 ctl status --json', 'for programs');

const withRate = (command: Argv) =>
  command
    .positional('factor', { type: 'string', demandOption: true, describe: 'x2, x0.5, x0' })
    .option('devices', { type: 'string', describe: 'numbers of vehicles, 1-100; all unless given' })
    .example('$0 ctl rate x2 --devices 1-100', 'twice as many events of trackers, or deeds of agents');

const withFault = (command: Argv) =>
  command
    .positional('kind', {
      type: 'string',
      demandOption: true,
      describe: 'as in a scenario; link- may be left out',
    })
    .option('for', { type: 'string', default: '10s', describe: 'how long: 10s, 500ms, 2m' })
    .option('share', { type: 'number', default: 1, describe: 'part of the fleet, the first vehicles first' })
    .option('delay-ms', { type: 'number', describe: 'of link-delay' })
    .option('loss', { type: 'number', describe: 'of link-loss and board-noise, 0 to 1' })
    .option('jump-s', { type: 'number', describe: 'of clock-jump' })
    .example('$0 ctl fault outage --for 10s', 'all links are out for ten seconds');

type RateFlags = Given & Awaited<ReturnType<ReturnType<typeof withRate>['parseAsync']>>;
type FaultFlags = Given & Awaited<ReturnType<ReturnType<typeof withFault>['parseAsync']>>;

async function rate(flags: RateFlags): Promise<void> {
  const factor = parseFactor(flags.factor);
  const { devices } = flags;
  if (devices !== undefined) return tell(flags, { kind: 'rate', factor, ...parseDevices(devices) });
  const status = (await askControlSocket(flags.socket, { kind: 'status' })) as Status;
  await tell(flags, { kind: 'rate', factor, from: 1, to: status['devices'] });
}

async function fault(flags: FaultFlags): Promise<void> {
  const optional = { delayMs: flags['delay-ms'], loss: flags.loss, jumpS: flags['jump-s'] };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  const { share } = flags;
  const kind = parseFaultKind(flags.kind);
  await tell(flags, { kind: 'fault', fault: { kind, forS: parseSeconds(flags.for), share, ...given } });
}

export function withCtl(command: Argv): Argv {
  return command
    .option('socket', { type: 'string', default: standardSocket, describe: 'as given to `run --ctl`' })
    .option('json', { type: 'boolean', default: false, describe: 'the answer as one line of JSON' })
    .command('status', 'what goes on', withStatus, (flags) =>
      tell(flags as unknown as Given, { kind: 'status' }),
    )
    .command('rate <factor>', 'more or fewer events and deeds', withRate, (flags) => rate(flags as RateFlags))
    .command('fault <kind>', 'something goes wrong', withFault, (flags) => fault(flags as FaultFlags))
    .demandCommand(1, 'Name what to do; --help lists it.');
}
