// Holds the order of a list while the pointer is over it or the keyboard is in it; on leaving, the order catches up.
import {
  type FocusEvent,
  type PointerEvent,
  type RefCallback,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type HeldRow, heldList } from './held-rows.ts';

/** A touch ends before its click: the order stays until that has found its row, ms. */
const touchMs = 1000;

interface Held<T> {
  readonly scope: string;
  readonly rows: readonly HeldRow<T>[];
}

/** The field that filters the list holds nothing. */
const byKeyboard = ':focus-visible:not([type="search"])';

/** After a touch, `:hover` stays until the next one. */
const hasPointer = matchMedia('(hover: hover)');

const isIn = (frame: HTMLElement): boolean =>
  (hasPointer.matches && frame.matches(':hover')) || frame.querySelector(byKeyboard) !== null;

/**
 * @param items in the order of now. @param keyOf the same function each time, where the list is long. @param scope filter and order that the reader chose: another one begins anew.
 * @returns the rows, those that are not shown yet, `insert` that shows them, and the attributes of the frame around list and bar.
 */
export function useHeldRows<T>(items: readonly T[], keyOf: (item: T) => string, scope = '') {
  const [held, setHeld] = useState<Held<T> | null>(null);
  const frame = useRef<HTMLElement | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isTouched = useRef(false);
  // Nothing can be aimed at in an empty list.
  const isHeld = held !== null && held.scope === scope && held.rows.length > 0;
  const rows = isHeld ? held.rows : null;
  const list = useMemo(() => heldList(rows, items, keyOf), [rows, items, keyOf]);
  const shown = useRef(list.rows);
  // Only what is on the screen can be aimed at.
  useLayoutEffect(() => {
    shown.current = list.rows;
  });
  useEffect(() => {
    // A row that went away with the focus gives no event; another filter under a resting pointer neither.
    if (held === null) return;
    if (frame.current === null || (!isIn(frame.current) && !isTouched.current)) setHeld(null);
    else if (!isHeld && list.rows.length > 0) setHeld({ scope, rows: list.rows });
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const hold = (): void => {
    clearTimeout(timer.current);
    setHeld((before) => (before?.scope === scope ? before : { scope, rows: shown.current }));
  };
  const release = (): void => {
    isTouched.current = false;
    if (frame.current === null || !isIn(frame.current)) setHeld(null);
  };
  const releaseSoon = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(release, touchMs);
  };
  return {
    ...list,
    held: rows,
    insert: (): void => setHeld((before) => before && { scope, rows: heldList(null, items, keyOf).rows }),
    frame: {
      ref: useCallback((element: HTMLElement | null) => {
        frame.current = element;
      }, []) satisfies RefCallback<HTMLElement>,
      onPointerEnter({ pointerType }: PointerEvent) {
        isTouched.current = pointerType === 'touch';
        hold();
      },
      onPointerLeave: ({ pointerType }: PointerEvent) =>
        pointerType === 'touch' ? releaseSoon() : release(),
      onFocus: ({ target }: FocusEvent) => (target.matches(byKeyboard) ? hold() : undefined),
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
        relatedTarget instanceof Node && currentTarget.contains(relatedTarget) ? undefined : release(),
    },
  };
}
