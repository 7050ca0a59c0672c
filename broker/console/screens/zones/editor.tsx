// The editor of a zone: its shape stands in the address and is drawn on the map; here are its points as numbers, its names and its automations.
import { type FormEvent, useState } from 'react';
import { Button, Form, Input, Label, Switch, TextField } from 'react-aria-components';
import type { Point } from '../../../../src/core/geo/geo.ts';
import type { Zone, ZoneSwitch } from '../../../../src/core/geo/geozone.ts';
import { isName } from '../../../../src/core/ids.ts';
import type { Geozone } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { draftFault, hasRadius } from '../../state/zones/zone-draft.ts';
import { zoneTypes } from '../../state/zones/zone-geometry.ts';
import {
  changeOf,
  formOf,
  moments,
  needsLook,
  switchOf,
  withAct,
  type ZoneAct,
  type ZoneForm,
  type ZonePart,
  zoneName,
  zoneParts,
} from '../../state/zones/zone-view.ts';
import type { Words } from '../../words/en.ts';
import { Choice } from '../cut/choice.tsx';
import { ActList, AskDialog } from './parts.tsx';
import { Points } from './points.tsx';
import type { DraftEdit } from './use-draft.ts';
import { useZoneChanges } from './use-zone-changes.ts';

function faultText(draft: Zone, { zones: { faults } }: Words): string | null {
  const fault = draftFault(draft);
  switch (fault?.code) {
    case undefined:
      return null;
    case 'few':
      return faults.few(fault.missing);
    case 'crossing':
      return faults.crossing(...fault.edges);
    case 'radius':
      return faults.radius;
    case 'wide':
      return faults.wide;
  }
}

interface FormProps {
  readonly form: ZoneForm;
  onForm(form: ZoneForm): void;
}

const parts = Object.keys(zoneParts) as readonly ZonePart[];

function Acts({ form, onForm }: FormProps) {
  const { zones: texts } = useWords();
  const alert = (name: ZoneSwitch, isOn: boolean): void => {
    const switches = new Set(form.switches);
    if (isOn) switches.add(name);
    else switches.delete(name);
    onForm({ ...form, switches });
  };
  return moments.map((moment) => (
    <fieldset key={moment} className="stack">
      <legend className="strong">{texts.moments[moment]}</legend>
      {parts.map((part) => {
        const acts: readonly ZoneAct[] = zoneParts[part];
        const chosen = acts.find((act) => form.switches.has(switchOf(moment, act))) ?? null;
        return (
          <Choice
            key={part}
            label={texts.parts[part]}
            choices={[
              { value: 'nothing', text: texts.nothing },
              ...acts.map((act) => ({ value: act, text: texts.does[act] })),
            ]}
            chosen={chosen ?? 'nothing'}
            onChoose={(value) => {
              const act = acts.find((one) => one === value) ?? null;
              onForm(withAct(form, { moment, part, act }));
            }}
          />
        );
      })}
      <Switch
        className="switch"
        isSelected={form.switches.has(moment === 'arrival' ? 'alertEntry' : 'alertExit')}
        onChange={(isOn) => alert(moment === 'arrival' ? 'alertEntry' : 'alertExit', isOn)}
      >
        <span className="track" />
        <span>{texts.alert}</span>
      </Switch>
    </fieldset>
  ));
}

function Names({ form, onForm, isNew, fault }: FormProps & { isNew: boolean; fault: string | null }) {
  const { zones: texts } = useWords();
  return (
    <>
      {isNew ? (
        <TextField
          className="field"
          value={form.id}
          onChange={(id) => onForm({ ...form, id })}
          maxLength={64}
          isInvalid={form.id !== '' && fault !== null}
        >
          <Label>{texts.id}</Label>
          <Input className="input" />
          <small className={form.id !== '' && fault !== null ? 'look' : ''}>
            {(form.id === '' ? null : fault) ?? texts.idHint}
          </small>
        </TextField>
      ) : null}
      <TextField
        className="field"
        value={form.name}
        onChange={(name) => onForm({ ...form, name })}
        maxLength={128}
      >
        <Label>{texts.name}</Label>
        <Input className="input" />
      </TextField>
      <TextField
        className="field"
        value={form.description}
        onChange={(description) => onForm({ ...form, description })}
        maxLength={256}
      >
        <Label>{texts.description}</Label>
        <Input className="input" />
      </TextField>
    </>
  );
}

