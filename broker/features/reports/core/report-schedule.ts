// A report schedule: what is mailed, when, and to whom; its limits, and why one ends or fails. Pure.
import { reportKinds } from '../../../../src/core/reports/columns.ts';
import type { Language } from '../../../../src/core/words/languages.ts';
import type { Recurrence, ReportPeriod } from '../../../core/reports/due-times.ts';

/** Reports of events need a kind of event and are read on the screen. */
export const mailedKinds = reportKinds.filter((kind) => kind !== 'events');
export type MailedKind = (typeof mailedKinds)[number];

export const scheduleLimits = {
  ofAccount: 50,
  recipients: 10,
  devices: 50,
  groups: 20,
  /** As many as a report of the console has. */
  rows: 10_000,
  /** Of an attached file. */
  fileBytes: 4 * 1024 * 1024,
  /** Time for the reading of one report. */
  readingMs: 15 * 60_000,
  /** How long a due report that cannot be read is tried again. */
  tryMs: 24 * 3_600_000,
  /** Content of a mail that is kept, so that deliveries can be tried again. */
  contentDays: 3,
  mailDays: 31,
} as const;

/** Members of a schedule that users set. */
export interface ScheduleDefinition {
  readonly displayName: string;
  readonly isActive: boolean;
  readonly kind: MailedKind;
  /** Ids; with no groups either: every vehicle that the owner sees. */
  readonly devices: readonly string[];
  readonly groups: readonly string[];
  readonly period: ReportPeriod;
  readonly recurrence: Recurrence;
  readonly language: Language;
  readonly recipients: readonly string[];
}

/** Why a schedule was stopped by the service: its owner has to save it again. */
export const stopReasons = ['owner_gone', 'owner_role', 'vehicles_gone', 'recipients_gone'] as const;
export type StopReason = (typeof stopReasons)[number];

/** Why a due report was not mailed; the next one is tried again. */
export const missReasons = ['no_mail_server', 'too_many', 'not_read'] as const;
export type MissReason = (typeof missReasons)[number];

/** Why no file is attached; empty: one is. */
export type CutReason = '' | 'rows' | 'bytes';
