// The shape that is being drawn: it stands in the address, and its steps can be taken back.

import { useState } from 'react';
import type { Point } from '../../../../src/core/geo/geo.ts';
import type { Zone } from '../../../../src/core/geo/geozone.ts';
import { parseDraft } from '../../state/zones/zone-address.ts';
import {
  draftText,
  movedPoint,
  type PointChange,
  withoutPoint,
  withPoint,
} from '../../state/zones/zone-draft.ts';

export interface DraftEdit {
  readonly draft: Zone;
  /** Index of the point that the next one follows. */
  readonly after: number;
  readonly canUndo: boolean;
  /** Why the last point was not taken; null: it was. */
  readonly refused: 'full' | 'unset' | null;
  set(draft: Zone): void;
  setAfter(at: number): void;
  add(point: Point): void;
  move(at: number, point: Point): void;
  remove(at: number): void;
  undo(): void;
}

interface Drawn {
  /** As the address has it. */
  readonly shape: string | undefined;
  /** What a drawing begins with. */
  readonly first: Zone;
  /** Points that it may have. */
  readonly most: number;
  /** Puts it into the address. */
  onShape(text: string): void;
}

export function useDraft({ shape, first, most, onShape }: Drawn): DraftEdit {
  const draft = parseDraft(shape, most) ?? first;
  const [steps, setSteps] = useState<readonly Zone[]>([]);
  const [chosen, setChosen] = useState<number | null>(null);
  const [refused, setRefused] = useState<DraftEdit['refused']>(null);
  const last = draft.points.length - 1;
  const after = Math.min(chosen ?? last, last);
  const show = (next: Zone): void => {
    setRefused(null);
    onShape(draftText(next));
  };
  const set = (next: Zone): void => {
    setSteps([...steps, draft].slice(-100));
    show(next);
  };
  const take = (change: PointChange): boolean => {
    if ('draft' in change) set(change.draft);
    else setRefused(change.refused);
    return 'draft' in change;
  };
  return {
    draft,
    after,
    canUndo: steps.length > 0,
    refused,
    set,
    setAfter: (at) => setChosen(at === last ? null : at),
    add(point) {
      // A point that follows one in the middle is followed by the next.
      if (take(withPoint(draft, point, after, most)) && chosen !== null) setChosen(after + 1);
    },
    move: (at, point) => void take(movedPoint(draft, at, point)),
    remove(at) {
      setChosen(null);
      set(withoutPoint(draft, at));
    },
    undo() {
      const before = steps.at(-1);
      if (before === undefined) return;
      setSteps(steps.slice(0, -1));
      setChosen(null);
      show(before);
    },
  };
}
