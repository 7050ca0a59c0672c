// The table `[modem]` of agent.toml: whether ModemManager is asked about modem and SIM. It cannot be changed remotely. No program: nothing is asked.
import { type Static, Type } from 'typebox';
import { numberSetting } from '../../../src/core/settings/kinds.ts';

export const modemSchema = Type.Object({
  program: Type.Optional(
    Type.String({
      pattern: '^/.{1,999}$',
      description: 'Program of ModemManager, as a rule /usr/bin/mmcli; without it no modem is asked',
    }),
  ),
  everyS: numberSetting({ low: 30, high: 86_400, standard: 300 }, 'It is asked this often, in seconds'),
});

/** What the reader of the modem runs on. */
export interface ModemConfig {
  readonly program: string;
  readonly everyMs: number;
}

/** The settings as the reader takes them; null: no modem is asked. */
export function modemConfigOf(file: Static<typeof modemSchema> | undefined): ModemConfig | null {
  if (file?.program === undefined) return null;
  return { program: file.program, everyMs: file.everyS * 1000 };
}
