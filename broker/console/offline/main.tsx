// Begins the page that the service worker shows while the service cannot be reached: the last picture, and nothing that asks for anything.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { keepFocus } from '../shell/kept-focus.ts';
import { beginLanguage } from '../words/language.ts';
import { withWords } from '../words/word-set.ts';
import { findPicture } from './last-picture.ts';
import { followReturn } from './return.ts';
import '../styles/tokens.css';
import '../styles/parts.css';
import '../styles/console.css';
import '../styles/offline.css';

async function begin(place: Element): Promise<void> {
  await beginLanguage().catch(() => undefined);
  const [{ OfflinePage }, picture] = await Promise.all([withWords(import('./page.tsx')), findPicture()]);
  createRoot(place).render(
    <StrictMode>
      <OfflinePage first={picture} />
    </StrictMode>,
  );
  followReturn();
}

keepFocus();
const place = document.querySelector('#root');
if (place !== null) void begin(place);
