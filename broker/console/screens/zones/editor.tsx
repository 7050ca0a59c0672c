// The editor of a zone: its shape stands in the address and is drawn on the map; here are its name, its points as numbers and its automations.

import { useState } from 'react';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import type { Geozone } from '../../api/operations.ts';
import { FormField } from '../../components/fields/form-field.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { pointsMost, zoneTypes } from '../../state/zones/zone-address.ts';

import { zoneName } from '../../state/zones/zone-name.ts';
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
  zoneParts,
} from '../../state/zones/zone-view.ts';
import { ActList, AskDialog } from './parts.tsx';
import { ShapeEditor } from './shape-editor.tsx';
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
  const { zones: texts } = useWords(zoneWords);
  const [form, setForm] = useState(() => formOf(zone));
  /** Asked for once more before it is sent; null: nothing is. */
  const [looking, setLooking] = useState<ZoneForm | null>(null);
  const changes = useZoneChanges(onClose);
  const failure = useFailure(changes.failure, texts.failed);
  const { draft } = edit;
  const send = (made: ZoneForm): void =>
    changes.run({
      action: zone === undefined ? 'create' : 'update',
      body: changeOf(made, draft, zone),
    });
  const name = form.name || (looking ?? form).id;
  return (
    <>
      <ShapeEditor
        title={zone === undefined ? texts.newTitle : texts.editTitle({ name: zoneName(zone) })}
        save={texts.save}
        edit={edit}
        most={pointsMost}
        fullText={texts.refused.full}
        middle={middle}
        form={form}
        taken={zone === undefined ? zones.map(({ geozoneID }) => geozoneID) : null}
        changes={changes}
        failure={looking === null ? failure : null}
        above={
          <Choice
            label={texts.kind}
            choices={zoneTypes.map((type) => ({ value: String(type), text: texts.kinds[type] }))}
            chosen={String(draft.type)}
            onChoose={(value) =>
              edit.set({ ...draft, type: zoneTypes.find((type) => String(type) === value) ?? draft.type })
            }
          />
        }
        onForm={(change) => setForm({ ...form, ...change })}
        onSave={(made) => ([...made.switches].some(needsLook) ? setLooking(made) : send(made))}
        onClose={() => onClose(null)}
      >
        <FormField
          label={texts.description}
          value={form.description}
          most={256}
          onChange={(description) => setForm({ ...form, description })}
        />
        <h3>{texts.acts}</h3>
        <small>{texts.noticeHint}</small>
        <Acts form={form} onForm={setForm} />
      </ShapeEditor>
      <AskDialog
        isOpen={looking !== null}
        title={texts.lookTitle({ name })}
        confirm={texts.lookConfirm({ name })}
        isOff={changes.isBusy || changes.isDown}
        onClose={() => setLooking(null)}
        onConfirm={() => (looking === null ? undefined : send(looking))}
      >
        <p>{texts.lookHint}</p>
        <ActList switches={form.switches} />
        {failure}
      </AskDialog>
    </>
  );
}
