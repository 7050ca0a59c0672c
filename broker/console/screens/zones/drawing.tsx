// What is drawn as numbers: radius, points, undo, and why it may not be saved. Zones and routes share it.
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import { zoneLimits } from '../../../../src/core/geo/geozone.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/fields/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { amountOf, amountText, Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { shownValue } from '../../state/account/measures.ts';
import { storedValue } from '../../state/settings/typed-amount.ts';
import { draftFault, hasRadius } from '../../state/zones/zone-draft.ts';
import { measures } from '../../words/measures.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Points } from './points.tsx';
import type { DraftEdit } from './use-draft.ts';

type Fault = ReturnType<typeof draftFault>;

function faultText(fault: Fault, words: WordsWith<[typeof zoneWords]>): string | null {
  const { faults } = words.zones;
  switch (fault?.code) {
    case undefined:
      return null;
    case 'few':
      return faults.few({ missing: fault.missing });
    case 'crossing':
      return faults.crossing({ one: fault.edges[0], other: fault.edges[1] });
    case 'radius':
      return faults.radius({
        low: amountOf(zoneLimits.radiusLeastM, 'm', words).value,
        high: amountText(zoneLimits.radiusMostM, 'm', words),
      });
    case 'wide':
      return faults.wide;
  }
}

interface RadiusProps {
  readonly radiusM: number;
  readonly fault: string | null;
  onChange(radiusM: number): void;
}

/** A radius in the unit of the reader. What is typed stays as long as it means the radius: metres are whole, and feet are not. */
function Radius({ radiusM, fault, onChange }: RadiusProps) {
  const words = useWords(zoneWords);
  const { system } = useValue(measures);
  const [typed, setTyped] = useState('');
  const metresOf = (text: string): number => Math.round(storedValue(Number(text), 'm', system));
  const known = String(Math.round(shownValue(radiusM, 'm', system)));
  return (
    <FormField
      label={`${words.zones.radius} (${amountOf(0, 'm', words).unit})`}
      value={metresOf(typed) === radiusM ? typed : known}
      fault={fault}
      most={5}
      onChange={(text) => {
        const digits = text.replaceAll(/\D/g, '');
        setTyped(digits);
        onChange(metresOf(digits));
      }}
    />
  );
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
        <Radius
          radiusM={draft.radiusM}
          fault={fault?.code === 'radius' ? text : null}
          onChange={(radiusM) => edit.set({ ...draft, radiusM })}
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
