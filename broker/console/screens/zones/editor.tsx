// The editor of a zone: its shape stands in the address and is drawn on the map; here are its points as numbers, its names and its automations.
import { type FormEvent, useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { isName } from '../../../../src/core/ids.ts';
import type { Geozone } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { draftFault, pointsMost } from '../../state/zones/zone-draft.ts';
import { zoneTypes } from '../../state/zones/zone-geometry.ts';
import {
  changeOf,
  formOf,
  moments,
  needsLook,
  noticeOf,
  notices,
  switchOf,
  withAct,
  withNotice,
  type ZoneAct,
  type ZoneForm,
  type ZonePart,
  zoneName,
  zoneParts,
} from '../../state/zones/zone-view.ts';
import { Drawing } from './drawing.tsx';
import { ActList, AskDialog } from './parts.tsx';
import type { DraftEdit } from './use-draft.ts';
import { useZoneChanges } from './use-zone-changes.ts';

interface FormProps {
  readonly form: ZoneForm;
  onForm(form: ZoneForm): void;
}

const parts = Object.keys(zoneParts) as readonly ZonePart[];

function Acts({ form, onForm }: FormProps) {
  const { zones: texts } = useWords(zoneWords);
  return moments.map((moment) => (
    <fieldset key={moment} className="stack">
      <legend className="strong">{texts.moments[moment]}</legend>
      <Choice
        label={texts.notice}
        choices={notices.map((value) => ({ value, text: texts.notices[value] }))}
        chosen={noticeOf(form.switches, moment)}
        onChoose={(value) =>
          onForm(withNotice(form, moment, notices.find((one) => one === value) ?? 'nothing'))
        }
      />
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
    </fieldset>
  ));
}

function Names({ form, onForm, isNew, fault }: FormProps & { isNew: boolean; fault: string | null }) {
  const { zones: texts } = useWords(zoneWords);
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
  const { zones: texts } = useWords(zoneWords);
  const { draft } = edit;
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
      <Drawing edit={edit} most={pointsMost} fullText={texts.refused.full} addMiddle={addMiddle} />
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
  const words = useWords(zoneWords);
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
  const title = zone === undefined ? texts.newTitle : texts.editTitle({ name: zoneName(zone) });
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
        <small>{texts.noticeHint}</small>
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
        title={texts.lookTitle({ name })}
        confirm={texts.lookConfirm({ name })}
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
