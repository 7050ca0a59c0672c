// Deletion of a device with its history. The service refuses it while the engine is cut off or a command is open.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import type { Device } from '../../api/operations.ts';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useDevicesChanged } from './use-devices.ts';
import { useDeviceDialog } from './use-dialog.ts';

export function DeleteDevice({ device }: { readonly device: Device }) {
  const { devices } = useWords(deviceWords);
  const { delete: texts } = devices;
  const navigate = useNavigate();
  const dialog = useDeviceDialog('delete');
  const changed = useDevicesChanged();
  const { deviceID } = device;
  const name = device.deviceDisplayName || deviceID;
  const deleting = useMutation({
    mutationFn: () => call('deleteDevice', { body: { deviceID } }),
    onSuccess: async () => {
      await navigate({ to: '/devices', replace: true });
      await changed();
    },
  });
  return (
    <>
      <Button className="button secondary" aria-haspopup="dialog" onPress={dialog.open}>
        <Icon name="x" />
        {texts.open}…
      </Button>
      <ChangeDialog
        isOpen={dialog.isOpen}
        icon="circle-alert"
        title={texts.title({ name })}
        action={texts.action({ name })}
        change={deleting}
        close={dialog.close}
      >
        <p>{texts.consequence({ name })}</p>
        <p className="muted">{texts.hint}</p>
      </ChangeDialog>
    </>
  );
}
