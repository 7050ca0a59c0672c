// Rejects a change that would make a vehicle's configuration too large, before it is saved and while its author can react.
import { AppError } from '../../../src/core/errors.ts';
import type { SettingsChange } from '../../../src/core/settings/change.ts';
import { configSizeFault } from '../../rollout/config-size.ts';
import { encodeZones } from '../../rollout/config-zones.ts';
import { readAccountChoice } from '../../store/devices/vehicle-settings.ts';
import type { GeozoneRow } from '../../store/geozones/geozones.ts';
import type { ApiServices } from './api-services.ts';

interface ConfigChange {
  readonly settings: SettingsChange;
  readonly zone?: GeozoneRow;
}

/** @throws AppError `conflict` when a vehicle of the account could not be sent this. */
export async function requireConfigFits(
  services: ApiServices,
  accountID: string,
  change: ConfigChange,
): Promise<void> {
  const fault = await configSizeFault(services.db, encodeZones, { accountID, ...change });
  if (fault === null) return;
  throw new AppError('conflict', `${fault}; nothing was changed`, {
    hint: 'Delete geozones that are no longer used, or draw them with fewer points.',
  });
}

/** The same for a geozone as it is to be. */
export async function requireZoneFits(
  services: ApiServices,
  accountID: string,
  zone: GeozoneRow,
): Promise<void> {
  const { settings } = await readAccountChoice(services.db, accountID);
  await requireConfigFits(services, accountID, { settings, zone });
}
