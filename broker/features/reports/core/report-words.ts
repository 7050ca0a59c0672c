// The words of mails with reports in every language: those of their tables, as the console has them, and those of the mails. Pure.
import { codesWords } from '../../../../build/words/codes.ts';
import type { MailTexts } from '../../../../build/words/mail/en.ts';
import { mailWords } from '../../../../build/words/mail.ts';
import { recordsWords } from '../../../../build/words/records.ts';
import { tablesWords } from '../../../../build/words/tables.ts';
import type { ColumnID, ReportKind } from '../../../../src/core/reports/columns.ts';
import type { CutReason } from '../../../../src/core/reports/order-reason.ts';
import type { DecisionState } from '../../../../src/core/reports/rows.ts';
import type { TableWords } from '../../../../src/core/reports/table.ts';
import type { Language } from '../../../../src/core/words/languages.ts';

export interface ReportWords {
  readonly mail: MailTexts;
  readonly table: TableWords;
  readonly kinds: Readonly<Record<ReportKind, string>>;
}

/** Each name of the service has a text. */
interface Tables {
  readonly reportKinds: Readonly<Record<ReportKind, string>>;
  readonly reportColumns: Readonly<Record<ColumnID, string>>;
  readonly decisions: Readonly<Record<DecisionState, string>>;
  readonly cutReasons: Readonly<Record<CutReason, string>>;
}

function wordsOf(language: Language): ReportWords {
  const tables: Tables = tablesWords[language];
  const { reportKinds: kinds, reportColumns: columns, decisions, cutReasons } = tables;
  const codes = codesWords[language];
  return {
    mail: mailWords[language],
    kinds,
    table: { columns, decisions, cutReasons, codes, ...recordsWords[language] },
  };
}

export const reportWords: Readonly<Record<Language, ReportWords>> = {
  en: wordsOf('en'),
  fr: wordsOf('fr'),
  de: wordsOf('de'),
  es: wordsOf('es'),
  ar: wordsOf('ar'),
};
