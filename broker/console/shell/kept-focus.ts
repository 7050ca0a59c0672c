// Keeps the keyboard focus on the page: when the element that has it is removed or disabled, the focus moves to what stands in its place.
// It never moves to a button: the key whose press removed the element may still be down.

/** Dialogs and menus give the focus back by themselves in the frame after they close, ms. */
const settleMs = 60;
/** Parts of a page that have a name. */
const parts = 'section, article, aside, main, [role=dialog]';

/** Where the focus was last, as it stood then. */
interface Trail {
  readonly element: Element;
  /** The nearest first. */
  readonly ancestors: readonly Element[];
  /** The row that holds it, those after it, then those before it, the nearest first. */
  readonly rows: readonly Element[];
  /** For an element of a dialog: where the focus was before the dialog. */
  readonly before: Trail | null;
}

function trailOf(element: Element, last: Trail | null): Trail {
  const ancestors: Element[] = [];
  for (let one = element.parentElement; one !== null; one = one.parentElement) ancestors.push(one);
  const row = element.closest('tr, li');
  const list = [...(row?.parentElement?.children ?? [])];
  const at = list.findIndex((one) => one === row);
  return {
    element,
    ancestors,
    rows: [...list.slice(at), ...list.slice(0, at).toReversed()],
    before: element.closest('[role=dialog]') === null ? null : (last?.before ?? last),
  };
}

const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body;

const canHaveFocus = (element: Element): boolean =>
  element.isConnected && !element.matches(':disabled') && element.closest('.gone') === null;

/** The first link of the nearest row that still stands. */
function linkIn({ rows }: Trail): HTMLElement | null {
  for (const row of rows) {
    const link = row.isConnected ? row.querySelector<HTMLElement>('a[href]:not(.gone a)') : null;
    if (link !== null) return link;
  }
  return null;
}

/** Where the focus goes; null while there is no screen. */
function placeFor(trail: Trail): HTMLElement | null {
  const kept = trail.ancestors.find(({ isConnected }) => isConnected);
  const part = kept?.closest<HTMLElement>(parts) ?? null;
  if (part === null && trail.before !== null) return placeFor(trail.before);
  const modal = [...document.querySelectorAll<HTMLElement>('[role=dialog]')].at(-1);
  if (modal !== undefined && (part === null || !modal.contains(part))) return modal;
  const link = linkIn(trail);
  if (link !== null) return link;
  if (part !== null && !part.matches('main')) return part;
  const main = document.querySelector('main');
  return main?.querySelector<HTMLElement>('h1:not(.hidden)') ?? main;
}

/** Begins to keep the focus, for as long as the page lives. */
export function keepFocus(): void {
  let trail: Trail | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const check = (): void => {
    timer = null;
    if (!isLost() || trail === null) return;
    if (canHaveFocus(trail.element)) {
      // The user left it, by a click beside it for example.
      trail = null;
      return;
    }
    const place = placeFor(trail);
    if (place === null) return;
    if (!place.matches('a[href], [tabindex]')) place.tabIndex = -1;
    place.focus();
  };
  const checkSoon = (): void => {
    if (trail !== null && isLost()) timer ??= setTimeout(check, settleMs);
  };
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) trail = trailOf(target, trail);
  });
  document.addEventListener('focusout', checkSoon);
  new MutationObserver(checkSoon).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled', 'inert'],
  });
}
