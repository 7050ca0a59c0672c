// Begins the page of the operator of the service: it asks for a token, reads one answer again and again, and changes nothing. It loads
// nothing of the console but icons, themes and styles.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { operatorPageWords } from '../../../build/words/operatorPage.ts';
import { beginPageWords } from '../words/base/begin-page.ts';
import { followStatus } from './follow.ts';
import { OperatorPage } from './page.tsx';
import { TextsContext } from './words.ts';
import '../styles/tokens.css';
import '../styles/parts.css';
import '../styles/console.css';
import '../styles/operator.css';

async function begin(place: Element): Promise<void> {
  const texts = await beginPageWords(operatorPageWords);
  const followed = followStatus();
  // A tab that was hidden, or a computer that slept, has old values until it asks.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') followed.refresh();
  });
  createRoot(place).render(
    <StrictMode>
      <TextsContext value={texts}>
        <OperatorPage followed={followed} />
      </TextsContext>
    </StrictMode>,
  );
}

const place = document.querySelector('#root');
if (place !== null) void begin(place);
