// A new MQTT secret for a unit, shown once, and the deletion of a device with its history. The service refuses a deletion while the engine is cut off or
// a command is open.
import { useNavigate } from '@tanstack/react-router';
import { deviceWords } from '../../../../build/words/device.ts';
import type { Device } from '../../api/operations.ts';
import { Actions } from '../../components/patterns/detail.tsx';
import { ActionDialog, ShownOnce } from '../../components/patterns/form.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { readFleetAgain } from '../../service/live.ts';

export function DangerActions({ device }: { readonly device: Device }) {
  const { secret, delete: deletion } = useWords(deviceWords).devices;
  const navigate = useNavigate();
  const { deviceID } = device;
  const name = device.deviceDisplayName || deviceID;
  return (
    <>
      <p className="muted">{secret.hint}</p>
      <Actions
        of={[
          {
            name: 'secret',
            text: secret.open,
            icon: 'key-round',
            dialog: (
              <ActionDialog
                icon="key-round"
                title={secret.title({ name })}
                action={secret.action({ name })}
                changes={[]}
                run={() => call('issueDeviceSecret', { body: { deviceID } })}
                shown={(made) => (
                  <ShownOnce
                    secrets={[
                      [secret.username, made.username],
                      [secret.secret, made.secret],
                    ]}
                  />
                )}
              >
                <p>{secret.consequence({ name })}</p>
              </ActionDialog>
            ),
          },
          {
            name: 'delete',
            text: deletion.open,
            icon: 'x',
            dialog: (
              <ActionDialog
                title={deletion.title({ name })}
                action={deletion.action({ name })}
                changes={['devices']}
                run={() => call('deleteDevice', { body: { deviceID } })}
                onDone={() => {
                  readFleetAgain();
                  void navigate({ to: '/devices', replace: true });
                }}
              >
                <p>{deletion.consequence({ name })}</p>
                <p className="muted">{deletion.hint}</p>
              </ActionDialog>
            ),
          },
        ]}
      />
    </>
  );
}
