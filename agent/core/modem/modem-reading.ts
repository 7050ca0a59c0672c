// What `mmcli --output-json` says about a modem and its SIM. Values are texts, and `--` stands for one that is not known (ModemManager, mmcli(1)).
// Every member is checked: one of another kind counts as unknown, and so does an answer that is no JSON. Pure.

export interface ModemReading {
  /** Name of the operator, else its code; at most 40 characters. */
  readonly operator: string | null;
  /** Whether it is registered in a foreign network; null: not registered, or not known. */
  readonly isRoaming: boolean | null;
  /** Id of the SIM, 18 to 22 digits. */
  readonly iccid: string | null;
  /** Signal quality, percent. */
  readonly signal: number | null;
  /** Access technologies such as `lte` or `lte,5gnr`. */
  readonly technology: string | null;
  /** What the network interface of the modem carried since the machine started, bytes. */
  readonly bytes: number | null;
}

/** The newest try to read it. */
export interface ModemSight {
  /** Null: it could not be read. */
  readonly reading: ModemReading | null;
  /** Why it could not; '' when it was read. */
  readonly reason: string;
}

/** Where the rest of a reading is found. */
export interface ModemPaths {
  readonly sim: string | null;
  /** Name of its network interface. */
  readonly net: string | null;
}

const textMost = 40;
const simPattern = /^\/org\/freedesktop\/ModemManager1\/SIM\/\d{1,9}$/;
const netPattern = /^([A-Za-z0-9_][A-Za-z0-9_.-]{0,14}) \(net\)$/;

type Table = Readonly<Record<string, unknown>>;

function tableOf(value: unknown, ...names: readonly string[]): Table {
  let table: unknown = value;
  for (const name of names) table = isTable(table) && Object.hasOwn(table, name) ? table[name] : null;
  return isTable(table) ? table : {};
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that says something; control characters would spoil a screen. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, textMost);
  return text === '' || text === '--' ? null : text;
}

const listOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).slice(0, 16).flatMap((one) => textOf(one) ?? []);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function signalOf(generic: Table): number | null {
  const text = textOf(tableOf(generic, 'signal-quality')['value']);
  return text !== null && /^\d{1,3}$/.test(text) && Number(text) <= 100 ? Number(text) : null;
}

function roamingOf(state: string | null): boolean | null {
  if (state === 'home') return false;
  return state === 'roaming' ? true : null;
}

/** The answer to `mmcli -m any -J`; null: it is none about a modem. */
export function parseModem(
  text: string,
): { readonly reading: ModemReading; readonly paths: ModemPaths } | null {
  const whole = parse(text);
  if (!isTable(whole) || !isTable(whole['modem'])) return null;
  const generic = tableOf(whole, 'modem', 'generic');
  const cell = tableOf(whole, 'modem', '3gpp');
  const sim = textOf(generic['sim']);
  const nets = Array.isArray(generic['ports']) ? generic['ports'] : [];
  const net = nets.flatMap((port) => netPattern.exec(String(port))?.[1] ?? [])[0] ?? null;
  const technologies = listOf(generic['access-technologies']).filter((one) => one !== 'unknown');
  return {
    reading: {
      operator: textOf(cell['operator-name']) ?? textOf(cell['operator-code']),
      isRoaming: roamingOf(textOf(cell['registration-state'])),
      iccid: null,
      signal: signalOf(generic),
      technology: technologies.length === 0 ? null : technologies.join(',').slice(0, textMost),
      bytes: null,
    },
    paths: { sim: sim !== null && simPattern.test(sim) ? sim : null, net },
  };
}

/** The id in the answer to `mmcli -i SIM -J`; null: it has none. */
export function parseSim(text: string): string | null {
  const iccid = textOf(tableOf(parse(text), 'sim', 'properties')['iccid']);
  // 19 or 20 digits; some cards pad with F.
  return iccid !== null && /^\d{18,22}F?$/i.test(iccid) ? iccid.replace(/F$/i, '') : null;
}

/** The last four digits: the id of a SIM leads to its owner. */
export const maskIccid = (iccid: string): string => `…${iccid.slice(-4)}`;
