// Does what people ask of a running simulation, and writes down what was done and when: a result that was meddled with must say so.
import { AppError } from '../../src/core/errors.ts';
import { type ControlContext, type Intervention, parseRequest } from '../core/control.ts';
import type { Progress } from '../core/screen.ts';
import type { Commander } from './commands.ts';
import { type ControlSocket, openControlSocket } from './control-socket.ts';
import type { FaultSchedule } from './faults.ts';
import type { Parts } from './parts.ts';

export interface SteeringOptions {
  /** Of the socket. */
  readonly path: string;
  readonly parts: Pick<Parts, 'order'>;
  readonly commander: Pick<Commander, 'setRate'>;
  readonly faults: Pick<FaultSchedule, 'add'>;
  look(): Progress;
  /** As it would be for a request now. */
  context(): ControlContext;
  say(text: string): void;
}

export interface Steering {
  readonly interventions: readonly Intervention[];
  close(): Promise<void>;
}

/** A fault begins this much later, so that all processes begin it together. */
const leadS = 0.5;
const interventionsMost = 1000;

/** Listens. @throws AppError `usage` when the socket cannot be opened. */
export async function steer(options: SteeringOptions): Promise<Steering> {
  const { parts, commander, faults, say } = options;
  const interventions: Intervention[] = [];
  const note = (request: Intervention['request'], atS: number): void => {
    interventions.push({ atS, request });
    say(`ctl: ${JSON.stringify(request)}`);
  };
  const answer = (line: string): unknown => {
    const now = options.context();
    const context: ControlContext = { ...now, atS: now.atS + leadS };
    const request = parseRequest(line, context);
    if (request.kind === 'status') return options.look();
    if (interventions.length >= interventionsMost)
      throw new AppError('usage', `This run was changed ${interventionsMost} times already`);
    note(request, now.atS);
    if (request.kind === 'rate') {
      const { factor, from, to } = request;
      parts.order({ kind: 'rate', rate: { factor, from: from - 1, to: to - 1 } });
      if (from === 1 && to === context.scenario.fleet.devices) commander.setRate(factor);
      return { rate: factor, from, to };
    }
    const fault = { ...request.fault, atS: context.atS };
    faults.add(fault);
    if (fault.kind !== 'broker-kill') parts.order({ kind: 'fault', fault });
    return { fault: fault.kind, atS: Math.round(fault.atS * 10) / 10, forS: fault.forS, share: fault.share };
  };
  const socket: ControlSocket = await openControlSocket(options.path, answer);
  return { interventions, close: () => socket.close() };
}
