// `fleetward-agent config check` and `config show`: the settings as the agent would start with them, and the origin
// of each. Neither touches any hardware.
import { dirname } from 'node:path';
import { settingAt } from '../../src/config.ts';
import { createConfigFiles } from '../adapters/config-files.ts';
import { type AgentFile, describeConfig, settingsIn, tablesOfModules } from '../config.ts';
import { type RemoteConfig, readRemoteConfig } from '../config-origin.ts';
import { describeWitnesses } from '../doctor/witnesses.ts';
import { describePanicGap } from './panic-gap.ts';
import { type Flags, loadSettings, type Output, readAgentConfig } from './settings-file.ts';

/** @param verifyKey throws when the public key is none. */
export async function checkConfig(flags: Flags, verifyKey: (publicKey: string) => unknown): Promise<Output> {
  const { value } = loadSettings(flags);
  const config = await readAgentConfig(value);
  verifyKey(value.broker.publicKey);
  const panic = describePanicGap(config.profile);
  const witnesses = describeWitnesses(config, config.protection);
  const facts = describeConfig(config);
  const tables = tablesOfModules.filter(({ table }) => config[table] !== undefined);
  const warnings = [...panic.warnings, ...witnesses.warnings, ...tables.flatMap((of) => of.warnings ?? [])];
  const lines = [
    `${String(flags['config'])}: good`,
    ...Object.entries(facts).map(([key, text]) => `  ${key}: ${String(text)}`),
  ];
  lines.push(
    ...[...panic.lines, ...witnesses.lines, ...tables.flatMap((of) => of.notes ?? [])].map(
      (line) => `  ${line}`,
    ),
    ...warnings.map((line) => `  WARNING: ${line}`),
  );
  const json = { ok: true, ...facts, panicGapMs: panic.gapMs, witnesses: witnesses.fitted, warnings };
  return { json, text: lines.join('\n') };
}

/** Changes of the broker's configuration to this file's settings. */
export function readRemote(file: AgentFile): Promise<RemoteConfig> {
  return readRemoteConfig(createConfigFiles(dirname(file.storage.path)), settingsIn(file));
}

function remoteWords({ version, onTrial, zoneCount, faults, chosen }: RemoteConfig): readonly string[] {
  const words = [
    ...(version === 0
      ? ['no configuration of the broker is in force']
      : [
          `version ${version} of the broker's configuration is in force${onTrial === null ? '' : ', on trial'}: ${chosen.length} settings, ${zoneCount} geozones`,
        ]),
    ...faults,
  ];
  return words.map((text) => `# ${text}`);
}

/** Every setting as the agent would start with it; with `--origin` where each comes from. */
export async function showConfig(flags: Flags): Promise<Output> {
  const { value, origins } = loadSettings(flags);
  const remote = await readRemote(value);
  const isRemote = (key: string): boolean => remote.chosen.includes(key);
  const effective = { ...value, ...remote.settings };
  const name = `the broker's configuration, version ${remote.version}`;
  const shown = Object.fromEntries(
    [...new Set([...Object.keys(origins), ...remote.chosen])].map((key) => [
      key,
      isRemote(key) ? { kind: 'broker', name } : origins[key],
    ]),
  );
  const lines = Object.entries(shown).map(([key, origin]) => {
    const text = `${key} = ${JSON.stringify(settingAt(effective, key))}`;
    if (flags['origin'] !== true) return text;
    const own = isRemote(key)
      ? `; ${JSON.stringify(settingAt(value, key))} in ${origins[key]?.name ?? 'no file'}`
      : '';
    return `${text}   # ${origin?.name ?? ''}${own}`;
  });
  return {
    json: {
      config: effective,
      origins: shown,
      remote: { version: remote.version, onTrial: remote.onTrial, faults: remote.faults },
    },
    text: [...lines, ...(flags['origin'] === true ? remoteWords(remote) : [])].join('\n'),
  };
}
