// Import of devices from a CSV file: first a dry run that says of each line what would happen, then all lines or none.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Switch } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { formWords } from '../../../../build/words/form.ts';
import type { Result } from '../../api/operations.ts';
import { FileField } from '../../components/fields/file-field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { useDialog } from '../../components/patterns/address.tsx';
import { Table } from '../../components/patterns/list-detail.tsx';
import { Badge, Loading, Notice, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import { saveFile } from '../../service/save-file.ts';
import { useDevicesChanged } from './use-devices.ts';

type Checked = Result<'importDevices'>;
type Line = Checked['lines'][number];

/** As the service takes it, bytes. */
const fileMost = 1024 * 1024;
/** Lines that are listed at once; those at fault come first. */
const linesMost = 200;

const looks = {
  create: ['plus', 'ok'],
  update: ['check', 'busy'],
  unchanged: ['minus', undefined],
  error: ['triangle-alert', 'look'],
} as const;

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  const { import: texts } = useWords(deviceWords).devices;
  const sorted = lines.toSorted(
    (one, other) =>
      Number(other.action === 'error') - Number(one.action === 'error') || one.line - other.line,
  );
  return (
    <div className="import-lines" tabIndex={0} role="region" aria-label={texts.lines}>
      <Table
        className="lines"
        caption={texts.lines}
        items={sorted}
        most={linesMost}
        keyOf={({ line }) => String(line)}
        rowOf={({ action }) => ({ 'data-action': action })}
        columns={[
          { name: texts.line, cell: ({ line }) => numberText(line) },
          { name: texts.device, cell: ({ deviceID }) => <bdi>{deviceID}</bdi> },
          {
            name: texts.result,
            isBare: true,
            cell({ action, message }) {
              const [icon, tone] = looks[action];
              return (
                <>
                  <Badge icon={icon} {...(tone === undefined ? {} : { tone })}>
                    {texts.actions[action]}
                  </Badge>
                  {message === '' ? null : <span className="note">{message}</span>}
                </>
              );
            },
          },
        ]}
      />
    </div>
  );
}

interface Write {
  readonly csv: string;
  readonly withSecrets: boolean;
}

type Written = Pick<Result<'importDevicesWithSecrets'>, 'created' | 'updated'> & {
  readonly lines: readonly Partial<Result<'importDevicesWithSecrets'>['lines'][number]>[];
};

/** The secrets of the new devices as CSV, shown once and saved by the reader. */
function Secrets({ lines }: Pick<Written, 'lines'>) {
  const { import: texts } = useWords(deviceWords).devices;
  const { forms } = useWords(formWords);
  const secrets = lines.flatMap(({ deviceID, username, secret }) =>
    typeof secret === 'string' ? [`${deviceID},${username},${secret}`] : [],
  );
  if (secrets.length === 0) return null;
  const csv = ['deviceID,username,secret', ...secrets, ''].join('\r\n');
  return (
    <>
      <p className="muted">{forms.once}</p>
      <pre
        className="scroll import-lines mono"
        dir="ltr"
        tabIndex={0}
        role="region"
        aria-label={texts.secretsShown}
      >
        {csv}
      </pre>
      <Button
        className="button secondary"
        onPress={() => saveFile('secrets.csv', new Blob([csv], { type: 'text/csv' }))}
      >
        <Icon name="download" />
        {texts.saveSecrets}
      </Button>
    </>
  );
}

interface Chosen {
  readonly name: string;
  readonly csv: string;
}

function useImport() {
  const changed = useDevicesChanged();
  const [file, setFile] = useState<Chosen | null>(null);
  const [isTooLarge, setTooLarge] = useState(false);
  const checking = useMutation({
    mutationFn: (csv: string) => call('importDevices', { body: { csv }, query: { dryRun: 'true' } }),
  });
  const writing = useMutation({
    mutationFn: async ({ csv, withSecrets }: Write): Promise<Written> =>
      withSecrets
        ? await call('importDevicesWithSecrets', { body: { csv } })
        : await call('importDevices', { body: { csv } }),
    // What holds secrets is not kept.
    gcTime: 0,
    onSettled: () => changed(),
  });
  return {
    file,
    isTooLarge,
    checking,
    writing,
    async choose(chosen: File | undefined) {
      if (chosen === undefined) return;
      writing.reset();
      checking.reset();
      setFile(null);
      setTooLarge(chosen.size > fileMost);
      if (chosen.size > fileMost) return;
      const csv = await chosen.text();
      setFile({ name: chosen.name, csv });
      checking.mutate(csv);
    },
  };
}

export function ImportDevices() {
  const { import: texts } = useWords(deviceWords).devices;
  const { close } = useDialog();
  const role = useRole();
  const [wantsSecrets, setWantsSecrets] = useState(false);
  const withSecrets = wantsSecrets && role === 'admin';
  const { file, isTooLarge, checking, writing, choose } = useImport();
  const checked = checking.data;
  const written = writing.data;
  const counts = checked === undefined ? 0 : checked.created + checked.updated;
  const isReady = checked !== undefined && checked.failed === 0 && counts > 0;
  return (
    <FormDialog
      isOpen
      icon="upload"
      title={texts.title}
      action={written === undefined ? texts.action({ count: counts }) : null}
      isOff={!isReady || writing.isPending || file === null}
      error={writing.error ?? checking.error}
      submit={() => (file === null ? undefined : writing.mutate({ csv: file.csv, withSecrets }))}
      close={close}
    >
      <p>{texts.about}</p>
      <p className="muted">
        {texts.columns} <code>deviceID, uniqueid, deviceDisplayName, deviceDriver, deviceDescription, …</code>
      </p>
      <FileField text={texts.choose} types={['text/csv', '.csv']} chosen={file} choose={choose} />
      {role === 'admin' && written === undefined ? (
        <Switch className="switch" isSelected={wantsSecrets} onChange={setWantsSecrets}>
          <span className="track" />
          <span>
            {texts.secrets}
            <small>{texts.secretsHint}</small>
          </span>
        </Switch>
      ) : null}
      {isTooLarge ? <Notice tone="look" icon="triangle-alert" role="alert" title={texts.tooLarge} /> : null}
      {checking.isPending ? <Loading rows={3} /> : null}
      <div className="stack" role="status">
        {written !== undefined ? (
          <Notice
            tone="ok"
            icon="circle-check"
            title={texts.done({ created: written.created, updated: written.updated })}
          />
        ) : checked === undefined ? null : checked.failed > 0 ? (
          <Notice tone="look" icon="triangle-alert" title={texts.faults({ count: checked.failed })} />
        ) : (
          <Notice
            tone="busy"
            icon="circle-check"
            title={texts.would({
              created: checked.created,
              updated: checked.updated,
              unchanged: checked.unchanged,
            })}
          />
        )}
      </div>
      {written === undefined ? null : <Secrets lines={written.lines} />}
      {checked === undefined || written !== undefined ? null : <Lines lines={checked.lines} />}
    </FormDialog>
  );
}
