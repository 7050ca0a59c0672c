// Reads the rows of a report as the console shows it. The operations read the same records, so it is made beside them.
import type { ReportRow } from '../../../src/core/reports/rows.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { MailedKind } from './core/report-schedule.ts';

export interface ReportQuestion {
  readonly kind: MailedKind;
  /** Whose devices may be read. */
  readonly scope: Scope;
  /** Devices that it is about, within the scope. */
  readonly deviceIDs: readonly string[];
  /** Epoch seconds, both included. */
  readonly period: { readonly fromS: number; readonly toS: number };
}

export interface ReportAnswer {
  readonly rows: readonly ReportRow[];
  /** There are more rows than a report may have. */
  readonly isCapped: boolean;
}

export interface ReportReader {
  /** @throws AppError `throttled` when too many reports of the account are under way; what `until` aborts with. */
  read(question: ReportQuestion, until: AbortSignal): Promise<ReportAnswer>;
}
