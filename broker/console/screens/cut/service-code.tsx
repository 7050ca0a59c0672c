// The one-time code that restores the engine at the vehicle, without a network. It is shown once and kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { call } from '../../service/call.ts';

interface CodeOf {
  readonly id: string;
  readonly name: string;
}

function Code({ vehicle, close }: { readonly vehicle: CodeOf; close(): void }) {
  const words = useWords(cutWords);
  const { code: texts } = words;
  // Each call shows a further code: it is never repeated by itself.
  const shown = useMutation({
    mutationFn: () => call('showServiceCode', { body: { deviceID: vehicle.id } }),
    gcTime: 0,
  });
  const failure = shown.error === null ? null : failureText(shown.error, words, texts.failed);
  return (
    <>
      <header>
        <Icon name="key-round" isLarge />
        <Heading slot="title">{texts.title({ vehicle: vehicle.name })}</Heading>
      </header>
      <div className="body">
        <p>{texts.consequence}</p>
        <FailureNotice failure={failure} />
        <div role="status">
          {shown.data === undefined ? null : (
            <>
              <p className="service-code mono" dir="ltr">
                {shown.data.code}
              </p>
              <p className="muted">{texts.number({ number: shown.data.number })}</p>
            </>
          )}
        </div>
        <p className="muted">{texts.hint}</p>
      </div>
      <footer>
        <Button className="button secondary" onPress={close} autoFocus>
          {words.common.close}
        </Button>
        {shown.data === undefined ? (
          <Button className="button primary" isPending={shown.isPending} onPress={() => shown.mutate()}>
            {texts.show}
          </Button>
        ) : null}
      </footer>
    </>
  );
}

export function ServiceCode({ vehicle }: { readonly vehicle: CodeOf }) {
  const { code: texts } = useWords(cutWords);
  return (
    <DialogTrigger>
      <Button className="button secondary">
        <Icon name="key-round" />
        {texts.open}
      </Button>
      <ModalOverlay className="overlay">
        <Modal className="modal small-modal">
          <Dialog className="dialog">{({ close }) => <Code vehicle={vehicle} close={close} />}</Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
