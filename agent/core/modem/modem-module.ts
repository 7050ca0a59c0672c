// Modem and SIM as a module of the vehicle: keeps what was read of them, and adds it to positions and heartbeats.
import { type Static, Type } from 'typebox';
import type { VehicleModule } from '../kernel/module.ts';
import { log, put } from '../kernel/vehicle-state.ts';
import { type ModemConfig, modemConfigOf, modemSchema } from './modem-config.ts';
import { type ModemReading, type ModemSight, maskIccid } from './modem-reading.ts';
import { createModemReport, type ModemReportState, stepModemReport } from './modem-report.ts';

const networkSchema = Type.Object({
  stateFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'File in which a script of the modem keeps one word: home or roaming; see `reporting.roamingMovingS`',
    }),
  ),
});

type NetworkFile = Static<typeof networkSchema>;

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** Modem and SIM as read last; null: none was asked yet. */
    readonly modem: ModemSight | null;
    readonly modemReport: ModemReportState;
  }
  interface ModuleConfig {
    /** How ModemManager is asked about modem and SIM; absent: it is not. */
    readonly modem?: ModemConfig;
    /** File in which a script keeps where the modem is registered; absent: none. */
    readonly network?: string;
  }
  interface ModuleEvents {
    /** Modem and SIM were read, or could not be. */
    readonly modem: { readonly sight: ModemSight };
  }
  interface ModuleStatus {
    /** Null: no modem was asked. The id of the SIM is masked. */
    readonly modem: ModemSight | null;
  }
}

/** With the id of the SIM masked. */
function shownModem(modem: ModemSight | null): ModemSight | null {
  const iccid = modem?.reading?.iccid ?? null;
  if (modem === null || modem.reading === null || iccid === null) return modem;
  return { ...modem, reading: { ...modem.reading, iccid: maskIccid(iccid) } };
}

/** Operator, technology, signal and SIM in one line. */
function modemText({ operator, isRoaming, iccid, signal, technology, bytes }: ModemReading): string {
  const network = isRoaming === null ? 'not registered' : isRoaming ? 'roaming' : 'home network';
  return [
    operator ?? 'operator unknown',
    network,
    ...(technology === null ? [] : [technology]),
    ...(signal === null ? [] : [`signal ${signal} %`]),
    iccid === null ? 'no SIM that can be read' : `SIM ${iccid}`,
    ...(bytes === null ? [] : [`${Math.round(bytes / 1e6)} MB since the machine started`]),
  ].join(', ');
}

export const modemModule: VehicleModule = {
  tables: [
    {
      table: 'modem',
      schema: Type.Optional(modemSchema),
      configOf: modemConfigOf,
      describe: ({ program, everyMs }: ModemConfig) => `${program}, every ${everyMs / 1000} s`,
    },
    {
      table: 'network',
      schema: networkSchema,
      configOf: (file: NetworkFile | undefined) => file?.stateFile ?? null,
      // Two sources for one fact would contradict each other.
      fault: (
        file: NetworkFile | undefined,
        _,
        { modem }: { readonly modem?: Static<typeof modemSchema> },
      ) =>
        modem?.program !== undefined && file?.stateFile !== undefined
          ? 'network.stateFile: modem.program says already where the modem is registered'
          : '',
    },
  ],
  create: () => ({ modem: null, modemReport: createModemReport() }),
  on: {
    // One that could not be read: what was known no longer counts, and the network counts as the home network.
    modem(context, { sight }) {
      const iccid = sight.reading?.iccid ?? null;
      const before = context.state.modem?.reading?.iccid ?? null;
      if (iccid !== null && iccid !== before) log(context, 'info', 'modem_sim', { iccid: maskIccid(iccid) });
      put(context, { modem: sight, isRoaming: sight.reading?.isRoaming === true });
    },
  },
  attributes(context) {
    const { modem, modemReport } = context.state;
    const reading = modem?.reading ?? null;
    const step = reading === null ? null : stepModemReport(modemReport, reading, context.now.monoMs);
    if (step === null) return null;
    put(context, { modemReport: step.state });
    return step.attributes;
  },
  status: ({ modem }) => ({ modem: shownModem(modem) }),
  lines({ modem }) {
    if (modem === null) return [];
    const name = 'Modem';
    if (modem.reading !== null) return [{ level: 'ok', name, words: modemText(modem.reading), todo: '' }];
    const todo = 'Check modem.program, and try `mmcli -m any`. The connection does not depend on it.';
    return [{ level: 'note', name, words: `cannot be read: ${modem.reason}`, todo }];
  },
};
