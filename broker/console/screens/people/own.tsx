// The reader's own sessions and tokens, and the password.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { peopleWords } from '../../../../build/words/people.ts';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useUser } from '../../service/role.ts';
import { passwordLeast, passwordMost } from '../../state/people-view.ts';
import { Ask } from './ask.tsx';
import { DialogButton } from './dialog-button.tsx';
import { Sessions } from './sessions.tsx';
import { NewToken } from './token.tsx';

function OwnPassword() {
  const { people: texts } = useWords(peopleWords);
  const { ownPassword, fields } = texts;
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const [isDone, setDone] = useState(false);
  const isShort = newPassword !== '' && newPassword.length < passwordLeast;
  return (
    <>
      <p className="muted" role="status">
        {isDone ? ownPassword.done : ''}
      </p>
      <Ask
        name="own-password"
        icon="lock"
        title={ownPassword.title}
        action={ownPassword.open}
        isOff={currentPassword === '' || newPassword.length < passwordLeast}
        beginsInField
        run={() => call('changePassword', { body: { currentPassword, newPassword } })}
        onDone={() => {
          setCurrent('');
          setNew('');
          setDone(true);
        }}
      >
        <p>{ownPassword.text}</p>
        <FormField
          label={ownPassword.before}
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          most={passwordMost}
          isRequired
          hasFocus
          onChange={setCurrent}
        />
        <FormField
          label={ownPassword.after}
          type="password"
          autoComplete="new-password"
          value={newPassword}
          fault={isShort ? fields.passwordShort : null}
          most={passwordMost}
          isRequired
          onChange={setNew}
        />
      </Ask>
    </>
  );
}

export function Own() {
  const { people: texts, pages } = useWords(peopleWords);
  const user = useUser();
  if (user === undefined) return null;
  return (
    <div className="split">
      <Sessions userID={user.userID} />
      <aside className="card" aria-label={texts.token.shown}>
        <div className="card-body stack">
          {user.hasPassword ? (
            <>
              <DialogButton name="token-create" className="button primary">
                <Icon name="key-round" />
                {texts.token.create}…
              </DialogButton>
              <DialogButton name="own-password" className="button secondary">
                <Icon name="lock" />
                {texts.ownPassword.open}…
              </DialogButton>
              <p className="muted">{texts.token.wallboard}</p>
              <Link to="/wallboard" target="_blank" rel="noopener">
                {pages.wallboard.go}
              </Link>
              <NewToken />
              <OwnPassword />
            </>
          ) : (
            <>
              <p>{texts.token.loginOnly}</p>
              <p className="muted">{texts.ofProvider}</p>
            </>
          )}
        </div>
      </aside>
    </div>
  );
}
