// The table `[fuelSender]` of agent.toml: a digital fuel sender on a serial line of its own. It cannot be changed remotely. No port: none.
import { type Static, Type } from 'typebox';
import { analogValue } from '../board/board-profile.ts';

const address = Type.Integer({ minimum: 0, maximum: 255, description: 'network addresses, 0 to 255' });
const pair = Type.Tuple([Type.Number(), Type.Number({ minimum: 0, maximum: 1 })], {
  description: 'pairs [value of the sender, fraction of the tank], values rising',
});

export const fuelSenderSchema = Type.Object({
  port: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'Serial port of a fuel sender of the LLS protocol (Omnicomm and others), such as /dev/fleet-fuel, on a line of its own; without it none is read',
    }),
  ),
  baud: Type.Integer({ minimum: 1200, maximum: 115_200, default: 19_200, description: 'Its speed in baud' }),
  addresses: Type.Array(address, {
    minItems: 1,
    maxItems: 4,
    uniqueItems: true,
    default: [1],
    description: 'Network address of the sender; several senders in one tank: 1 to 4, the mean counts',
  }),
  full: Type.Integer({
    minimum: 1,
    maximum: 65_534,
    default: 4095,
    description: 'Top of its scale, as set in the sender; a greater value is no level',
  }),
  table: Type.Optional(
    Type.Array(pair, {
      minItems: 2,
      maxItems: 64,
      description:
        'Table of the tank, made by `fleetward-agent fuel calibrate`, in the file only; without it the scale is straight from 0 to full',
    }),
  ),
});

type File = Static<typeof fuelSenderSchema>;

/** The settings as the reader takes them; null: there is none. */
export function llsConfigOf(file: File | undefined) {
  if (file?.port === undefined) return null;
  const { port: path, baud: baudRate, addresses, full, table } = file;
  const straight: File['table'] = [
    [0, 0],
    [full, 1],
  ];
  const port = { path, baudRate, dataBits: 8, parity: 'none', stopBits: 1 } as const;
  return { port, addresses, full, table: table ?? straight };
}

export type LlsConfig = NonNullable<ReturnType<typeof llsConfigOf>>;

/** Fault of the settings; '' when there is none. */
export function llsFault(file: File | undefined, hasBoardSignal: boolean): string {
  if (file?.port === undefined) return '';
  if (hasBoardSignal)
    return 'fuelSender.port: the board has a fuel signal already; set board.overrides.analogs.fuel = false';
  const { table = [], full } = file;
  const isRising = table.every(([value], at) => at === 0 || value > (table[at - 1]?.[0] ?? 0));
  if (!isRising) return 'fuelSender.table: the first numbers of the pairs must rise';
  return (table.at(-1)?.[0] ?? 0) > full ? `fuelSender.table: ends above fuelSender.full (${full})` : '';
}

/** The fraction of the tank of a measure. */
export function llsLevel({ full, table }: LlsConfig, measure: number): number | null {
  return analogValue({ scale: 1, offset: 0, valid: [0, full], table }, measure);
}

/** The settings in one line, for `config check` and the log. */
export function describeLls({ port, addresses, full }: LlsConfig): string {
  return `LLS ${addresses.join(', ')} at ${port.path}, ${port.baudRate} baud, 0 to ${full}`;
}
