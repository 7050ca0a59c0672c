// Brokers as processes of their own on one PostgreSQL database, and the cluster in front of them: it delivers what devices send to
// one of those that run, again to another when that one ends before it answers, and takes what leaves for devices.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import type { UplinkVerb } from '../../../src/core/wire/topics.ts';

const script = fileURLToPath(new URL('./bridge-child.mjs', import.meta.url));

type Said =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'taken' | 'refused'; readonly no: number }
  | { readonly kind: 'downlink'; readonly user: string; readonly verb: string; readonly text: string }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> };

export interface Bridge {
  readonly port: number;
  readonly lines: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface Downlinked {
  readonly user: string;
  readonly verb: string;
  readonly text: string;
}

interface Waiting {
  readonly device: DeviceRef;
  readonly verb: UplinkVerb;
  readonly payload: string;
  by: ChildProcess | null;
  done(): void;
}

/** What does not reach a process that was just killed is delivered again when its exit is known: see `redeliver`. */
function send(child: ChildProcess | undefined, message: object): void {
  if (child?.connected === true) child.send(message, () => {});
}

/** @param onDownlink what leaves for devices. */
export function createBridges(
  of: { readonly url: string; readonly privatePem: string },
  onDownlink: (message: Downlinked) => void,
) {
  const running: ChildProcess[] = [];
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let turn = 0;
  const deliver = (no: number, message: Waiting): void => {
    turn += 1;
    const child = running[turn % Math.max(1, running.length)];
    message.by = child ?? null;
    const { device, verb, payload } = message;
    send(child, { no, device, verb, payload });
  };
  const redeliver = (): void => {
    for (const [no, message] of waiting)
      if (message.by === null || !running.includes(message.by)) deliver(no, message);
  };
  const handleReport = (said: Said): void => {
    if (said.kind === 'downlink') onDownlink(said);
    const message = said.kind === 'taken' || said.kind === 'refused' ? waiting.get(said.no) : undefined;
    if (message === undefined || !('no' in said)) return;
    if (said.kind === 'refused') return void setTimeout(() => deliver(said.no, message), 50);
    waiting.delete(said.no);
    message.done();
  };
  return {
    /** Resolves when one of them has it on disk, whatever becomes of the others. */
    send(device: DeviceRef, verb: UplinkVerb, text: string): Promise<void> {
      last += 1;
      const no = last;
      return new Promise((done) => {
        const message = { device, verb, payload: Buffer.from(text).toString('base64'), by: null, done };
        waiting.set(no, message);
        deliver(no, message);
      });
    },
    async start(): Promise<Bridge> {
      const child = fork(script, [of.url, of.privatePem], { stdio: 'inherit' });
      const lines: Bridge['lines'] = [];
      const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
      const port = await new Promise<number>((resolve, reject) => {
        child.once('exit', () => reject(new Error('the broker did not start')));
        child.on('message', (said: Said) => {
          if (said.kind === 'ready') resolve(said.port);
          else if (said.kind === 'log') lines.push(said);
          else handleReport(said);
        });
      });
      running.push(child);
      redeliver();
      const leave = async (how: () => void): Promise<void> => {
        how();
        await gone;
        running.splice(running.indexOf(child), 1);
        redeliver();
      };
      return {
        port,
        lines,
        kill: () => leave(() => child.kill('SIGKILL')),
        stop: () => leave(() => send(child, { stop: true })),
      };
    },
  };
}
