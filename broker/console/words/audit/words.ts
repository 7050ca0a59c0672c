// The words of the audit log: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { AuditTexts } from './en.ts';

export const auditWords = wordSet<AuditTexts>({
  en: async () => (await import('./en.ts')).auditTexts,
  fr: async () => (await import('./fr.ts')).auditTexts,
  de: async () => (await import('./de.ts')).auditTexts,
  es: async () => (await import('./es.ts')).auditTexts,
  ar: async () => (await import('./ar.ts')).auditTexts,
});
