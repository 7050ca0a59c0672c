// What is drawn as numbers: radius, points, undo, and why it may not be saved. Zones and routes share it.
import { Button } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { draftFault, hasRadius } from '../../state/zones/zone-draft.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Points } from './points.tsx';
import type { DraftEdit } from './use-draft.ts';

type Fault = ReturnType<typeof draftFault>;

function faultText(fault: Fault, { zones: { faults } }: WordsWith<[typeof zoneWords]>): string | null {
  switch (fault?.code) {
    case undefined:
      return null;
    case 'few':
      return faults.few({ missing: fault.missing });
    case 'crossing':
      return faults.crossing({ one: fault.edges[0], other: fault.edges[1] });
    case 'radius':
      return faults.radius;
    case 'wide':
      return faults.wide;
  }
}

interface DrawingProps {
  readonly edit: DraftEdit;
  /** Points that there may be, and what is said of one more. */
  readonly most: number;
  readonly fullText: string;
  /** It was to be saved: points that are missing are a fault. */
  readonly isTried: boolean;
  /** Null without a map. */
  readonly addMiddle: (() => void) | null;
}

export function Drawing({ edit, most, fullText, isTried, addMiddle }: DrawingProps) {
  const words = useWords(zoneWords);
  const { zones: texts } = words;
  const { draft, refused } = edit;
  const fault = draftFault(draft);
  const text = faultText(fault, words);
  const isFew = fault?.code === 'few';
  const isPoints = fault?.code !== 'radius' && (!isFew || isTried);
  return (
    <>
      {hasRadius(draft) ? (
        <FormField
          label={`${texts.radius} (${texts.metres})`}
          value={String(draft.radiusM)}
          fault={fault?.code === 'radius' ? text : null}
          most={5}
          onChange={(typed) => edit.set({ ...draft, radiusM: Number(typed.replaceAll(/\D/g, '')) })}
        />
      ) : null}
      <div className="stack">
        <h3>{texts.points}</h3>
        {addMiddle === null ? null : <p className="muted">{texts.drawHint}</p>}
        <Points
          draft={draft}
          after={edit.after}
          most={most}
          missing={isFew ? text : null}
          fault={isPoints ? text : null}
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
        {refused === null ? null : (
          <Notice
            tone="look"
            icon="triangle-alert"
            role="alert"
            title={refused === 'full' ? fullText : texts.refused.unset}
          />
        )}
      </div>
    </>
  );
}