function Shape({ edit, addMiddle }: { readonly edit: DraftEdit; readonly addMiddle: (() => void) | null }) {
  const words = useWords();
  const { zones: texts } = words;
  const { draft } = edit;
  const fault = faultText(draft, words);
  return (
    <>
      <Choice
        label={texts.kind}
        choices={zoneTypes.map((type) => ({ value: String(type), text: texts.kinds[type] }))}
        chosen={String(draft.type)}
        onChoose={(value) =>
          edit.set({ ...draft, type: zoneTypes.find((type) => String(type) === value) ?? draft.type })
        }
      />
      {hasRadius(draft) ? (
        <TextField
          className="field"
          value={String(draft.radiusM)}
          onChange={(text) => edit.set({ ...draft, radiusM: Number(text.replaceAll(/\D/g, '').slice(0, 5)) })}
        >
          <Label>
            {texts.radius} ({texts.metres})
          </Label>
          <Input className="input" inputMode="numeric" dir="ltr" />
        </TextField>
      ) : null}
      <div className="stack">
        <h3>{texts.points}</h3>
        {addMiddle === null ? null : <p className="muted">{texts.drawHint}</p>}
        <Points
          draft={draft}
          after={edit.after}
          onAdd={edit.add}
          onMove={edit.move}
          onRemove={edit.remove}
          onInsertAfter={edit.setAfter}
        />
        <div className="row wrap">
          {addMiddle === null ? null : (
            <Button className="button secondary small" onPress={addMiddle}>
              <Icon name="plus" />
              {texts.middle}
            </Button>
          )}
          <ActionButton className="button secondary small" isOff={!edit.canUndo} onPress={edit.undo}>
            <Icon name="undo-2" />
            {texts.undo}
          </ActionButton>
        </div>
        {edit.refused === null ? null : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={texts.refused[edit.refused]} />
        )}
        {fault === null ? null : <Notice tone="look" icon="circle-alert" role="status" title={fault} />}
      </div>
    </>
  );
}

interface EditorProps {
  readonly edit: DraftEdit;
  /** The zone as it was read; undefined: a new one. */
  readonly zone: Geozone | undefined;
  readonly zones: readonly Geozone[];
  /** Null without a map. */
  readonly middle: (() => Point) | null;
  /** @param id the zone to show then; null: as before. */
  onClose(id: string | null): void;
}

export function ZoneEditor({ edit, zone, zones, middle, onClose }: EditorProps) {
  const words = useWords();
  const { zones: texts, common } = words;
  const [form, setForm] = useState(() => formOf(zone));
  const [isLooking, setLooking] = useState(false);
  const changes = useZoneChanges(() => onClose(form.id));
  const failure = useFailure(changes.failure, texts.failed);
  const isTaken = zone === undefined && zones.some(({ geozoneID }) => geozoneID === form.id);
  const idFault = isTaken ? texts.idTaken : isName(form.id) ? null : texts.idWrong;
  const isOff = idFault !== null || draftFault(edit.draft) !== null || changes.isBusy || changes.isDown;
  const send = (): void =>
    changes.run({
      action: zone === undefined ? 'create' : 'update',
      body: changeOf(form, edit.draft, zone),
    });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isOff) return;
    if ([...form.switches].some(needsLook)) setLooking(true);
    else send();
  };
  const name = form.name || form.id;
  const title = zone === undefined ? texts.newTitle : texts.editTitle(zoneName(zone));
  return (
    <section className="panel" aria-label={title}>
      <Form className="zone-form" onSubmit={submit}>
        <div className="row">
          <h2>{title}</h2>
          <Button className="button square push" aria-label={common.cancel} onPress={() => onClose(null)}>
            <Icon name="x" />
          </Button>
        </div>
        <Shape edit={edit} addMiddle={middle === null ? null : () => edit.add(middle())} />
        <Names form={form} onForm={setForm} isNew={zone === undefined} fault={idFault} />
        <h3>{texts.acts}</h3>
        <Acts form={form} onForm={setForm} />
        {isLooking ? null : failure}
        <div className="row wrap">
          <ActionButton className="button primary" type="submit" isOff={isOff}>
            {texts.save}
          </ActionButton>
          {changes.isDown ? <span className="muted">{texts.off}</span> : null}
        </div>
      </Form>
      <AskDialog
        isOpen={isLooking}
        title={texts.lookTitle(name)}
        confirm={texts.lookConfirm(name)}
        isOff={isOff}
        onClose={() => setLooking(false)}
        onConfirm={send}
      >
        <p>{texts.lookHint}</p>
        <ActList switches={form.switches} />
        {failure}
      </AskDialog>
    </section>
  );
}
