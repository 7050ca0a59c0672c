// The agent's settings: the schema of agent.toml, and the checked value the agent runs on. All defaults are here.
// Safety limits are not settings: they are in `core/protection/interlock-rules.ts` and cannot be configured.
import { type Static, Type } from 'typebox';
import { AppError } from '../src/core/errors.ts';
import { idPatternSource } from '../src/core/ids.ts';
import { numberSetting } from '../src/core/settings/kinds.ts';
import { type Settings, settingsSchema, standardSettings } from '../src/core/settings/settings.ts';
import type { LogFields, SerialSettings } from '../src/ports.ts';
import { readBoardProfile } from './boards.ts';
import { boardOverridesSchema } from './core/board/board-profile.ts';
import { applyOverrides } from './core/board/profile-parsing.ts';
import type { ModuleConfig } from './core/kernel/module-slots.ts';
import type { VehicleConfig } from './core/kernel/vehicle-types.ts';
import { protectionFaults, protectionSchema, standardProtection } from './core/protection/protection.ts';
import { modules } from './core/vehicle/modules.ts';

export { standardProtection, standardSettings };

const id = (description: string) => Type.String({ pattern: idPatternSource, description });
const path = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description });

/** Where the service makes its folder (RuntimeDirectory). */
export const standardSocket = '/run/fleetward-agent/agent.sock';

/** The tables of modules, in the order of their list. */
export const tablesOfModules = modules.flatMap(({ tables = [] }) => tables);

/** Their types are those of the configuration that is made of them, so the file has none for them. */
const moduleTables: object = Object.fromEntries(tablesOfModules.map(({ table, schema }) => [table, schema]));

/** agent.toml: every key there is, with its limits and default. */
export const agentFileSchema = Type.Object({
  device: Type.Object({
    account: id('Account of the vehicle'),
    id: id('Id of the vehicle within the account'),
  }),
  broker: Type.Object({
    url: Type.String({
      pattern: '^mqtts?://[^/@]+$',
      default: 'mqtt://127.0.0.1:1883',
      description: 'Address of the broker, mqtt:// or mqtts://',
    }),
    secretFile: path(
      'File that holds the device secret of `fleetward-broker device secret`, readable by the agent only',
    ),
    publicKey: Type.String({
      pattern: '^[A-Za-z0-9+/]{43}=$',
      description: "The broker's public key; a command that it did not sign is ignored",
    }),
    caFile: Type.Optional(path('Certificate authority (PEM) to trust for mqtts://')),
    certFile: Type.Optional(path('Own certificate (PEM), for a broker that wants one; needs keyFile')),
    keyFile: Type.Optional(path('Private key (PEM) of that certificate, readable by the agent only')),
    keepaliveS: numberSetting(
      { low: 10, high: 1740, standard: 240 },
      'MQTT keep-alive in seconds to begin with; how long the network holds an idle link is learnt',
    ),
    connectSpreadS: numberSetting(
      { low: 0, high: 300, standard: 5 },
      'The first connect waits a random part of this',
    ),
  }),
  storage: Type.Object({
    path: Type.String({
      minLength: 1,
      maxLength: 1000,
      default: '/var/lib/fleetward-agent/outbox.db',
      description: 'Database of events that are not delivered yet',
    }),
    maxMb: Type.Integer({
      minimum: 2,
      maximum: 4096,
      default: 64,
      description: 'Most MiB on disk, log included',
    }),
    windowS: numberSetting(
      { low: 0, high: 300, standard: 60 },
      'Positions wait at most this long before they are written and sent; alarms never wait; changes of state are written at once and sent within 2 s',
    ),
  }),
  board: Type.Object({
    profile: path('Name of a shipped board profile, or the path of one'),
    port: path('Serial port of the I/O board, such as /dev/fleet-board'),
    overrides: Type.Optional(boardOverridesSchema),
  }),
  gnss: Type.Object({
    port: path('Serial port of the GNSS receiver, such as /dev/fleet-gnss'),
    baud: Type.Integer({ minimum: 1200, maximum: 921_600, default: 9600, description: 'Its speed in baud' }),
    silenceS: numberSetting(
      { low: 2, high: 60, standard: 5 },
      'Without a byte for this long the port is opened anew',
    ),
  }),
  ...moduleTables,
  local: Type.Object({
    socket: Type.String({
      // 107 bytes are the most that the kernel takes for the name of a socket (unix(7)).
      pattern: '^(/.{1,106})?$',
      default: standardSocket,
      description:
        'Socket of this machine for `fleetward-agent status` and a display; an absolute path, empty: none',
    }),
  }),
  protection: protectionSchema,
  ...settingsSchema.properties,
  log: Type.Object({
    level: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'Least severity that is logged',
    }),
  }),
});

export type AgentFile = Static<typeof agentFileSchema>;

