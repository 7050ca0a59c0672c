// So many of something, in words that count rightly: "1 fault", "2 faults". Pure.
import { formatNumber } from './plot-scale.ts';

const nounOf = (count: number, one: string, many: string): string => (count === 1 ? one : many);

/** In plain digits, for logs and terminals. @param many where it is not `one` with an s. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${nounOf(count, one, many)}`;

/** As people read numbers, for pages. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${nounOf(count, one, many)}`;
