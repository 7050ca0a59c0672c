// Begins the wallboard: a page of its own, without router, dialogs and whatever changes something.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { useWords } from '../components/use.ts';
import { keepFocus } from '../shell/kept-focus.ts';
import { beginLanguage } from '../words/language.ts';
import { withWords } from '../words/word-set.ts';
import { beginAccess } from './access.ts';
import { followRelease } from './release-watch.ts';
import { keepScreenOn } from './wake-lock.ts';
import '../styles/tokens.css';
import '../styles/parts.css';
import '../styles/console.css';
import '../styles/wallboard.css';

const queries = new QueryClient();

async function begin(place: Element): Promise<void> {
  await beginLanguage().catch(() => undefined);
  const { WallboardPage } = await withWords(import('./page.tsx'));
  function Wallboard() {
    const { locale } = useWords();
    return (
      <I18nProvider locale={locale}>
        <QueryClientProvider client={queries}>
          <WallboardPage />
        </QueryClientProvider>
      </I18nProvider>
    );
  }
  createRoot(place).render(
    <StrictMode>
      <Wallboard />
    </StrictMode>,
  );
  followRelease();
  keepScreenOn();
}

beginAccess();
keepFocus();
const place = document.querySelector('#root');
if (place !== null) void begin(place);
