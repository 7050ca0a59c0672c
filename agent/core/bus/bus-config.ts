// The table `[bus]` of agent.toml: the vehicle bus that is listened to. It cannot be changed remotely. No port: no bus.
import { type Static, Type } from 'typebox';
import { type BitRate, bitRates } from './slcan-opening.ts';

const rateNames = bitRates.map(String);

export const busSchema = Type.Object({
  port: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'Serial port of an SLCAN adapter on the vehicle bus (J1939), such as /dev/fleet-bus; without it no bus is read. The bus is listened to only: nothing is ever sent to it',
    }),
  ),
  baud: Type.Integer({
    minimum: 9600,
    maximum: 3_000_000,
    default: 115_200,
    description: 'Speed of that port in baud; adapters with a USB port of their own ignore it',
  }),
  bitRate: Type.Enum(['auto', ...rateNames], {
    default: '250000',
    description: 'Bit rate of the bus in bit/s; auto listens at each until frames come',
  }),
});

/** The settings as the reader takes them; null: no bus is listened to. */
export function busConfigOf(file: Static<typeof busSchema> | undefined) {
  if (file?.port === undefined) return null;
  const { port: path, baud: baudRate, bitRate } = file;
  const port = { path, baudRate, dataBits: 8, parity: 'none', stopBits: 1 } as const;
  const rate: BitRate | 'auto' = bitRates.find((one) => String(one) === bitRate) ?? 'auto';
  return { port, bitRate: rate };
}

/** What the reader of the bus runs on. */
export type BusConfig = NonNullable<ReturnType<typeof busConfigOf>>;

/** The settings in one line, for `config check` and the log. */
export function describeBus({ port, bitRate }: BusConfig): string {
  const rate = bitRate === 'auto' ? 'bit rate searched' : `${bitRate} bit/s`;
  return `j1939 at ${port.path}, ${rate}; listens only`;
}
