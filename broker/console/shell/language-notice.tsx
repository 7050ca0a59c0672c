// Says that the words of a language could not be loaded; the page goes on in the one before.
import { Button } from 'react-aria-components';
import { Notice } from '../components/texts.tsx';
import { useValue, useWords } from '../components/use.ts';
import { languages, notLoaded, setLanguage } from '../words/word-set.ts';

export function LanguageNotice() {
  const { shell, common } = useWords();
  const wanted = useValue(notLoaded);
  if (wanted === null) return null;
  return (
    <div className="row wrap">
      <Notice
        tone="look"
        icon="triangle-alert"
        role="alert"
        title={shell.languageNotLoaded(languages[wanted])}
      >
        {shell.languageStays}
      </Notice>
      <Button className="button secondary" onPress={() => void setLanguage(wanted)}>
        {common.retry}
      </Button>
    </div>
  );
}
