// Names of the persons on the owner's list who may sign an order, and the number of signatures needed. Public keys and passkeys are left out.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { featureNames } from '../../../src/core/events/event.ts';
import { ownerFingerprint, type PersonsList } from '../../../src/core/persons/owner-document.ts';
import { mayOrder } from '../../../src/core/persons/persons.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, epoch, ok, text } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import type { DeviceKey } from '../../core/device-key.ts';
import { documentOf, findOwnerRow } from '../../store/commands/owner-documents.ts';

const signers = Type.Object({
  key: text("Fingerprint of the owner's key that the unit pins"),
  set: Type.Integer({
    minimum: 0,
    description: 'Version of the set of keys that the service keeps; 0: no document',
  }),
  list: Type.Integer({
    minimum: 0,
    description: 'Version of the list that the service keeps; 0: there is none',
  }),
  uploaded: epoch('When the service was given it; 0: there is none'),
  validUntil: epoch('When the list ends; 0: there is none'),
  needed: Type.Union(
    [Type.Object({ enginecutoff: Type.Integer(), cargoaccess: Type.Integer() }), Type.Null()],
    {
      description: 'Persons who must sign; null: there is no list',
    },
  ),
  persons: Type.Array(
    Type.Object({
      name: text('As the owner wrote it'),
      features: Type.Array(Type.Enum(featureNames), {
        description: 'What the person may order of this device',
      }),
    }),
    { description: 'Persons of the list whose signature counts for this device' },
  ),
});

/** @param list null: there is none. */
const personsFor = (list: PersonsList | null, device: DeviceKey): Static<typeof signers>['persons'] =>
  (list?.persons ?? []).flatMap((person) => {
    const features = featureNames.filter((feature) => mayOrder(person, { ...device, feature }));
    return features.length === 0 ? [] : [{ name: person.name, features }];
  });

const getSigners = operation({
  id: 'getSigners',
  method: 'GET',
  path: '/owner/signers/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Persons who may sign an order for a device',
  description: `Our addition, before a cut or an unlock of a device with an owner's key is asked for: how many persons must sign it, who may, and until when the
owner's list holds. What the unit itself holds stands in \`owner\` of getdevice with the time of its report. Without an owner's key \`signers\` is null.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: Type.Object({ ...envelope, signers: Type.Union([signers, Type.Null()]) }),
  errors: ['not_found'],
  effects: false,
  examples: {
    result: {
      signers: {
        key: '3T5F 9QRW 2KXM 8HDN 4BVC 7YPA',
        set: 1,
        list: 4,
        uploaded: 1763683200,
        validUntil: 1795219200,
        needed: { enginecutoff: 2, cargoaccess: 1 },
        persons: [{ name: 'Ann Li', features: ['enginecutoff', 'cargoaccess'] }],
      },
    },
  },
  async run({ params, caller }, services) {
    const device = await needDevice(services, caller, params.deviceID);
    const { accountID, deviceID, ownerPin } = device;
    if (ownerPin === null) return { ...ok, signers: null };
    const row = await findOwnerRow(services.db, { accountID, ownerPin });
    const list = row === null ? null : (documentOf(row)?.list ?? null);
    return {
      ...ok,
      signers: {
        key: ownerFingerprint(ownerPin),
        set: row?.setVersion ?? 0,
        list: list?.version ?? 0,
        uploaded: epochSeconds(row?.uploadedMs ?? 0),
        validUntil: epochSeconds(list?.validUntilMs ?? 0),
        needed: list === null ? null : { ...list.needed },
        persons: personsFor(list, { accountID, deviceID }),
      },
    };
  },
});

export const signersOperations = [getSigners] as const;
