// A new MQTT secret for a unit. It is shown once and kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import type { Device } from '../../api/operations.ts';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useDeviceDialog } from './use-dialog.ts';

export function DeviceSecret({ device }: { readonly device: Device }) {
  const { devices, forms } = useWords(deviceWords, formWords);
  const { secret: texts } = devices;
  const dialog = useDeviceDialog('secret');
  const name = device.deviceDisplayName || device.deviceID;
  // Each call issues a further secret: it is never repeated by itself.
  const issuing = useMutation({
    mutationFn: () => call('issueDeviceSecret', { body: { deviceID: device.deviceID } }),
    retry: false,
    gcTime: 0,
  });
  const { data } = issuing;
  return (
    <>
      <Button className="button secondary" aria-haspopup="dialog" onPress={dialog.open}>
        <Icon name="key-round" />
        {texts.open}…
      </Button>
      <p className="muted">{texts.hint}</p>
      <ChangeDialog
        isOpen={dialog.isOpen}
        icon="key-round"
        title={texts.title({ name })}
        action={data === undefined ? texts.action({ name }) : null}
        change={issuing}
        close={dialog.close}
      >
        {data === undefined ? (
          <p>{texts.consequence({ name })}</p>
        ) : (
          <>
            <Notice tone="busy" icon="key-round" title={forms.once} role="status" />
            <ShownSecret label={texts.username} value={data.username} />
            <ShownSecret label={texts.secret} value={data.secret} />
          </>
        )}
      </ChangeDialog>
    </>
  );
}
