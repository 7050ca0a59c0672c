// A one-time enrolment code: created with the consequence in sight, shown once as text, command and QR code, and ended.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import type { Device, Result } from '../../api/operations.ts';
import { QrCode } from '../../components/codes/qr-code.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { enrolCommand } from '../../state/device-view.ts';
import type { useDeviceDialog } from './use-dialog.ts';

export type MadeCode = Result<'createEnrolmentCode'>;
type Dialog = ReturnType<typeof useDeviceDialog>;

const hourChoices = ['1', '8', '24', '72'] as const;
const hoursFirst = '24';

interface NewCodeProps {
  readonly device: Device;
  readonly dialog: Dialog;
  readonly hasOpen: boolean;
  onMade(code: MadeCode): void;
}

export function NewCode({ device, dialog, hasOpen, onMade }: NewCodeProps) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const queries = useQueryClient();
  const [hours, setHours] = useState<string>(hoursFirst);
  const { deviceID } = device;
  const name = device.deviceDisplayName || deviceID;
  const isOnline = useValue(vehicles).get(deviceID)?.isOnline === true;
  // Each call makes a further code and ends the one before: it is never repeated by itself.
  const making = useMutation({
    mutationFn: () => call('createEnrolmentCode', { body: { deviceID, hours: Number(hours) } }),
    retry: false,
    gcTime: 0,
    onSuccess: async (code) => {
      await queries.invalidateQueries({ queryKey: ['enrolment-codes'] });
      onMade(code);
      making.reset();
      dialog.close();
    },
  });
  return (
    <ChangeDialog
      isOpen={dialog.isOpen}
      icon="key-round"
      title={texts.dialog({ name })}
      action={texts.action({ name })}
      change={making}
      close={dialog.close}
    >
      <p>{texts.consequence}</p>
      {isOnline ? <Notice tone="look" icon="circle-alert" title={texts.online({ name })} /> : null}
      {hasOpen ? <p className="muted">{texts.replaces}</p> : null}
      <Choice
        label={texts.hours}
        choices={hourChoices.map((value) => ({ value, text: texts.hourChoices[value] }))}
        chosen={hours}
        onChoose={setHours}
      />
    </ChangeDialog>
  );
}

export function ShownCode({ made }: { readonly made: MadeCode }) {
  const { devices, forms } = useWords(deviceWords, formWords);
  const { enrol: texts } = devices;
  const command = enrolCommand(window.location.origin, made.code);
  return (
    <div className="stack">
      <Notice tone="busy" icon="key-round" title={forms.once} role="status" />
      <div className="shown-code">
        <div className="stack">
          <ShownSecret label={texts.code} value={made.code} />
          <ShownSecret label={texts.command} value={command} />
        </div>
        <figure className="stack tight">
          <QrCode text={command} label={texts.qr} />
          <figcaption className="muted">{texts.qrHint}</figcaption>
        </figure>
      </div>
    </div>
  );
}

export function EndCode({ codeID, dialog }: { readonly codeID: string; readonly dialog: Dialog }) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const queries = useQueryClient();
  const ending = useMutation({
    mutationFn: () => call('revokeEnrolmentCode', { body: { codeID } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['enrolment-codes'] }),
    onSuccess: () => dialog.close(),
  });
  return (
    <ChangeDialog
      isOpen={dialog.isOpen}
      icon="circle-alert"
      title={texts.endTitle({ codeID })}
      action={texts.endAction({ codeID })}
      change={ending}
      close={dialog.close}
    >
      <p>{texts.endConsequence}</p>
    </ChangeDialog>
  );
}
