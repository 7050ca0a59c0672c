// The words of cut: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ApprovalTexts, CutTexts } from './en.ts';

export const cutWords = wordSet<{ readonly cut: CutTexts; readonly approvals: ApprovalTexts }>({
  en: () => import('./en.ts'),
  fr: () => import('./fr.ts'),
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  ar: () => import('./ar.ts'),
});
