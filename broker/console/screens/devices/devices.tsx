// The devices of the account: a list with filter and search, creation and import. What is shown stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { mapWords } from '../../../../build/words/map.ts';
import { FindField } from '../../components/find-field.tsx';
import { AddressChips, DialogButton, useDialog, usePut } from '../../components/patterns/address.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { optionsOf } from '../../components/patterns/form.tsx';
import { GroupFilter } from '../../components/patterns/group-filter.tsx';
import { Empty, Loading, numberText } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { Known, MoreRows, useFailure, View } from '../../components/view.tsx';
import { useGroupInAddress } from '../../service/reading/groups.ts';
import { useRole, useUser } from '../../service/role.ts';
import { deviceFilters, silences } from '../../state/device-view.ts';
import { mayAddDevices } from '../../state/people-view.ts';
import { CreateDevice } from './create.tsx';
import { type DeviceRow, findsDevice, matchesDevice } from './device-rows.ts';
import { ImportDevices } from './import.tsx';
import { DeleteDevices, JoinGroup, PickedBar, usePicks } from './many.tsx';
import { CommandResults, CutPicked, useManyCommands } from './many-commands.tsx';
import { DeviceTable } from './table.tsx';
import { useDevices } from './use-devices.ts';
import { useSilent } from './use-silent.ts';

/** Rows at first, and with each press for more. */
const rowsAtOnce = 100;

function Actions() {
  const { devices: texts } = useWords(deviceWords);
  const user = useUser();
  if (user === undefined) return null;
  if (user.roleID === 'viewer') return <p>{texts.viewer}</p>;
  if (!mayAddDevices(user)) return <p>{texts.limited}</p>;
  return (
    <div className="row wrap push">
      {user.roleID === 'admin' ? (
        <Link className="button secondary" to="/trackers">
          {texts.trackers}
        </Link>
      ) : null}
      <DialogButton name="import" icon="upload">
        {texts.import.open}
      </DialogButton>
      <DialogButton name="create" icon="plus" className="button primary">
        {texts.create}
      </DialogButton>
    </div>
  );
}

function Filters({ rows }: { readonly rows: readonly DeviceRow[] }) {
  const { devices: texts } = useWords(deviceWords);
  const put = usePut();
  const { find = '', silent = 'any' } = useSearch({ from: '/shell/devices' });
  return (
    <>
      <AddressChips
        label={texts.filter}
        member="link"
        values={deviceFilters}
        first="all"
        clears={{ rows: undefined }}
        content={(one) => (
          <>
            {texts.filters[one]} <b>{numberText(rows.filter((row) => matchesDevice(row, one)).length)}</b>
          </>
        )}
      />
      <Choice
        label={texts.silent.label}
        choices={optionsOf(['any', ...silences], texts.silent.choices)}
        chosen={silent}
        onChoose={(value) => put({ silent: silences.find((one) => one === value), rows: undefined })}
      />
      <GroupFilter clears={{ rows: undefined }} />
      <FindField
        label={texts.find}
        value={find}
        isPushed
        onChange={(text) => put({ find: text || undefined, rows: undefined })}
      />
    </>
  );
}

function List({ rows, readMs }: { readonly rows: readonly DeviceRow[]; readonly readMs: number }) {
  const { devices: texts, live } = useWords(deviceWords, mapWords);
  const put = usePut();
  const { link = 'all', find = '', rows: most = rowsAtOnce } = useSearch({ from: '/shell/devices' });
  const silent = useSilent();
  const group = useGroupInAddress();
  const picks = usePicks();
  const failure = useFailure(silent.error ?? group.error);
  const found = useMemo(
    () =>
      rows.filter(
        (row) =>
          matchesDevice(row, link) &&
          findsDevice(row, find) &&
          (silent.ids?.has(row.id) ?? true) &&
          (group.ids?.has(row.id) ?? true),
      ),
    [rows, link, find, silent.ids, group.ids],
  );
  if ((silent.isAsked && silent.ids === undefined) || group.ids === undefined)
    return failure ?? <Loading rows={5} />;
  if (found.length === 0)
    return (
      <Known readMs={silent.isAsked ? silent.readMs : readMs} error={silent.error}>
        <Empty icon="search" title={texts.noMatch}>
          <Button
            className="button secondary"
            onPress={() => put({ link: undefined, find: undefined, silent: undefined, group: undefined })}
          >
            {live.clear}
          </Button>
        </Empty>
      </Known>
    );
  return (
    <>
      {failure}
      {found.length === rows.length ? null : (
        <p className="card-body muted" role="status">
          {live.shown({ shown: found.length, all: rows.length })}
        </p>
      )}
      <DeviceTable rows={found} most={most} picks={picks} scope={`${link} ${silent.isAsked} ${find}`} />
      <MoreRows
        most={most}
        all={found.length}
        texts={texts}
        onMore={() => put({ rows: most + rowsAtOnce })}
      />
    </>
  );
}

export function DevicesScreen() {
  const words = useWords(deviceWords);
  const { devices: texts } = words;
  const { rows, readMs, error } = useDevices();
  const role = useRole();
  const commands = useManyCommands();
  const { opened } = useDialog();
  useTitle(words.pages.devices.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.devices.title}</h1>
        {rows === undefined ? null : <span className="muted">{texts.count({ count: rows.length })}</span>}
        <Actions />
        <PickedBar commands={commands} />
      </header>
      <section className="card" aria-label={words.pages.devices.title}>
        {rows === undefined || rows.length === 0 ? null : (
          <header className="wrap">
            <Filters rows={rows} />
          </header>
        )}
        <CommandResults commands={commands} />
        <View
          error={error}
          readMs={readMs}
          empty={
            rows?.length === 0 ? (
              <Empty icon="hard-drive" title={texts.empty}>
                <p>{texts.emptyHint}</p>
              </Empty>
            ) : null
          }
        >
          <List rows={rows ?? []} readMs={readMs} />
        </View>
      </section>
      {opened === 'create' ? <CreateDevice taken={rows?.map(({ id }) => id)} /> : null}
      {opened === 'import' ? <ImportDevices /> : null}
      {opened === 'group' && role === 'admin' ? <JoinGroup /> : null}
      {opened === 'delete' && role === 'admin' ? <DeleteDevices rows={rows ?? []} /> : null}
      <CutPicked commands={commands} mayCommand={role === 'admin' || role === 'operator'} />
    </main>
  );
}
