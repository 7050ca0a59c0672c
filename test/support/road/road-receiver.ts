// The GNSS receiver of the road world: NMEA 0183 sentences with measured noise, and faults that a test selects.
// Written from the sentence definitions; it must share no code with the agent or the simulator's receiver.
import type { SeededEntropy } from '../../../simulator/core/random.ts';

/**
 * `tunnel`: void, few satellites. `jammed`: void, no satellites. `frozen`: last position with speed 0, time runs on.
 * `doppler-zero`: position follows the truth, speed reads 0. `coarse`: HDOP 4.9, speed reads 2.9 km/h.
 */
export type Reception = 'clear' | 'tunnel' | 'jammed' | 'frozen' | 'doppler-zero' | 'coarse';

export interface RoadReceiver {
  reception: Reception;
  /** Added to the true UTC of every sentence. */
  clockOffsetMs: number;
  /** RMC, GGA, GSA and VTG of one epoch. */
  burst(truth: ReceiverTruth, utcMs: number): string;
}

/** The vehicle drives due east from the start position. */
export interface ReceiverTruth {
  readonly speedKmh: number;
  readonly eastM: number;
}

const start = { latitude: 43.65, longitude: -79.35 };
const metresPerDegree = 111_320;
const noise = { dopplerKmh: 0.2, wanderM: 1.5, wanderTimeS: 60 };
const coarse = { hdop: 4.9, speedKmh: 2.9, wanderM: 5 };
/** Below this speed receivers leave the course empty. */
const courseFromKmh = 2;

interface Epoch {
  readonly time: string;
  readonly date: string;
  readonly satellites: number;
}

interface Fix {
  /** `ddmm.mmmmm,N,dddmm.mmmmm,W` */
  readonly position: string;
  readonly speedKmh: number;
  readonly hdop: number;
}

function sentence(body: string): string {
  const sum = Buffer.from(body).reduce((xor, byte) => xor ^ byte, 0);
  return `$${body}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}

function angle(degrees: number, width: number, letters: string): string {
  const minutesE5 = Math.round(Math.abs(degrees) * 6_000_000);
  const whole = String(Math.floor(minutesE5 / 6_000_000)).padStart(width, '0');
  const minutes = ((minutesE5 % 6_000_000) / 100_000).toFixed(5).padStart(8, '0');
  return `${whole}${minutes},${letters[degrees < 0 ? 1 : 0]}`;
}

function positionText(eastM: number, northM: number): string {
  const latitude = start.latitude + northM / metresPerDegree;
  const scale = metresPerDegree * Math.cos((start.latitude * Math.PI) / 180);
  return `${angle(latitude, 2, 'NS')},${angle(start.longitude + eastM / scale, 3, 'EW')}`;
}

function validBurst(epoch: Epoch, { position, speedKmh, hdop }: Fix): string {
  const { time, date } = epoch;
  const knots = (speedKmh / 1.852).toFixed(3);
  const course = speedKmh >= courseFromKmh ? '90.00' : '';
  const satellites = String(epoch.satellites).padStart(2, '0');
  const used = Array.from({ length: 12 }, (_, at) => (at < epoch.satellites ? String(at + 11) : '')).join();
  return [
    `GPRMC,${time},A,${position},${knots},${course},${date},,,A`,
    `GPGGA,${time},${position},1,${satellites},${hdop.toFixed(2)},104.2,M,-35.6,M,,`,
    `GPGSA,A,3,${used},${(hdop * 1.7).toFixed(2)},${hdop.toFixed(2)},${(hdop * 1.4).toFixed(2)}`,
    `GPVTG,${course},T,,M,${knots},N,${speedKmh.toFixed(3)},K,A`,
  ]
    .map(sentence)
    .join('');
}

function voidBurst({ time, date, satellites }: Epoch): string {
  return [
    `GPRMC,${time},V,,,,,,,${date},,,N`,
    `GPGGA,${time},,,,,0,${String(satellites).padStart(2, '0')},99.99,,,,,,`,
    'GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99',
    'GPVTG,,T,,M,,N,,K,N',
  ]
    .map(sentence)
    .join('');
}

/** Position error in metres: a first-order Gauss-Markov process on each axis. */
function createWander(entropy: SeededEntropy): (elapsedS: number) => readonly [number, number] {
  let [east, north] = [0, 0];
  return (elapsedS) => {
    const kept = Math.exp(-elapsedS / noise.wanderTimeS);
    const added = Math.sqrt(1 - kept * kept);
    east = east * kept + entropy.normal() * added;
    north = north * kept + entropy.normal() * added;
    return [east, north];
  };
}

export function createRoadReceiver(entropy: SeededEntropy): RoadReceiver {
  const wander = createWander(entropy);
  let lastUtcMs: number | null = null;
  let lastPosition = positionText(0, 0);
  const receiver: RoadReceiver = {
    reception: 'clear',
    clockOffsetMs: 0,
    burst(truth, utcMs) {
      const { reception } = receiver;
      const [eastNoise, northNoise] = wander((utcMs - (lastUtcMs ?? 0)) / 1000);
      lastUtcMs = utcMs;
      const shown = new Date(utcMs + receiver.clockOffsetMs).toISOString();
      const time = `${shown.slice(11, 19).replaceAll(':', '')}.00`;
      const date = `${shown.slice(8, 10)}${shown.slice(5, 7)}${shown.slice(2, 4)}`;
      if (reception === 'tunnel') return voidBurst({ time, date, satellites: 2 });
      if (reception === 'jammed') return voidBurst({ time, date, satellites: 0 });
      const hdop = reception === 'coarse' ? coarse.hdop : 0.9 + entropy.fraction() * 0.1;
      const wanderM = reception === 'coarse' ? coarse.wanderM : noise.wanderM;
      if (reception !== 'frozen')
        lastPosition = positionText(truth.eastM + eastNoise * wanderM, northNoise * wanderM);
      const doppler = Math.abs(truth.speedKmh + entropy.normal() * noise.dopplerKmh);
      const speedKmh = { clear: doppler, frozen: 0, 'doppler-zero': 0, coarse: coarse.speedKmh }[reception];
      return validBurst({ time, date, satellites: 9 }, { position: lastPosition, speedKmh, hdop });
    },
  };
  return receiver;
}
