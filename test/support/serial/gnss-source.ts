// A GNSS receiver at the far end of a pty: plays a capture at its own pace over a 9600 baud line, or stands somewhere
// and says so once a second.
import { openSerialPort } from '../../../agent/adapters/serial-port.ts';
import { formatBurst } from '../../../simulator/hardware/gnss-sentences.ts';
import type { ByteLink } from '../../../src/ports.ts';
import { serial, sleep } from './pty-bus.ts';

export interface GnssSource {
  play(capture: Uint8Array): Promise<void>;
  /** From now on: standing here, at the present time. */
  stand(latitude: number, longitude: number): void;
  close(): Promise<void>;
}

const bytesPerMs = 9600 / 10 / 1000;

/** Seconds of the day in a line that opens an epoch; null in others. */
function epochSeconds(line: string): number | null {
  const match = /^\$..(?:RMC|GGA),(\d\d)(\d\d)(\d\d(?:\.\d+)?),/.exec(line);
  return match === null ? null : Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3]);
}

/** Some 20 cm. */
const wanderDeg = 2e-6;

export async function openGnssSource(path: string): Promise<GnssSource> {
  const link: ByteLink = await openSerialPort(serial(path), {
    onBytes: () => undefined,
    onDown: () => undefined,
  });
  let place: { latitude: number; longitude: number } | null = null;
  let bursts = 0;
  const timer = setInterval(() => {
    if (place === null) return;
    // No receiver measures the same twice for long: one that did would count as frozen, and one whose place stays as held.
    bursts += 1;
    const latitude = place.latitude + (bursts % 5) * wanderDeg;
    const truth = { ...place, latitude, altitudeM: 120 + (bursts % 7) / 10, speedKmh: 0, headingDeg: 0 };
    const seen = {
      ...truth,
      utcMs: Date.now(),
      isValid: true,
      satellites: 9,
      satellitesInView: 12,
      hdop: 0.9,
    };
    link.write(new TextEncoder().encode(formatBurst(seen, 'GP', [])));
  }, 1000);
  return {
    async play(capture) {
      const lines = new TextDecoder('latin1').decode(capture).split(/(?<=\n)/);
      const startMs = performance.now();
      let first: number | null = null;
      let wireMs = 0;
      for (const line of lines) {
        const seconds = epochSeconds(line);
        if (seconds !== null) first ??= seconds;
        const dueMs = seconds === null || first === null ? 0 : (seconds - first) * 1000;
        wireMs = Math.max(wireMs, dueMs) + line.length / bytesPerMs;
        await sleep(Math.max(0, startMs + wireMs - performance.now()));
        link.write(new TextEncoder().encode(line));
      }
    },
    stand(latitude, longitude) {
      place = { latitude, longitude };
    },
    async close() {
      clearInterval(timer);
      await link.close();
    },
  };
}
