// Refuses what would no longer fit into the configuration of a vehicle, before it is saved: who draws a zone too many is the
// one who can do something about it.
import { AppError } from '../../../src/core/errors.ts';
import type { SettingsChange } from '../../../src/core/settings/change.ts';
import { configSizeFault } from '../../rollout/config-size.ts';
import { encodeZones } from '../../rollout/config-zones.ts';
import type { GeozoneRow } from '../../store/geozones.ts';
import { readAccountChoice } from '../../store/vehicle-settings.ts';
import type { ApiServices } from '../operation.ts';

interface Wish {
  readonly settings: SettingsChange;
  readonly zone?: GeozoneRow;
}

/** @throws AppError `conflict` when a vehicle of the account could not be sent this. */
export async function needRoom(services: ApiServices, accountID: string, wish: Wish): Promise<void> {
  const fault = await configSizeFault(services.db, encodeZones, { accountID, ...wish });
  if (fault === null) return;
  throw new AppError('conflict', `${fault}; nothing was changed`, {
    hint: 'Delete geozones that are no longer used, or draw them with fewer points.',
  });
}

/** The same for a geozone as it is to be. */
export async function needRoomForZone(
  services: ApiServices,
  accountID: string,
  zone: GeozoneRow,
): Promise<void> {
  const { settings } = await readAccountChoice(services.db, accountID);
  await needRoom(services, accountID, { settings, zone });
}
