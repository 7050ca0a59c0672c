// Begins the page of a share link: it has no session, reads none, and loads nothing of the console but map, icons and styles.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { sharePageWords } from '../../../build/words/sharePage.ts';
import { shareTokenOf } from '../state/shares/shared-view.ts';
import { beginPageWords } from '../words/base/begin-page.ts';
import { followShare } from './follow.ts';
import { EndedPage, SharePage } from './page.tsx';
import '../styles/tokens.css';
import '../styles/parts.css';
import '../styles/console.css';
import '../styles/share.css';

async function begin(place: Element): Promise<void> {
  const texts = await beginPageWords(sharePageWords);
  const root = createRoot(place);
  let leave = (): void => undefined;
  const open = (): void => {
    leave();
    const token = shareTokenOf(window.location.hash);
    if (token === null) {
      leave = () => undefined;
      return root.render(<EndedPage texts={texts} end="incomplete" />);
    }
    const followed = followShare(token);
    leave = followed.leave;
    return root.render(
      <StrictMode>
        <SharePage key={token} state={followed.state} texts={texts} />
      </StrictMode>,
    );
  };
  // Another link that is opened in this tab changes the fragment only.
  window.addEventListener('hashchange', open);
  open();
}

const place = document.querySelector('#root');
if (place !== null) void begin(place);
