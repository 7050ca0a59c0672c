// A one-time enrolment code: created with the consequence in sight, shown once as text, command and QR code, and ended.
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import type { Device, Result } from '../../api/operations.ts';
import { QrCode } from '../../components/codes/qr-code.tsx';
import { ActionDialog, Fields, optionsOf, useFields } from '../../components/patterns/form.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { enrolCommand } from './enrolment-steps.ts';

export type MadeCode = Result<'createEnrolmentCode'>;

const codeChanges = ['enrolment-codes'];
const hourChoices = ['1', '8', '24', '72'] as const;

interface NewCodeProps {
  readonly device: Device;
  readonly hasOpen: boolean;
  onMade(code: MadeCode): void;
}

export function NewCode({ device, hasOpen, onMade }: NewCodeProps) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const [draft, put] = useFields<{ readonly hours: (typeof hourChoices)[number] }>({ hours: '24' });
  const { deviceID } = device;
  const name = device.deviceDisplayName || deviceID;
  const isOnline = useValue(vehicles).get(deviceID)?.isOnline === true;
  return (
    <ActionDialog
      icon="key-round"
      title={texts.dialog({ name })}
      action={texts.action({ name })}
      changes={codeChanges}
      run={() => call('createEnrolmentCode', { body: { deviceID, hours: Number(draft.hours) } })}
      onDone={onMade}
    >
      <p>{texts.consequence}</p>
      {isOnline ? <Notice tone="look" icon="circle-alert" title={texts.online({ name })} /> : null}
      {hasOpen ? <p className="muted">{texts.replaces}</p> : null}
      <Fields
        of={[{ name: 'hours', label: texts.hours, options: optionsOf(hourChoices, texts.hourChoices) }]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
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

export function EndCode({ codeID }: { readonly codeID: string }) {
  const { enrol: texts } = useWords(deviceWords).devices;
  return (
    <ActionDialog
      title={texts.endTitle({ codeID })}
      action={texts.endAction({ codeID })}
      changes={codeChanges}
      run={() => call('revokeEnrolmentCode', { body: { codeID } })}
    >
      <p>{texts.endConsequence}</p>
    </ActionDialog>
  );
}
