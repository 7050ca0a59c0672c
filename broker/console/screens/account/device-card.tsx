// What this device keeps for a start without network: the choice of this user, here and nowhere else.

import { Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { chooseKeeping, keeping } from '../../service/offline/kept-picture.ts';
import { keepings } from '../../state/offline/picture.ts';
import { accountWords } from '../../words/account/words.ts';
import { Choice } from '../cut/choice.tsx';

export function DeviceCard() {
  const { device: texts } = useWords(accountWords).account;
  const chosen = useValue(keeping);
  return (
    <section className="card" aria-labelledby="device-title">
      <header>
        <h2 id="device-title">{texts.title}</h2>
      </header>
      <div className="card-body stack">
        <p className="muted">{texts.text}</p>
        {window.isSecureContext ? null : <Notice tone="look" icon="triangle-alert" title={texts.insecure} />}
        <Choice
          label={texts.keep}
          hint={texts.hint}
          chosen={chosen}
          choices={keepings.map((value) => ({ value, text: texts.choices[value] }))}
          onChoose={(value) => {
            const wanted = keepings.find((one) => one === value);
            if (wanted !== undefined) chooseKeeping(wanted);
          }}
        />
      </div>
    </section>
  );
}
