// The editor of a route: its way stands in the address and is drawn on the map; here are its name, its points as numbers and its vehicles.

import { useState } from 'react';
import { routeWords } from '../../../../build/words/route.ts';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import type { PlannedRoute } from '../../api/operations.ts';
import { useWords } from '../../components/use.ts';
import { VehicleChoices } from '../../components/vehicle-choices.tsx';
import { useFailure } from '../../components/view.tsx';
import { routeChangeOf, routeFormOf, routeName, routeVehiclesMost } from '../../state/zones/route-view.ts';
import { routePointsMost } from '../../state/zones/zone-address.ts';

import { ShapeEditor } from '../zones/shape-editor.tsx';
import type { DraftEdit } from '../zones/use-draft.ts';
import { useRouteChanges } from './use-routes.ts';

interface EditorProps {
  readonly edit: DraftEdit;
  /** The route as it was read; undefined: a new one. */
  readonly route: PlannedRoute | undefined;
  readonly routes: readonly PlannedRoute[];
  /** Null without a map. */
  readonly middle: (() => Point) | null;
  /** @param id the route to show then; null: as before. */
  onClose(id: string | null): void;
}

export function RouteEditor({ edit, route, routes, middle, onClose }: EditorProps) {
  const { routes: texts, zones } = useWords(routeWords, zoneWords);
  const [form, setForm] = useState(() => routeFormOf(route));
  const changes = useRouteChanges(onClose);
  return (
    <ShapeEditor
      title={route === undefined ? texts.newTitle : zones.editTitle({ name: routeName(route) })}
      save={texts.save}
      edit={edit}
      most={routePointsMost}
      fullText={texts.full}
      middle={middle}
      form={form}
      taken={route === undefined ? routes.map(({ routeID }) => routeID) : null}
      changes={changes}
      failure={useFailure(changes.failure, zones.failed)}
      onForm={(change) => setForm({ ...form, ...change })}
      onSave={(made) => changes.run({ action: 'save', body: routeChangeOf(made, edit.draft, route) })}
      onClose={() => onClose(null)}
    >
      <h3>{texts.planned}</h3>
      <VehicleChoices
        chosen={form.deviceIDs}
        most={routeVehiclesMost}
        choose={(deviceIDs) => setForm({ ...form, deviceIDs })}
      />
    </ShapeEditor>
  );
}
