// The command `ctl`: reads the state of a running simulation or changes its rate or faults, through the control socket.
import type { Argv } from 'yargs';
import { parseDevices, parseFactor, parseFaultKind, parseSeconds } from '../core/live/control-requests.ts';
import { askControlSocket } from '../run/control-socket.ts';
import { standardSocket } from './run.ts';

interface Given {
  readonly socket: string;
  readonly json: boolean;
}

interface Status {
  readonly [name: string]: unknown;
}

async function request({ socket, json }: Given, body: unknown): Promise<void> {
  const answer = (await askControlSocket(socket, body)) as Status;
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
    .option('devices', { type: 'string', describe: 'range of vehicles such as 1-100; all unless given' })
    .example('$0 ctl rate x2 --devices 1-100', 'twice as many events of trackers, or actions of agents');

const withFault = (command: Argv) =>
  command
    .positional('kind', {
      type: 'string',
      demandOption: true,
      describe: 'a fault kind of scenarios; link- may be left out',
    })
    .option('for', { type: 'string', default: '10s', describe: 'duration: 10s, 500ms, 2m' })
    .option('share', {
      type: 'number',
      default: 1,
      describe: 'share of the fleet, 0 to 1, beginning with the first vehicle',
    })
    .option('delay-ms', { type: 'number', describe: 'of link-delay' })
    .option('loss', { type: 'number', describe: 'of link-loss and board-noise, 0 to 1' })
    .option('scale', { type: 'number', describe: 'of bus-scale, 0.1 to 10' })
    .option('jump-s', { type: 'number', describe: 'of clock-jump' })
    .example('$0 ctl fault outage --for 10s', 'all links are down for ten seconds');

type RateFlags = Given & Awaited<ReturnType<ReturnType<typeof withRate>['parseAsync']>>;
type FaultFlags = Given & Awaited<ReturnType<ReturnType<typeof withFault>['parseAsync']>>;

async function rate(flags: RateFlags): Promise<void> {
  const factor = parseFactor(flags.factor);
  const { devices } = flags;
  if (devices !== undefined) return request(flags, { kind: 'rate', factor, ...parseDevices(devices) });
  const status = (await askControlSocket(flags.socket, { kind: 'status' })) as Status;
  await request(flags, { kind: 'rate', factor, from: 1, to: status['devices'] });
}

async function fault(flags: FaultFlags): Promise<void> {
  const optional = {
    delayMs: flags['delay-ms'],
    loss: flags.loss,
    scale: flags.scale,
    jumpS: flags['jump-s'],
  };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  const { share } = flags;
  const kind = parseFaultKind(flags.kind);
  await request(flags, { kind: 'fault', fault: { kind, forS: parseSeconds(flags.for), share, ...given } });
}

export function withCtl(command: Argv): Argv {
  return command
    .option('socket', { type: 'string', default: standardSocket, describe: 'as given to `run --ctl`' })
    .option('json', { type: 'boolean', default: false, describe: 'print the answer as one line of JSON' })
    .command('status', 'shows the state of the run', withStatus, (flags) =>
      request(flags as unknown as Given, { kind: 'status' }),
    )
    .command('rate <factor>', 'changes the rate of events and actions', withRate, (flags) =>
      rate(flags as RateFlags),
    )
    .command('fault <kind>', 'begins a fault', withFault, (flags) => fault(flags as FaultFlags))
    .demandCommand(1, 'Name a command; --help lists them.');
}
