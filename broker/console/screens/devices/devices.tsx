// The devices of the account: a list with filter and search, creation and import. What is shown stands in the address.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { mapWords } from '../../../../build/words/map.ts';
import { Chips } from '../../components/chips.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { Empty, Loading, numberText } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { Known, MoreRows, useFailure, View } from '../../components/view.tsx';
import { useRole, useUser } from '../../service/role.ts';
import {
  type DeviceFilter,
  type DeviceRow,
  deviceFilters,
  findsDevice,
  matchesDevice,
  silences,
} from '../../state/device-view.ts';
import { everyDevice } from '../../state/people-view.ts';
import { without } from '../../state/search.ts';
import { CreateDevice } from './create.tsx';
import { ImportDevices } from './import.tsx';
import { DeleteDevices, PickedBar, usePicks } from './many.tsx';
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
  if (user.roleID !== 'admin' && !user.groups.includes(everyDevice)) return <p>{texts.limited}</p>;
  return (
    <div className="row wrap push">
      <Link
        className="button secondary"
        from="/devices"
        to="/devices"
        search={(before) => ({ ...before, open: 'import' as const })}
        replace
      >
        <Icon name="upload" />
        {texts.import.open}…
      </Link>
      <Link
        className="button primary"
        from="/devices"
        to="/devices"
        search={(before) => ({ ...before, open: 'create' as const })}
        replace
      >
        <Icon name="plus" />
        {texts.create}
      </Link>
    </div>
  );
}

function SilenceChoice() {
  const { devices: texts } = useWords(deviceWords);
  const navigate = useNavigate({ from: '/devices' });
  const { silent = 'any' } = useSearch({ from: '/shell/devices' });
  return (
    <Choice
      label={texts.silent.label}
      choices={(['any', ...silences] as const).map((value) => ({ value, text: texts.silent.choices[value] }))}
      chosen={silent}
      onChoose={(value) => {
        const minutes = silences.find((one) => one === value);
        void navigate({
          search: (before) =>
            without(
              minutes === undefined ? without(before, 'silent') : { ...before, silent: minutes },
              'rows',
            ),
          replace: true,
        });
      }}
    />
  );
}

function Filters({ rows }: { readonly rows: readonly DeviceRow[] }) {
  const { devices: texts } = useWords(deviceWords);
  const navigate = useNavigate({ from: '/devices' });
  const { link = 'all', find = '' } = useSearch({ from: '/shell/devices' });
  const choose = (one: DeviceFilter): void =>
    void navigate({
      search: (before) => without(one === 'all' ? without(before, 'link') : { ...before, link: one }, 'rows'),
      replace: true,
    });
  return (
    <>
      <Chips
        label={texts.filter}
        values={deviceFilters}
        chosen={link}
        content={(one) => (
          <>
            {texts.filters[one]} <b>{numberText(rows.filter((row) => matchesDevice(row, one)).length)}</b>
          </>
        )}
        onChoose={choose}
      />
      <SilenceChoice />
      <FindField
        label={texts.find}
        value={find}
        isPushed
        onChange={(text) =>
          void navigate({
            search: (before) =>
              without(text === '' ? without(before, 'find') : { ...before, find: text }, 'rows'),
            replace: true,
          })
        }
      />
    </>
  );
}

function List({ rows, readMs }: { readonly rows: readonly DeviceRow[]; readonly readMs: number }) {
  const { devices: texts, live } = useWords(deviceWords, mapWords);
  const navigate = useNavigate({ from: '/devices' });
  const { link = 'all', find = '', rows: most = rowsAtOnce } = useSearch({ from: '/shell/devices' });
  const silent = useSilent();
  const picks = usePicks();
  const failure = useFailure(silent.error);
  const found = useMemo(
    () =>
      rows.filter(
        (row) => matchesDevice(row, link) && findsDevice(row, find) && (silent.ids?.has(row.id) ?? true),
      ),
    [rows, link, find, silent.ids],
  );
  if (silent.isAsked && silent.ids === undefined) return failure ?? <Loading rows={5} />;
  if (found.length === 0)
    return (
      <Known readMs={silent.isAsked ? silent.readMs : readMs} error={silent.error}>
        <Empty icon="search" title={texts.noMatch}>
          <Button
            className="button secondary"
            onPress={() =>
              void navigate({
                search: (before) => without(without(without(before, 'link'), 'find'), 'silent'),
                replace: true,
              })
            }
          >
            {live.clear}
          </Button>
        </Empty>
      </Known>
    );
  return (
    <>
      {failure}
      <DeviceTable rows={found.slice(0, most)} picks={picks} />
      <MoreRows
        most={most}
        all={found.length}
        texts={texts}
        onMore={() =>
          void navigate({
            search: (before) => ({ ...before, rows: most + rowsAtOnce }),
            replace: true,
            resetScroll: false,
          })
        }
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
      <CreateDevice />
      <ImportDevices />
      <DeleteDevices rows={rows ?? []} />
      <CutPicked commands={commands} mayCommand={role === 'admin' || role === 'operator'} />
    </main>
  );
}
