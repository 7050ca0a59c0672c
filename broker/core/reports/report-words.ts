// The words of mails with reports in every language: those of their tables, as the console has them, and those of the mails. Pure.
import type { TableWords } from '../../../src/core/reports/table.ts';
import { codes as arCodes } from '../../../src/core/words/codes/ar.ts';
import { codes as deCodes } from '../../../src/core/words/codes/de.ts';
import { codes as enCodes } from '../../../src/core/words/codes/en.ts';
import { codes as esCodes } from '../../../src/core/words/codes/es.ts';
import { codes as frCodes } from '../../../src/core/words/codes/fr.ts';
import type { Language } from '../../../src/core/words/languages.ts';
import * as arRecords from '../../../src/core/words/records/ar.ts';
import * as deRecords from '../../../src/core/words/records/de.ts';
import * as enRecords from '../../../src/core/words/records/en.ts';
import * as esRecords from '../../../src/core/words/records/es.ts';
import * as frRecords from '../../../src/core/words/records/fr.ts';
import * as arReports from '../../../src/core/words/reports/ar.ts';
import * as deReports from '../../../src/core/words/reports/de.ts';
import * as enReports from '../../../src/core/words/reports/en.ts';
import * as esReports from '../../../src/core/words/reports/es.ts';
import * as frReports from '../../../src/core/words/reports/fr.ts';
import { mailWords as arMail } from './words/ar.ts';
import { mailWords as deMail } from './words/de.ts';
import { mailWords as enMail, type MailWords } from './words/en.ts';
import { mailWords as esMail } from './words/es.ts';
import { mailWords as frMail } from './words/fr.ts';

export interface ReportWords {
  readonly mail: MailWords;
  readonly table: TableWords;
  readonly kinds: Readonly<Record<keyof typeof enReports.reportKinds, string>>;
}

function wordsOf(
  mail: MailWords,
  codes: TableWords['codes'],
  { reportKinds: kinds, reportColumns: columns, decisions, cutReasons }: typeof enReports,
  records: Pick<TableWords, 'alarmPriorities' | 'alarmStates' | 'closeReasons' | 'units'>,
): ReportWords {
  const { alarmPriorities, alarmStates, closeReasons, units } = records;
  const table = { columns, decisions, codes, alarmPriorities, alarmStates, closeReasons, cutReasons, units };
  return { mail, kinds, table };
}

export const reportWords: Readonly<Record<Language, ReportWords>> = {
  en: wordsOf(enMail, enCodes, enReports, enRecords),
  fr: wordsOf(frMail, frCodes, frReports, frRecords),
  de: wordsOf(deMail, deCodes, deReports, deRecords),
  es: wordsOf(esMail, esCodes, esReports, esRecords),
  ar: wordsOf(arMail, arCodes, arReports, arRecords),
};
