// The table `[driverReader]` of agent.toml: the reader of drivers' keys. It cannot be changed remotely. No port: no reader.
import { type Static, Type } from 'typebox';
import { readerKinds } from './key-protocol.ts';

export const driverReaderSchema = Type.Object({
  port: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        "Serial port of the reader of drivers' keys, such as /dev/fleet-driver; without it drivers are not identified",
    }),
  ),
  kind: Type.Enum([...readerKinds], {
    default: 'rfid',
    description:
      'rfid: RDM6300, ID-12LA and readers that send the same; rfid-once: readers of that format that send a tag once, without CR and LF in the frame; ds2480b: iButtons at a DS9097U, LINK or another adapter with that chip',
  }),
  baud: Type.Integer({
    minimum: 1200,
    maximum: 115_200,
    default: 9600,
    description: 'Speed of that port in baud; a ds2480b starts with 9600',
  }),
});

/** The settings as the reader takes them; null: there is none. */
export function driverReaderOf(file: Static<typeof driverReaderSchema> | undefined) {
  if (file?.port === undefined) return null;
  const { port: path, baud: baudRate, kind } = file;
  return { port: { path, baudRate, dataBits: 8, parity: 'none', stopBits: 1 } as const, kind };
}

/** What the reader of keys runs on. */
export type DriverReaderConfig = NonNullable<ReturnType<typeof driverReaderOf>>;

/** The settings in one line, for `config check` and the log. */
export function describeDriverReader({ port, kind }: DriverReaderConfig): string {
  return `${kind} at ${port.path}, ${port.baudRate} baud`;
}