/** PEM of a certificate and of its private key. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** What `createAgent` runs on; the simulator builds it directly. */
export interface AgentConfig extends Omit<VehicleConfig, 'boot' | 'broker' | 'serviceCodes' | 'verifier'> {
  readonly broker: {
    readonly url: string;
    readonly secret: string;
    readonly ca?: string;
    readonly client?: ClientCertificate;
    readonly keepaliveS: number;
    /** The first connect after a start waits a random part of this. */
    readonly connectSpreadMs: number;
  };
  readonly boardPort: SerialSettings;
  readonly gnssPort: SerialSettings;
}

/** The release date: a lower bound of real time for clocks without a battery. */
export const buildUtcMs = Date.UTC(2026, 10, 1);

/** The tables of a file that a configuration of the broker may lay others over. */
export function settingsIn(file: AgentFile): Settings {
  const tables = Object.keys(settingsSchema.properties).map((name) => [name, file[name as keyof Settings]]);
  return Object.fromEntries(tables) as Settings;
}

/** The contents of the files that the settings name. */
export interface AgentSecrets {
  readonly secret: string;
  readonly ca?: string;
  readonly client?: ClientCertificate;
}

const tableIn = (file: AgentFile, table: string): unknown =>
  (file as Readonly<Record<string, unknown>>)[table];

/** Why a port cannot be what it is; '' when each is another one. */
function portFault(file: AgentFile): string {
  const taken = new Map<string, string>();
  for (const table of ['board', 'gnss', ...tablesOfModules.map((of) => of.table)]) {
    const name = `${table}.port`;
    const { port } = (tableIn(file, table) ?? {}) as { readonly port?: string };
    if (port === undefined) continue;
    const other = taken.get(port);
    if (other !== undefined) return `${name}: ${port} is ${other} already`;
    taken.set(port, name);
  }
  return '';
}

/** The tables of modules; one that sets nothing up is left out. */
const configureModules = (file: AgentFile): ModuleConfig =>
  Object.fromEntries(
    tablesOfModules
      .map(({ table, configOf }) => [table, configOf(tableIn(file, table))])
      .filter(([, config]) => config !== null),
  );

/** Settings that are no one's choice but follow from the file. */
export async function toAgentConfig(
  file: AgentFile,
  given: AgentSecrets & {
    readonly agentVersion: string;
    /** Names the hardware of this unit; '' where it has no name. */
    readonly hardwareID: string;
  },
): Promise<AgentConfig> {
  const shipped = await readBoardProfile(file.board.profile);
  const verdict = applyOverrides(shipped, file.board.overrides ?? {});
  if (verdict.kind === 'faults') {
    const lines = verdict.faults
      .map((fault) => `board.overrides${fault.pointer}: ${fault.message}`)
      .join('; ');
    throw new AppError('config', `The overrides do not fit board profile ${file.board.profile}: ${lines}`, {
      hint: 'Correct [board.overrides]; agent/boards/README.md describes the members of a profile.',
    });
  }
  const { profile } = verdict;
  const unfit = protectionFaults(file.protection, profile)
    .map((fault) => `protection${fault.pointer.replace('/', '.')}: ${fault.message}`)
    .join('; ');
  const wrong = [
    unfit,
    portFault(file),
    ...tablesOfModules.map(({ table, fault }) => fault?.(tableIn(file, table), profile, file) ?? ''),
  ].filter((words) => words !== '');
  if (wrong.length > 0)
    throw new AppError('config', wrong.join('; '), {
      hint: 'Correct these settings; `fleetward-agent config check` names what each of them needs.',
    });
  const { baudRate, dataBits, parity, stopBits } = profile.serial as Omit<SerialSettings, 'path'>;
  return {
    accountID: file.device.account,
    deviceID: file.device.id,
    hardwareID: given.hardwareID,
    agentVersion: given.agentVersion,
    earliestUtcMs: buildUtcMs,
    broker: {
      url: file.broker.url,
      secret: given.secret,
      ...(given.ca === undefined ? {} : { ca: given.ca }),
      ...(given.client === undefined ? {} : { client: given.client }),
      keepaliveS: file.broker.keepaliveS,
      connectSpreadMs: file.broker.connectSpreadS * 1000,
    },
    profile,
    boardPort: { path: file.board.port, baudRate, dataBits, parity, stopBits },
    gnssPort: { path: file.gnss.port, baudRate: file.gnss.baud, dataBits: 8, parity: 'none', stopBits: 1 },
    gnssSilenceMs: file.gnss.silenceS * 1000,
    settings: settingsIn(file),
    ...configureModules(file),
    protection: file.protection,
    windowMs: file.storage.windowS * 1000,
  };
}

/** What may be logged of a configuration: never the secret. */
export function describeConfig(config: AgentConfig): LogFields {
  return {
    account: config.accountID,
    device: config.deviceID,
    broker: config.broker.url,
    board: `${config.profile.name} at ${config.boardPort.path}`,
    gnss: config.gnssPort.path,
    ...Object.fromEntries(
      tablesOfModules.flatMap(({ table, describe }) =>
        config[table] === undefined || describe === undefined ? [] : [[table, describe(config[table])]],
      ),
    ),
    protection: `${config.protection.cutMode}, ${config.protection.circuit} circuit`,
  };
}
