// The table `[bus]` of agent.toml: the vehicle bus that is listened to, or the car that is asked. It cannot be changed remotely. No port: no
// bus.
import { type Static, Type } from 'typebox';
import { type BitRate, bitRates } from './slcan-opening.ts';

/** What drives a vehicle with a bus. */
export const engineKinds = ['combustion', 'hybrid', 'electric'] as const;

const rateNames = bitRates.map(String);

export const busSchema = Type.Object({
  port: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'Serial port of an SLCAN adapter on the vehicle bus, or of an ELM327 or STN adapter, such as /dev/fleet-bus; without it no bus is read',
    }),
  ),
  baud: Type.Integer({
    minimum: 9600,
    maximum: 3_000_000,
    default: 115_200,
    description:
      'Speed of that port in baud; adapters with a USB port of their own ignore it. Many ELM327 have 38400',
  }),
  profile: Type.Enum(['j1939', 'obd'], {
    default: 'j1939',
    description:
      'What is on the bus. j1939 is listened to only: nothing is ever sent to it. obd asks a car by an ELM327 or STN adapter; it needs obdConsent',
  }),
  obdConsent: Type.Boolean({
    default: false,
    description:
      'The installer agrees that requests which read are sent to the car while its ignition is on. Without it the port is not opened; profile obd only',
  }),
  bitRate: Type.Enum(['auto', ...rateNames], {
    default: '250000',
    description:
      'Bit rate of the bus in bit/s; auto listens at each until frames come. An ELM327 finds its own',
  }),
  engine: Type.Enum([...engineKinds], {
    default: 'hybrid',
    description:
      'What drives the vehicle. Only where combustion is declared does an engine speed of 0 on the bus show rest; it stops on the road in the others',
  }),
});

/** What the reader of the bus runs on. */
export interface BusConfig {
  readonly port: {
    readonly path: string;
    readonly baudRate: number;
    readonly dataBits: 8;
    readonly parity: 'none';
    readonly stopBits: 1;
  };
  readonly bitRate: BitRate | 'auto';
  readonly engine: (typeof engineKinds)[number];
}

/** What the requests to a car run on. */
export interface ObdConfig {
  readonly port: BusConfig['port'];
  /** The installer agreed to requests. */
  readonly hasConsent: boolean;
}

const portOf = ({ port = '', baud }: Static<typeof busSchema>): BusConfig['port'] => ({
  path: port,
  baudRate: baud,
  dataBits: 8,
  parity: 'none',
  stopBits: 1,
});

/** The car that is asked, as configured; null: none is. */
export function obdConfigOf(file: Static<typeof busSchema> | undefined): ObdConfig | null {
  if (file?.port === undefined || file.profile !== 'obd') return null;
  return { port: portOf(file), hasConsent: file.obdConsent };
}

/** The settings as the reader takes them; null: no bus is listened to. */
export function busConfigOf(file: Static<typeof busSchema> | undefined): BusConfig | null {
  if (file?.port === undefined || file.profile !== 'j1939') return null;
  const { bitRate, engine } = file;
  return {
    port: portOf(file),
    bitRate: bitRates.find((rate) => String(rate) === bitRate) ?? 'auto',
    engine,
  };
}

/** The settings in one line, for `config check` and the log. */
export function describeBus({ port, bitRate, engine }: BusConfig): string {
  const rate = bitRate === 'auto' ? 'bit rate searched' : `${bitRate} bit/s`;
  return `j1939 at ${port.path}, ${rate}; listens only; engine ${engine}`;
}

/** As `describeBus`, of a car that is asked. */
export function describeObd({ port, hasConsent }: ObdConfig): string {
  const consent = hasConsent ? 'asks the car with its ignition on' : 'not opened: bus.obdConsent is false';
  return `obd at ${port.path}; ${consent}`;
}
