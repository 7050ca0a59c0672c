// Facts of the machine and of this process, from Node and from /sys on Linux. A missing fact is null, never an error.
import { readdir, readFile, statfs } from 'node:fs/promises';
import { loadavg, uptime } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { HostFacts } from '../ports.ts';

const mib = 1024 * 1024;
/** Sampling period of the loop delay; each sample is a timer that is this late or later. */
const samplingMs = 500;
/** A sensor that shows anything else is broken or not there. */
const saneC = { low: -60, high: 150 } as const;

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  return work.catch(() => null);
}

/** Temperature of one zone of the kernel's thermal interface (millidegrees in `temp`), or null. */
async function zoneC(path: string): Promise<number | null> {
  const celsius = Number(await readFile(`${path}/temp`, 'utf8')) / 1000;
  return celsius >= saneC.low && celsius <= saneC.high ? celsius : null;
}

/** The hottest zone below `root` (kernel documentation, "thermal/sysfs-api"). */
async function hottestC(root: string): Promise<number | null> {
  const names = (await readdir(root)).filter((name) => name.startsWith('thermal_zone')).slice(0, 32);
  const zones = await Promise.all(names.map((name) => orNull(zoneC(`${root}/${name}`))));
  const known = zones.filter((celsius) => celsius !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/**
 * Facts about the machine that this process runs on.
 * @param folder of the agent's files: the free space of its file system counts.
 * @param thermalRoot folder of the kernel's thermal zones.
 */
export function createHostFacts(folder: string, thermalRoot = '/sys/class/thermal'): HostFacts {
  // Does not keep the process alive.
  const delays = monitorEventLoopDelay({ resolution: samplingMs });
  delays.enable();
  return {
    async read() {
      const [diskSpace, cpuC] = await Promise.all([orNull(statfs(folder)), orNull(hottestC(thermalRoot))]);
      const longestMs = delays.max / 1e6 - samplingMs;
      const loopLagMs = delays.count > 0 ? Math.max(0, longestMs) : null;
      delays.reset();
      return {
        rssMb: process.memoryUsage.rss() / mib,
        loopLagMs,
        diskFreeMb: diskSpace === null ? null : (diskSpace.bavail * diskSpace.bsize) / mib,
        cpuC,
        load: loadavg()[0] ?? null,
        hostUpS: uptime(),
      };
    },
    upMs: () => uptime() * 1000,
  };
}
