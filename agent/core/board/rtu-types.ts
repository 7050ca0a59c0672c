// Types of the RTU master: jobs, results, inputs, outputs, options and state, with defaults. The rules are in `rtu-master.ts`. A result must always
// show whether a write may have been carried out.
import type { Permit } from '../../guard/guard.ts';
import type { InvalidReason, ModbusRequest } from './modbus-frame.ts';
import type { RtuTiming, RtuUnit } from './rtu-unit.ts';

/** Highest priority first; first in, first out within one. */
export type RtuPriority = 'relay' | 'poll' | 'config';

export interface RtuJob {
  readonly id: number;
  readonly priority: RtuPriority;
  readonly request: ModbusRequest;
  /** Monotonic time after which it is not sent, ms; the result is then `expired`. */
  readonly deadlineMs?: number;
  /** Sent only if the unit answered the exchange before. Otherwise it is not sent and the result is `unanswered`. */
  readonly needsAnswer?: boolean;
  /**
   * Sent as soon as no other exchange is in progress, in any state of the line: a write to a safe state waits for neither silence nor answers. Its
   * effect must not depend on its answer.
   */
  readonly isBlind?: boolean;
  /** Monotonic time until which it is not asked for again, because the relay guard refused it, ms. */
  readonly heldUntilMs?: number;
  /** Monotonic time until which the result may wait, because the caller wakes then anyway, ms; absent: it comes once the line is silent. */
  readonly resultByMs?: number;
}

export type RtuFault = 'timeout' | 'linkDown' | InvalidReason | 'cut';

export type RtuResult =
  | { readonly kind: 'ok'; readonly values: readonly number[] }
  | { readonly kind: 'exception'; readonly code: number }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'invalid'; readonly reason: InvalidReason | 'cut' }
  /** A write was sent without a good answer and may have been carried out. Read back first. */
  | { readonly kind: 'unknown'; readonly reason: RtuFault }
  | { readonly kind: 'linkDown' }
  | { readonly kind: 'queueFull' }
  | { readonly kind: 'expired' }
  /** Not sent: the unit failed to answer the exchange before. */
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'refused'; readonly reason: string };

export type RtuInput =
  | { readonly kind: 'submit'; readonly job: RtuJob; readonly atMs: number }
  /** Drops a job that was not sent, without a result; no effect on one that was. */
  | { readonly kind: 'cancel'; readonly id: number; readonly atMs: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly atMs: number }
  | { readonly kind: 'time'; readonly atMs: number }
  | { readonly kind: 'up' | 'down'; readonly atMs: number };

/** Asks the relay guard for a frame; null: it must not be sent now. */
export type AskPermit = (request: ModbusRequest) => Permit<ModbusRequest> | null;

export type RtuOutput =
  | { readonly kind: 'write'; readonly bytes: Uint8Array; readonly permit: Permit<ModbusRequest> }
  | { readonly kind: 'done'; readonly id: number; readonly result: RtuResult };

export interface RtuCounters {
  readonly requests: number;
  readonly answers: number;
  readonly timeouts: number;
  readonly cut: number;
  readonly crc: number;
  readonly wrongUnit: number;
  readonly wrongFunction: number;
  readonly wrongLength: number;
  readonly wrongEcho: number;
  readonly tooLong: number;
  readonly exceptions: number;
  readonly noiseBytes: number;
  readonly lateAnswers: number;
}

export interface RtuMasterOptions extends RtuTiming {
  readonly baudRate: number;
  /** Start, data, parity and stop bits together: 10 for 8N1, 11 for 8E1. */
  readonly bitsPerChar: number;
  readonly queueLimit: number;
  /** Time after which a bus that never falls silent is asked again. */
  readonly silenceCeilingMs: number;
  /** Echo of the adapter; `auto` detects it on reads, which always come first. */
  readonly echo: 'auto' | 'on' | 'off';
}

export const defaultRtuOptions: RtuMasterOptions = {
  baudRate: 9600,
  bitsPerChar: 10,
  queueLimit: 64,
  timeoutMinMs: 150,
  timeoutMaxMs: 700,
  timeoutInitialMs: 300,
  lateGuardMs: 900,
  silenceCeilingMs: 3000,
  echo: 'auto',
};

export interface RtuExchange {
  readonly job: RtuJob;
  readonly sent: Uint8Array;
  readonly sentAtMs: number;
}

export type RtuPhase =
  | { readonly kind: 'down' }
  | {
      readonly kind: 'idle';
      readonly quietUntilMs: number;
      readonly ceilingMs: number;
      /** Number of bytes since the last exchange. */
      readonly noiseBytes: number;
    }
  | {
      readonly kind: 'waiting';
      readonly exchange: RtuExchange;
      readonly timeoutAtMs: number;
      readonly received: RtuReceived;
    }
  /** A whole answer is here. It counts once the line falls silent (SL 2.5.1.1: silence ends a frame), or at the time-out if the line babbles. */
  | {
      readonly kind: 'settling';
      readonly exchange: RtuExchange;
      readonly timeoutAtMs: number;
      readonly received: RtuReceived;
      readonly result: RtuResult;
      readonly untilMs: number;
    };

/** Bytes since a request was sent. */
export interface RtuReceived {
  /** The newest of these bytes. */
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly lastMs: number;
}

export interface RtuMasterState {
  readonly options: RtuMasterOptions;
  readonly phase: RtuPhase;
  readonly queue: readonly RtuJob[];
  /** By address. */
  readonly units: ReadonlyMap<number, RtuUnit>;
  readonly hasEcho: boolean;
  /** Last unanswered request, and the bytes since, which show how late the answer is; null: none. */
  readonly late: { readonly exchange: RtuExchange; readonly bytes: Uint8Array } | null;
  readonly counters: RtuCounters;
  /** Monotonic time at which a `time` input is due, ms; null: only bytes or a job can change anything. */
  readonly wakeAtMs: number | null;
}
