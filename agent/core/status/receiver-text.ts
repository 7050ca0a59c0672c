// Findings about the receiver in words, for status and doctor.
import type { ReceiverFinding } from '../gnss/receiver-facts.ts';

/** What is wrong, and what to do about it. */
export function receiverText(finding: ReceiverFinding): { readonly words: string; readonly todo: string } {
  switch (finding.kind) {
    case 'unusable':
      return {
        words: `${finding.count} ${finding.count === 1 ? 'sentence' : 'sentences'} with a right checksum could not be used, such as ${finding.example}`,
        todo: 'Set the receiver to plain NMEA 0183 (coordinates as ddmm.mm and dddmm.mm), or update its firmware. The antenna is not the reason.',
      };
    case 'rolled_over':
      return {
        words: 'the date of the receiver is years behind (week roll-over): standstill is never proven by it',
        todo: 'Update or replace the receiver. The time of this machine is right; leave it.',
      };
    case 'no_rmc_speed':
      return {
        words: 'the receiver gives no RMC with a speed, or seldom',
        todo: 'Switch RMC on, as often as GGA: without it standstill is never proven by GNSS.',
      };
    case 'no_hdop':
      return {
        words: 'most positions come without an HDOP',
        todo: 'Let the receiver send GGA (or GSA) as often as RMC: without an HDOP standstill is never proven by GNSS.',
      };
    case 'slow':
      return {
        words: `a position comes every ${finding.everyS} s only`,
        todo: 'Set the receiver to one position a second: one every 2 s is the slowest that proves standstill.',
      };
  }
}
