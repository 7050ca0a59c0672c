// The shape of a fault: one edit of the compiled program.
import type { BreachKind } from '../../../simulator/core/ledger/ledger-types.ts';

export interface TruthMutant {
  /** What is wrong, as an operator would say it. */
  readonly fault: string;
  readonly side: 'broker' | 'agent';
  /** In `dist`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly put: string;
  /** The run names at least one of them; `threshold`: it fails by a threshold. None where the exercise of all operations finds the fault. */
  readonly found: readonly (BreachKind | 'threshold')[];
  /** A scenario beside this file that finds it; absent: the preset `smoke`; `operations`: no run, but the exercise of all operations. */
  readonly scenario?: 'operations' | 'restart' | 'cluster' | 'bus';
  /** What the run must also meet, where the scenario asks for no speed. */
  readonly threshold?: string;
}

export const broker = (mutant: Omit<TruthMutant, 'side'>): TruthMutant => ({ ...mutant, side: 'broker' });
export const agent = (mutant: Omit<TruthMutant, 'side'>): TruthMutant => ({ ...mutant, side: 'agent' });
