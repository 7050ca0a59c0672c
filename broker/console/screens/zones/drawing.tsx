// What is drawn as numbers: radius, points, undo, and why it may not be saved. Zones and routes share it.
import { Button, Input, Label, TextField } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Zone } from '../../../../src/core/geo/geozone.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { draftFault, hasRadius } from '../../state/zones/zone-draft.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Points } from './points.tsx';
import type { DraftEdit } from './use-draft.ts';

function faultText(draft: Zone, { zones: { faults } }: WordsWith<[typeof zoneWords]>): string | null {
  const fault = draftFault(draft);
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
  /** Null without a map. */
  readonly addMiddle: (() => void) | null;
}

export function Drawing({ edit, most, fullText, addMiddle }: DrawingProps) {
  const words = useWords(zoneWords);
  const { zones: texts } = words;
  const { draft, refused } = edit;
  const fault = faultText(draft, words);
  return (
    <>
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
          most={most}
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
        {fault === null ? null : <Notice tone="look" icon="circle-alert" role="status" title={fault} />}
      </div>
    </>
  );
}
