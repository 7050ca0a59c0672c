// The types of the RTU master: jobs, results, inputs, outputs, options and state, with defaults. The rules are in
// `rtu-master.ts`. A result must always show whether a write may have been carried out.
import type { InvalidReason, ModbusRequest } from './modbus-frame.ts';
import type { RtuTiming, RtuUnit } from './rtu-unit.ts';

/** In this order; first in, first out within one. */
export type RtuPriority = 'relay' | 'poll' | 'config';

export interface RtuJob {
  readonly id: number;
  readonly priority: RtuPriority;
  readonly request: ModbusRequest;
  /** Not sent after this moment: the result is then `expired`. */
  readonly deadlineMs?: number;
  /** Sent only while the unit answered the exchange before; else not sent at all: the result is then `unanswered`. */
  readonly needsAnswer?: boolean;
  /**
   * Sent as soon as no other exchange is under way, whatever the line does: a write to a safe state waits for neither silence nor answers.
   * What it changes must not depend on its answer.
   */
  readonly isBlind?: boolean;
  /**
   * The result may wait until this moment, when the caller wakes anyway; without it, it comes once the line is
   * silent.
   */
  readonly resultByMs?: number;
}

export type RtuFault = 'timeout' | 'linkDown' | InvalidReason | 'cut';

export type RtuResult =
  | { readonly kind: 'ok'; readonly values: readonly number[] }
  | { readonly kind: 'exception'; readonly code: number }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'invalid'; readonly reason: InvalidReason | 'cut' }
  /** A write was sent without a good answer: it may or may not have been carried out. Read back first. */
  | { readonly kind: 'unknown'; readonly reason: RtuFault }
  | { readonly kind: 'linkDown' }
  | { readonly kind: 'queueFull' }
  | { readonly kind: 'expired' }
  /** Not sent: the unit failed to answer the exchange before. */
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'refused'; readonly reason: string };

export type RtuInput =
  | { readonly kind: 'submit'; readonly job: RtuJob; readonly atMs: number }
  /** Forgets a job that has not been sent; without effect on one that has. No result follows. */
  | { readonly kind: 'cancel'; readonly id: number; readonly atMs: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly atMs: number }
  | { readonly kind: 'time'; readonly atMs: number }
  | { readonly kind: 'up' | 'down'; readonly atMs: number };

export type RtuOutput =
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
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
  /** A bus that babbles without end is asked again after this long. */
  readonly silenceCeilingMs: number;
  /** Whether the adapter echoes its own request; `auto` detects it on reads, which are always first. */
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
      /** Bytes that arrived since the last exchange. */
      readonly noiseBytes: number;
    }
  | {
      readonly kind: 'waiting';
      readonly exchange: RtuExchange;
      readonly timeoutAtMs: number;
      readonly received: RtuReceived;
    }
  /** A whole answer is here; it counts once the line falls silent (SL 2.5.1.1: silence ends a frame), or babbles until the time-out. */
  | {
      readonly kind: 'settling';
      readonly exchange: RtuExchange;
      readonly timeoutAtMs: number;
      readonly received: RtuReceived;
      readonly result: RtuResult;
      readonly untilMs: number;
    };

/** What arrived since a request was sent. */
export interface RtuReceived {
  /** The newest of it. */
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
  /** The last unanswered request, and the bytes received since: they show how late the answer is. */
  readonly late: { readonly exchange: RtuExchange; readonly bytes: Uint8Array } | null;
  readonly counters: RtuCounters;
  /** When a `time` input is due; null when only bytes or a job can change anything. */
  readonly wakeAtMs: number | null;
}
