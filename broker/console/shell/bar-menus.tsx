// The menus of the bar in their places. They are loaded behind the first screen; until then only their pictures stand there.
import { type ComponentProps, Suspense } from 'react';
import { Icon } from '../components/icon.tsx';
import { lazyPart } from '../components/use.ts';
import { withWords } from '../words/word-set.ts';

const Theme = lazyPart(async () => (await withWords(import('./menus.tsx'))).ThemeMenu);
const User = lazyPart(async () => (await withWords(import('./menus.tsx'))).UserMenu);

/** Theme and language. */
export function ThemeButton() {
  return (
    <Suspense
      fallback={
        <span className="button square">
          <Icon name="sun-moon" isLarge />
        </span>
      }
    >
      <Theme />
    </Suspense>
  );
}

export function UserButton(props: ComponentProps<typeof User>) {
  return (
    <Suspense fallback={<span className="button square" />}>
      <User {...props} />
    </Suspense>
  );
}
