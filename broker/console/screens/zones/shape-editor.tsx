// The editor of a zone or route: its name, its shape as it is drawn, and what else it has. What is wrong stands at its field when it is to be saved, and the
// first of these fields has the focus.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Fields, useNewID } from '../../components/patterns/form.tsx';
import { useWords } from '../../components/use.ts';
import { draftFault } from '../../state/zones/zone-draft.ts';
import { Drawing } from './drawing.tsx';
import type { Changes } from './use-change.ts';
import type { DraftEdit } from './use-draft.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface ShapeEditorProps<F extends Named> {
  readonly title: string;
  readonly save: string;
  readonly edit: DraftEdit;
  /** Points that there may be, and what is said of one more. */
  readonly most: number;
  readonly fullText: string;
  /** Null without a map. */
  readonly middle: (() => Point) | null;
  readonly form: F;
  /** Ids that are in use; null: the form changes what has its id already. */
  readonly taken: readonly string[] | null;
  readonly changes: Omit<Changes<never>, 'run'>;
  readonly failure: ReactNode;
  /** Between the name and the points. */
  readonly above?: ReactNode;
  /** Below the points. */
  readonly children: ReactNode;
  onForm(change: Partial<Named>): void;
  onSave(form: F): void;
  onClose(): void;
}

export function ShapeEditor<F extends Named>(props: ShapeEditorProps<F>) {
  const { title, edit, most, fullText, middle, form, taken, changes, failure, above, children } = props;
  const { zones: texts, common } = useWords(zoneWords);
  const element = useRef<HTMLFormElement>(null);
  const [tries, setTries] = useState(0);
  const isTried = tries > 0;
  const made = useNewID(form, texts, taken ?? [], isTried);
  const isOff = changes.isBusy || changes.isDown;
  useEffect(() => {
    if (isTried) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [isTried, tries]);
  const submit = (): void => {
    if (isOff) return;
    const isReady = (taken === null || made.isReady) && draftFault(edit.draft) === null;
    if (isReady) props.onSave(made.draft);
    else setTries(tries + 1);
  };
  return (
    <section className="panel" aria-label={title}>
      <Form
        className="zone-form"
        ref={element}
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="row">
          <h2>{title}</h2>
          <Button className="button square push" aria-label={common.cancel} onPress={props.onClose}>
            <Icon name="x" />
          </Button>
        </div>
        <Fields<Named>
          of={made.fields.slice(0, taken === null ? 1 : 2)}
          draft={made.draft}
          onChange={props.onForm}
        />
        {above}
        <Drawing
          edit={edit}
          most={most}
          fullText={fullText}
          isTried={isTried}
          addMiddle={middle === null ? null : () => edit.add(middle())}
        />
        {children}
        {failure}
        <div className="row wrap">
          <ActionButton className="button primary" type="submit" isOff={isOff}>
            {props.save}
          </ActionButton>
          {changes.isDown ? <span className="muted">{texts.off}</span> : null}
        </div>
      </Form>
    </section>
  );
}
