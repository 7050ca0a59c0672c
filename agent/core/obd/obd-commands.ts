// The allow-list: every command that can be written to an ELM327 or STN adapter, as data. Settings of the adapter, and requests that read
// (modes 01, 03, 07, 09, 0A). None sets a header, sends a raw frame, clears codes, tests an actuator, or writes. A lone carriage return would
// repeat the last command, and is not in it.
// Sources: ELM327 data sheet (Elm Electronics), STN1100 reference (OBD Solutions), SAE J1979.

/** Settings of the adapter and questions to it; none of them reaches the car. */
export const setupCommands = [
  'ATZ',
  'ATE0',
  'ATL0',
  'ATS0',
  'ATH1',
  'ATI',
  'AT@1',
  'STI',
  'ATPPS',
  'ATFE',
  'ATSS',
  'ATCSM1',
  'ATAMC',
  'ATCTM1',
  'ATRV',
  'ATAT1',
  'ATST32',
  'ATCAF1',
  'ATDPN',
  'ATSP0',
  'ATSP1',
  'ATSP2',
  'ATSP3',
  'ATSP4',
  'ATSP5',
  'ATSP6',
  'ATSP7',
  'ATSP8',
  'ATSP9',
] as const;

/** Requests to the car: each reads. */
export const requestCommands = [
  '0100',
  '0120',
  '0140',
  '0160',
  '0180',
  '01A0',
  '0101',
  '0105',
  '010C',
  '010D',
  '011F',
  '012F',
  '0142',
  '015E',
  '01A6',
  /** Speed and engine speed in one request. */
  '010D0C',
  /** ... with the number of answers to wait for. */
  '010D1',
  '010C1',
  '010D0C1',
  '03',
  '07',
  '0900',
  '0902',
  '0A',
] as const;

export type SetupCommand = (typeof setupCommands)[number];
export type RequestCommand = (typeof requestCommands)[number];
export type ObdCommand = SetupCommand | RequestCommand;

export const allowedCommands: readonly ObdCommand[] = [...setupCommands, ...requestCommands];

const bytesOf = new Map<string, Uint8Array>(
  allowedCommands.map((command) => [
    command,
    Uint8Array.from(`${command}\r`, (letter) => letter.charCodeAt(0)),
  ]),
);

/** The only source of bytes for the port. @throws Error for what is not in the list. */
export function commandBytes(command: ObdCommand): Uint8Array {
  const bytes = bytesOf.get(command);
  if (bytes === undefined) throw new Error(`not an allowed command: ${JSON.stringify(command)}`);
  return bytes;
}

const requests: ReadonlySet<string> = new Set(requestCommands);

export function isRequest(command: ObdCommand): command is RequestCommand {
  return requests.has(command);
}

/** Fixes the protocol that the search found. */
export const protocolCommands = {
  1: 'ATSP1',
  2: 'ATSP2',
  3: 'ATSP3',
  4: 'ATSP4',
  5: 'ATSP5',
  6: 'ATSP6',
  7: 'ATSP7',
  8: 'ATSP8',
  9: 'ATSP9',
} as const satisfies Record<number, SetupCommand>;
export type Protocol = keyof typeof protocolCommands;

/** ISO 15765-4, in which identifiers have 11 or 29 bits. */
export const isCan = (protocol: Protocol): boolean => protocol >= 6;
export const hasLongIds = (protocol: Protocol): boolean => protocol === 7 || protocol === 9;
