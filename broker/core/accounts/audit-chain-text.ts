// Sentences for faults of the audit chain, for the command line.
import type { ChainFaultReason } from './audit-chain.ts';

export const chainFaultTexts: Readonly<Record<ChainFaultReason, string>> = {
  doubled: 'two rows hold this place',
  missing: 'a row is missing here',
  unlinked: 'it does not follow from the row before it',
  detail_changed: 'its detail was changed',
  changed: 'it was changed',
  replaced: 'it is not the row of the saved head',
  cut_off: 'rows up to the saved head are missing',
  head_missing: 'the head of the chain is missing',
};
