// The vehicle bus in words, for `status` and `doctor bus`. Pure.
import type { BusAdapter } from './bus-reading.ts';
import type { BusStatus } from './bus-status.ts';

type Refusal = NonNullable<BusAdapter['refusal']>;

const refusals: Readonly<Record<Refusal, { readonly words: string; readonly todo: string }>> = {
  port: {
    words: 'the port cannot be opened',
    todo: 'Check bus.port, the plug, and that no other program has it.',
  },
  no_answer: {
    words: 'nothing answers as an SLCAN adapter',
    todo: 'Check bus.port and bus.baud, and that the adapter has firmware that answers with its version.',
  },
  unknown_adapter: {
    words: 'the adapter is of no known kind',
    todo: 'It must be a CANable with slcan firmware, a USBtin or a LAWICEL adapter.',
  },
  no_bit_rate: { words: 'the adapter refuses the bit rate', todo: 'Correct bus.bitRate.' },
  not_silent: {
    words: 'the adapter cannot listen without taking part in the bus, and is not used',
    todo: 'Update its firmware, or use another adapter: nothing may be written to this bus.',
  },
  no_frames: {
    words: 'no frames at any bit rate',
    todo: 'Switch the ignition on; check CAN-H and CAN-L, or set bus.bitRate.',
  },
};

const kinds = {
  canable: 'CANable',
  canable25: 'CANable 2.5',
  usbtin: 'USBtin',
  lawicel: 'LAWICEL',
} as const;

/** What the adapter is: `CANable at 250000 bit/s`. */
export function adapterText({ dialect, bitRate }: Pick<BusStatus, 'dialect' | 'bitRate'>): string {
  const kind = dialect === null ? 'adapter' : kinds[dialect];
  return bitRate === null ? kind : `${kind} at ${bitRate} bit/s`;
}

export interface BusText {
  readonly level: 'ok' | 'note' | 'fault';
  readonly words: string;
  /** What to do about it; '' when nothing. */
  readonly todo: string;
}

/** The state of the bus in one line. */
export function busText(status: BusStatus): BusText {
  const { state, refusal, portFault, framesPerS, frameAgoS } = status;
  const adapter = adapterText(status);
  switch (state) {
    case 'waiting': {
      if (refusal === null) return { level: 'note', words: 'is tried again', todo: '' };
      const { words, todo } = refusals[refusal];
      const said = refusal === 'unknown_adapter' ? status.version : null;
      const details =
        portFault ?? (said === null ? null : `it says "${said.replaceAll('\t', ' ').slice(0, 80)}"`);
      const why = details === null ? words : `${words}: ${details}`;
      return { level: refusal === 'no_frames' ? 'note' : 'fault', words: why, todo };
    }
    case 'opening':
      return { level: 'note', words: 'the adapter is being set up', todo: '' };
    case 'searching':
      return { level: 'note', words: 'the bit rate is searched', todo: '' };
    case 'silent': {
      const since = frameAgoS === null ? 'no frame yet' : `no frame for ${Math.round(frameAgoS)} s`;
      return { level: 'note', words: `${adapter}, ${since}; a vehicle that sleeps is silent`, todo: '' };
    }
    case 'settling':
    case 'live': {
      const values = status.values.filter(({ isChosen }) => isChosen).map(valueText);
      const known = values.length === 0 ? 'values count 10 s after the start' : values.join(', ');
      return { level: 'ok', words: `${adapter}, ${framesPerS} frames/s; ${known}`, todo: '' };
    }
  }
}

const digits = (value: number): string => String(Math.round(value * 100) / 100);

type Value = BusStatus['values'][number];

/** A value with its unit: `speed 42.5 km/h`. */
function valueText({ name, value, unit }: Pick<Value, 'name' | 'value' | 'unit'>): string {
  return `${name} ${value === null ? 'unknown' : digits(value)}${unit === '' ? '' : ` ${unit}`}`;
}

/** One sender of one signal as a line: value, address, age, period, and whether it counts. */
export function sourceText(one: Value): string {
  const value =
    one.value === null
      ? (one.fault ?? 'unknown').replace('_', ' ')
      : `${digits(one.value)} ${one.unit}`.trim();
  const period = one.periodMs === null ? '-' : `${one.periodMs} ms`;
  const counts = one.isChosen ? 'reported' : one.isCurrent ? 'counts' : 'does not count';
  const address = `0x${one.source.toString(16).toUpperCase().padStart(2, '0')}`;
  return `${one.name} (SPN ${one.spn}) from ${address}: ${value}, ${one.ageS} s old, every ${period}, ${counts}`;
}
