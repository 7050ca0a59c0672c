// The words of cuts and unlocks: what imports this is loaded with them, in the language of the page.
import type { OrdersTexts } from '../orders/en.ts';
import { wordSet } from '../word-set.ts';
import type { ApprovalTexts, CodeTexts, CutLimitTexts, OrderTexts } from './en.ts';

interface CutTexts {
  /** The same for every relay. */
  readonly order: OrderTexts;
  readonly cutLimits: CutLimitTexts;
  readonly code: CodeTexts;
  readonly approvals: ApprovalTexts;
}

const joined = async (
  texts: Promise<CutTexts>,
  byRelay: Promise<{ readonly orders: OrdersTexts }>,
): Promise<CutTexts & { readonly orders: OrdersTexts }> => ({ ...(await texts), ...(await byRelay) });

export const cutWords = wordSet({
  en: () => joined(import('./en.ts'), import('../orders/en.ts')),
  fr: () => joined(import('./fr.ts'), import('../orders/fr.ts')),
  de: () => joined(import('./de.ts'), import('../orders/de.ts')),
  es: () => joined(import('./es.ts'), import('../orders/es.ts')),
  ar: () => joined(import('./ar.ts'), import('../orders/ar.ts')),
});
