// The points of a zone as numbers: each can be typed, moved in the order, and removed.

import { useState } from 'react';
import { Button, FieldError, Input, Label, TextField } from 'react-aria-components';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import type { Zone } from '../../../../src/core/geo/geozone.ts';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { parsePoint } from '../../state/zones/zone-address.ts';
import { pointText } from '../../state/zones/zone-draft.ts';

interface PointFieldProps {
  readonly label: string;
  /** As it stands; empty for the next point. */
  readonly text: string;
  /** What is wrong with the points; null: nothing. */
  readonly fault?: string | null;
  onPoint(point: Point): void;
}

/** What is typed counts with Enter, and for a point that is there when the field is left. */
function PointField({ label, text, fault = null, onPoint }: PointFieldProps) {
  const { zones: texts } = useWords(zoneWords);
  const [typed, setTyped] = useState(text);
  const [isWrong, setWrong] = useState(false);
  const take = (): void => {
    if (typed === text) return setWrong(false);
    const point = parsePoint(typed);
    setWrong(point === null);
    if (point === null) return;
    onPoint(point);
    setTyped(text);
  };
  return (
    <TextField
      className="field"
      value={typed}
      onChange={setTyped}
      isInvalid={isWrong || fault !== null}
      validationBehavior="aria"
      onBlur={take}
      onKeyDown={({ key }) => (key === 'Enter' ? take() : undefined)}
    >
      <Label className="hidden">{label}</Label>
      <Input className="input mono" dir="ltr" placeholder={text === '' ? label : ''} />
      <FieldError className="fault">
        <Icon name="circle-alert" />
        {isWrong ? texts.refused.form : fault}
      </FieldError>
    </TextField>
  );
}

interface PointsProps {
  readonly draft: Zone;
  /** Index of the point that the next one follows. */
  readonly after: number;
  /** Points that there may be. */
  readonly most: number;
  /** How many are missing; null: none. */
  readonly missing: string | null;
  /** What is wrong with them; null: nothing. */
  readonly fault: string | null;
  onAdd(point: Point): void;
  onMove(at: number, point: Point): void;
  onRemove(at: number): void;
  onInsertAfter(at: number): void;
}

export function Points({ draft, after, most, missing, fault, ...on }: PointsProps) {
  const { zones: texts } = useWords(zoneWords);
  const { onAdd, onMove, onRemove, onInsertAfter } = on;
  const { points } = draft;
  const isEnd = after === points.length - 1;
  return (
    <>
      <ol className="zone-points" aria-label={texts.points}>
        {points.map((point, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two points may be the same
          <li key={`${at} ${pointText(point)}`} className="row">
            <PointField
              label={texts.point({ number: at + 1 })}
              text={pointText(point).replace(',', ', ')}
              onPoint={(to) => onMove(at, to)}
            />
            <Button
              className="button square small"
              aria-label={texts.insert({ number: at + 1 })}
              aria-pressed={at === after && !isEnd}
              onPress={() => onInsertAfter(at)}
            >
              <Icon name="plus" />
            </Button>
            <Button
              className="button square small"
              aria-label={texts.take({ number: at + 1 })}
              onPress={() => onRemove(at)}
            >
              <Icon name="x" />
            </Button>
          </li>
        ))}
      </ol>
      <PointField
        key={`next ${points.map(pointText).join()}`}
        label={texts.next}
        text=""
        fault={fault}
        onPoint={onAdd}
      />
      <p className="row wrap" role="status">
        <span className="muted">{texts.count({ set: points.length, all: most })}</span>
        {missing === null || fault !== null ? null : <span className="muted">{missing}</span>}
        {isEnd || points.length === 0 ? null : <span>{texts.after({ number: after + 1 })}</span>}
      </p>
    </>
  );
}
