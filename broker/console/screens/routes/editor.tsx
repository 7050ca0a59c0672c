// The editor of a route: its way stands in the address and is drawn on the map; here are its points as numbers, its names and its vehicles.
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { routeWords } from '../../../../build/words/route.ts';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { isName } from '../../../../src/core/ids.ts';
import type { PlannedRoute } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { routeChangeOf, routeFormOf, routeName, routeVehiclesMost } from '../../state/zones/route-view.ts';
import { draftFault, routePointsMost } from '../../state/zones/zone-draft.ts';
import { VehicleChoices } from '../reports/vehicle-choices.tsx';
import { Drawing } from '../zones/drawing.tsx';
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
  const { routes: texts, zones, common } = useWords(routeWords, zoneWords);
  const [form, setForm] = useState(() => routeFormOf(route));
  const changes = useRouteChanges(() => onClose(form.id));
  const failure = useFailure(changes.failure, zones.failed);
  const isTaken = route === undefined && routes.some(({ routeID }) => routeID === form.id);
  const idFault = isTaken ? texts.idTaken : isName(form.id) ? null : zones.idWrong;
  const isOff = idFault !== null || draftFault(edit.draft) !== null || changes.isBusy || changes.isDown;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff) changes.run({ action: 'save', body: routeChangeOf(form, edit.draft, route) });
  };
  const title = route === undefined ? texts.newTitle : zones.editTitle({ name: routeName(route) });
  return (
    <section className="panel" aria-label={title}>
      <Form className="zone-form" onSubmit={submit} validationBehavior="aria">
        <div className="row">
          <h2>{title}</h2>
          <Button className="button square push" aria-label={common.cancel} onPress={() => onClose(null)}>
            <Icon name="x" />
          </Button>
        </div>
        <Drawing
          edit={edit}
          most={routePointsMost}
          fullText={texts.full}
          addMiddle={middle === null ? null : () => edit.add(middle())}
        />
        {route === undefined ? (
          <FormField
            label={zones.id}
            value={form.id}
            hint={zones.idHint}
            fault={form.id === '' ? null : idFault}
            most={64}
            onChange={(id) => setForm({ ...form, id })}
          />
        ) : null}
        <FormField
          label={zones.name}
          value={form.name}
          most={128}
          onChange={(name) => setForm({ ...form, name })}
        />
        <h3>{texts.planned}</h3>
        <VehicleChoices
          chosen={form.deviceIDs}
          most={routeVehiclesMost}
          mostText={texts.most({ count: routeVehiclesMost })}
          choose={(deviceIDs) => setForm({ ...form, deviceIDs })}
        />
        {failure}
        <div className="row wrap">
          <ActionButton className="button primary" type="submit" isOff={isOff}>
            {texts.save}
          </ActionButton>
          {changes.isDown ? <span className="muted">{zones.off}</span> : null}
        </div>
      </Form>
    </section>
  );
}
