// The palette, loaded when it is first opened. Keys that are pressed until it is there become its text, and reach nothing else.
import { type ComponentProps, Suspense, useLayoutEffect, useState } from 'react';
import { lazyPart } from '../components/use.ts';
import { withWords } from '../words/word-set.ts';

export const loadPalette = (isAhead = false) => withWords(import('./palette.tsx'), isAhead);
const Palette = lazyPart(async () => (await loadPalette()).Palette);

const modifiers: ReadonlySet<string> = new Set(['Control', 'Meta', 'Alt', 'Shift', 'AltGraph']);

/** Takes the keys of the whole page while it is mounted. */
function TypedAhead({ edit, close }: { edit(change: (text: string) => string): void; close(): void }) {
  useLayoutEffect(() => {
    const handle = (event: KeyboardEvent): void => {
      const { key } = event;
      if (event.ctrlKey || event.metaKey || modifiers.has(key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (key === 'Escape') close();
      else if (key === 'Backspace') edit((text) => text.slice(0, -1));
      // Names of keys that write nothing are longer.
      else if (Array.from(key).length === 1) edit((text) => text + key);
    };
    window.addEventListener('keydown', handle, true);
    return () => window.removeEventListener('keydown', handle, true);
  }, [edit, close]);
  return null;
}

type FirstPaletteProps = Omit<ComponentProps<typeof Palette>, 'text' | 'setText'>;

export function FirstPalette(props: FirstPaletteProps) {
  const { isOpen, onOpenChange } = props;
  const [text, setText] = useState('');
  const [isWanted, setWanted] = useState(false);
  if (isOpen && !isWanted) setWanted(true);
  if (!isWanted) return null;
  const close = (): void => {
    onOpenChange(false);
    setText('');
  };
  return (
    <Suspense fallback={isOpen ? <TypedAhead edit={setText} close={close} /> : null}>
      <Palette {...props} text={text} setText={setText} />
    </Suspense>
  );
}
