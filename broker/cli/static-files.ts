// What the HTTP service serves beside its operations: the console of the release, or of the setting, and the operator's maps.
import { fileURLToPath } from 'node:url';
import { AppError } from '../../src/core/errors.ts';
import { operatorFilesOf, readConsoleFiles, userFilesOf } from '../adapters/storage/console-files.ts';
import { openMapFolder } from '../adapters/storage/map-folder.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { mapStyleOf } from '../config/map-style-config.ts';
import type { ConsoleFiles } from '../ports/console-files.ts';
import type { MapFolder } from '../ports/map-folder.ts';
import type { MapStyle } from '../ports/map-style.ts';

/** Where a release has its console. */
const standardFolder = fileURLToPath(new URL('../console', import.meta.url));

export interface StaticFiles {
  /** Null: no console is installed. */
  readonly console: ConsoleFiles | null;
  /** The page of the operator, for the operator's listener; null: none is installed. */
  readonly operatorPage: ConsoleFiles | null;
  /** Null: no folder is configured. */
  readonly maps: MapFolder | null;
  /** Null: the console asks no other host. */
  readonly mapStyle: MapStyle | null;
}

/** @throws AppError `config` for a configured folder that is none, and for what is no console. */
export async function openStaticFiles(
  config: Pick<BrokerConfig, 'console' | 'maps' | 'mapStyle'>,
): Promise<StaticFiles> {
  const folder = config.console ?? standardFolder;
  const files = await readConsoleFiles(folder);
  if (files === null && config.console !== undefined) {
    throw new AppError('config', `--console ${folder} is no folder`, {
      hint: 'Name the folder that the build of the console has written, or leave the setting out.',
    });
  }
  const maps = config.maps === undefined ? null : await openMapFolder(config.maps);
  return {
    console: files === null ? null : userFilesOf(files),
    operatorPage: files === null ? null : operatorFilesOf(files),
    maps,
    mapStyle: mapStyleOf(config.mapStyle),
  };
}
