// Check of this machine's clocks: whether a service sets the time, and whether the battery-backed clock agrees. The
// differences to GNSS and to the broker are reported with those checks.
import { type Check, type Finding, fault, ok, warning } from './check.ts';
import type { DoctorPorts } from './ports.ts';

const apartMostS = 5;

/** @param earliestUtcMs no real clock shows an earlier time. */
export function clockCheck(earliestUtcMs: number, { clock, machine }: DoctorPorts): Check {
  return {
    id: 'clock',
    title: 'Clock of this machine',
    mostS: 10,
    async run() {
      const utcMs = clock.utcMs();
      const shown = new Date(utcMs).toISOString().slice(0, 19);
      const findings: Finding[] = [];
      const isSynchronised = machine.isTimeSynchronised();
      if (utcMs < earliestUtcMs)
        findings.push(
          fault(
            `it shows ${shown} UTC, which is before this release was made`,
            'Set it (timedatectl), or let it be set by the network: mqtts:// refuses certificates until then.',
          ),
        );
      else if (isSynchronised === false)
        findings.push(
          warning(
            `it shows ${shown} UTC and is not set by the network (yet)`,
            'Events get their time from GNSS or the broker; that is enough.',
          ),
        );
      else
        findings.push(
          ok(
            `it shows ${shown} UTC${isSynchronised === true ? ', set by the network' : '; unknown whether a time service sets it'}`,
          ),
        );
      const hardwareMs = machine.hardwareClockMs();
      if (hardwareMs === null) {
        findings.push(
          ok(
            'there is no battery-backed clock: after a power cut the time comes from GNSS, the network or the broker',
          ),
        );
        return findings;
      }
      const apartS = Math.round((hardwareMs - utcMs) / 1000);
      findings.push(
        Math.abs(apartS) > apartMostS
          ? warning(
              `the battery-backed clock differs by ${apartS} s`,
              'Its battery may be empty; set it: hwclock --systohc.',
            )
          : ok('the battery-backed clock agrees'),
      );
      return findings;
    },
  };
}
