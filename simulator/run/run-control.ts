// Carries out requests to a running simulation and records each with its time, so that the result names every intervention.
import { AppError } from '../../src/core/errors.ts';
import { type ControlContext, type Intervention, parseRequest } from '../core/live/control-requests.ts';
import type { Progress } from '../core/live/screen.ts';
import { type ControlSocket, openControlSocket } from './control-socket.ts';
import type { FaultSchedule } from './link/fault-schedule.ts';
import type { CommandSender } from './service/command-sender.ts';
import type { Workers } from './workers/workers.ts';

export interface RunControlOptions {
  /** Path of the socket. */
  readonly path: string;
  readonly workers: Pick<Workers, 'instruct'>;
  readonly commandSender: Pick<CommandSender, 'setRate'>;
  readonly faults: Pick<FaultSchedule, 'add'>;
  progress(): Progress;
  /** For a request at this moment. */
  context(): ControlContext;
  print(text: string): void;
}

export interface RunControl {
  readonly interventions: readonly Intervention[];
  close(): Promise<void>;
}

/** A fault begins this much later, so that all processes begin it at the same moment. */
const leadS = 0.5;
const interventionsMost = 1000;

/** Listens. @throws AppError `usage` when the socket cannot be opened. */
export async function startRunControl(options: RunControlOptions): Promise<RunControl> {
  const { workers, commandSender, faults, print } = options;
  const interventions: Intervention[] = [];
  const record = (request: Intervention['request'], atS: number): void => {
    interventions.push({ atS, request });
    print(`ctl: ${JSON.stringify(request)}`);
  };
  const answer = (line: string): unknown => {
    const now = options.context();
    const context: ControlContext = { ...now, atS: now.atS + leadS };
    const request = parseRequest(line, context);
    if (request.kind === 'status') return options.progress();
    if (interventions.length >= interventionsMost)
      throw new AppError('usage', `This run was changed ${interventionsMost} times, which is the limit`);
    record(request, now.atS);
    if (request.kind === 'rate') {
      const { factor, from, to } = request;
      workers.instruct({ kind: 'rate', rate: { factor, from: from - 1, to: to - 1 } });
      if (from === 1 && to === context.scenario.fleet.devices) commandSender.setRate(factor);
      return { rate: factor, from, to };
    }
    const fault = { ...request.fault, atS: context.atS };
    faults.add(fault);
    if (fault.kind !== 'broker-kill') workers.instruct({ kind: 'fault', fault });
    return { fault: fault.kind, atS: Math.round(fault.atS * 10) / 10, forS: fault.forS, share: fault.share };
  };
  const socket: ControlSocket = await openControlSocket(options.path, answer);
  return { interventions, close: () => socket.close() };
}
