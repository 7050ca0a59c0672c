// Check of all clocks, after those of receiver and broker: which of them is wrong is one decision. Whether a service sets the time, and
// whether the battery-backed clock agrees.
import { clockText } from '../core/clock-verdict.ts';
import { type Check, type Finding, fault, ok, warning } from './check.ts';
import type { DoctorPorts } from './ports.ts';
import { clockFindings, type Sightings } from './sightings.ts';

const apartMostS = 5;

/** @param earliestUtcMs no real clock shows an earlier time. */
export function clockCheck(
  earliestUtcMs: number,
  sightings: Sightings,
  { clock, machine }: DoctorPorts,
): Check {
  return {
    id: 'clock',
    title: 'Clocks',
    mostS: 10,
    async run() {
      const utcMs = clock.utcMs();
      const shown = new Date(utcMs).toISOString().slice(0, 19);
      const findings: Finding[] = [];
      const isSynchronised = machine.isTimeSynchronised();
      const clocks = clockFindings(sightings, { utcMs, earliestUtcMs });
      const agree = clocks.find((one) => one.kind === 'agree');
      const isConfirmed = agree?.clocks.includes('machine') === true;
      const isSet = isSynchronised === true ? ', set by the network' : '';
      if (!clocks.some(({ kind }) => kind === 'machine_early'))
        findings.push(
          isSynchronised === false && !isConfirmed
            ? warning(
                `this machine shows ${shown} UTC and is not set by the network (yet)`,
                'Events get their time from GNSS or the broker; that is enough.',
              )
            : ok(`this machine shows ${shown} UTC${isSet}`),
        );
      for (const finding of clocks) {
        const { words, todo } = clockText(finding);
        if (finding.kind === 'agree') findings.push(ok(words));
        else
          findings.push(
            finding.kind === 'machine_early'
              ? fault(`${words}: it shows ${shown} UTC`, todo)
              : warning(words, todo),
          );
      }
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
