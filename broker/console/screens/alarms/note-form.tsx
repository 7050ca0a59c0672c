// The note that a user adds to an alarm.
import { type FormEvent, useState } from 'react';
import { Form, Label, TextArea, TextField } from 'react-aria-components';
import type { Alarm } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { useWords } from '../../components/use.ts';
import { noteMost } from '../../state/alarm-view.ts';
import type { Dialogs } from './use-alarm-changes.ts';

export function NoteForm({ alarm, dialogs }: { readonly alarm: Alarm; readonly dialogs: Dialogs }) {
  const { alarms: texts, common } = useWords();
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '' || dialogs.isBusy) return;
    void dialogs.change({ action: 'note', alarm, text: text.trim() }).then(
      () => setText(''),
      () => undefined,
    );
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <TextField className="field" value={text} onChange={setText} maxLength={noteMost}>
        <Label>{texts.note}</Label>
        <TextArea className="input" rows={2} placeholder={texts.notePlaceholder} />
      </TextField>
      <div className="row">
        <ActionButton
          className="button secondary small push"
          type="submit"
          isOff={text.trim() === '' || dialogs.isBusy}
        >
          {common.add}
        </ActionButton>
      </div>
    </Form>
  );
}
