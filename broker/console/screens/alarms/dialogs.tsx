// The dialogs that close and shelve an alarm: the consequence first, then what is needed.
import { type FormEvent, useMemo, useState } from 'react';
import {
  Button,
  Dialog,
  Form,
  Heading,
  Label,
  Modal,
  ModalOverlay,
  Radio,
  RadioGroup,
  TextArea,
  TextField,
} from 'react-aria-components';
import { alarmWords } from '../../../../build/words/alarm.ts';
import type { Alarm, CloseReason } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { codeText, Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { noteMost } from '../../state/alarm-view.ts';
import { lengthsFrom } from '../../state/alarms/shelving.ts';
import type { Change, DialogKind, Dialogs } from './use-alarm-changes.ts';

export const closeReasons = [
  'resolved',
  'false_alarm',
  'expected',
  'test',
  'duplicate',
  'other',
] as const satisfies readonly CloseReason[];
/** What this browser keeps of the last length that was chosen. */
const lengthKey = 'fleetward.shelve';

interface Choice {
  readonly value: string;
  readonly text: string;
}

interface ChoicesProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  /** Empty: none yet. */
  readonly chosen: string;
  onChoose(value: string): void;
}

export function Choices({ label, choices, chosen, onChoose }: ChoicesProps) {
  return (
    <RadioGroup className="field" value={chosen === '' ? null : chosen} onChange={onChoose}>
      <Label>{label}</Label>
      <div className="radios">
        {choices.map((one) => (
          <Radio key={one.value} value={one.value} className="radio">
            <span className="dot" />
            {one.text}
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}

interface ContentProps {
  readonly kind: DialogKind;
  readonly alarm: Alarm;
  readonly dialogs: Dialogs;
}

function Content({ kind, alarm, dialogs }: ContentProps) {
  const words = useWords(alarmWords);
  const { alarms: texts, alarmDialogs: forms, common } = words;
  const isClosing = kind === 'close';
  const lengths = useMemo(() => lengthsFrom(localStorage.getItem(lengthKey)), []);
  const [choice, setChoice] = useState<string>(isClosing ? '' : lengths[0]);
  const [text, setText] = useState('');
  const choices: readonly Choice[] = isClosing
    ? closeReasons.map((value) => ({ value, text: texts.reasons[value] }))
    : lengths.map((value) => ({ value, text: forms.shelveTimes[value] }));
  const needsText = !isClosing || choice === 'other';
  const isReady = choice !== '' && (!needsText || text.trim() !== '');
  const isOff = !isReady || dialogs.isBusy || dialogs.isDown;
  const name = codeText(alarm.statusCode, words);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isOff) return;
    const reason = closeReasons.find((one) => one === choice) ?? 'other';
    const change: Change = isClosing
      ? { action: 'close', alarm, reason, text: text.trim() }
      : { action: 'shelve', alarm, minutes: Number(choice), text: text.trim() };
    if (!isClosing) localStorage.setItem(lengthKey, choice);
    void dialogs.change(change).then(dialogs.dismiss, () => undefined);
  };
  const failure = dialogs.failure === null ? null : failureText(dialogs.failure, words);
  return (
    <Form onSubmit={submit}>
      <header>
        <Icon name={isClosing ? 'circle-check' : 'hourglass'} isLarge />
        <Heading slot="title">
          {isClosing
            ? forms.closeTitle({ alarm: name, vehicle: alarm.deviceDisplayName })
            : forms.shelveTitle({ alarm: name, vehicle: alarm.deviceDisplayName })}
        </Heading>
      </header>
      <div className="body">
        <p>{isClosing ? forms.closeConsequence : forms.shelveConsequence}</p>
        {failure === null ? null : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={`${texts.failed}: ${failure.title}`}>
            {failure.hint}
          </Notice>
        )}
        <Choices
          label={isClosing ? forms.reason : forms.shelveTime}
          choices={choices}
          chosen={choice}
          onChoose={setChoice}
        />
        <TextField
          className="field"
          value={text}
          onChange={setText}
          maxLength={noteMost}
          isRequired={needsText}
        >
          <Label>{isClosing ? forms.text : forms.why}</Label>
          <TextArea className="input" rows={2} />
          {needsText && text.trim() === '' ? (
            <small>{isClosing ? forms.textNeeded : forms.whyNeeded}</small>
          ) : null}
        </TextField>
      </div>
      <footer>
        <Button className="button secondary" onPress={dialogs.dismiss} autoFocus>
          {common.cancel}
        </Button>
        <ActionButton className="button primary" type="submit" isOff={isOff}>
          {isClosing ? texts.close : texts.shelve}
        </ActionButton>
      </footer>
    </Form>
  );
}

export function AlarmDialogs({ dialogs }: { readonly dialogs: Dialogs }) {
  const { opened } = dialogs;
  return (
    <ModalOverlay
      className="overlay"
      isOpen={opened !== null}
      onOpenChange={(isOpen) => (isOpen ? undefined : dialogs.dismiss())}
    >
      <Modal className="modal">
        <Dialog className="dialog">
          {opened === null ? null : (
            <Content
              key={opened.alarm.alarmID + opened.kind}
              kind={opened.kind}
              alarm={opened.alarm}
              dialogs={dialogs}
            />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
