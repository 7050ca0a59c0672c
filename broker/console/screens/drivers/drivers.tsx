// Drivers: people with the keys that vehicles report, and the keys that belong to no driver. What is shown stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { driverWords } from '../../../../build/words/driver.ts';
import { DialogButton, ItemLink, useDialog } from '../../components/patterns/address.tsx';
import { Actions, OrNone, Pairs } from '../../components/patterns/detail.tsx';
import { byText, ListDetail, Table } from '../../components/patterns/list-detail.tsx';
import { Card, Gate, Page } from '../../components/patterns/page.tsx';
import { Age, Badge, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { vehicles } from '../../service/live.ts';
import { type Driver, type UnknownKey, useDrivers, useSeesDrivers } from '../../service/reading/drivers.ts';
import { useRole } from '../../service/role.ts';
import { EditDriver, EndDriver, EndKey, GiveKey, NewDriver } from './forms.tsx';

const useTexts = () => useWords(driverWords).drivers;

function Vehicle({ deviceID, atS }: { readonly deviceID: string; readonly atS: number }) {
  const fleet = useValue(vehicles);
  if (deviceID === '') return <OrNone>{''}</OrNone>;
  return (
    <>
      <Link to="/vehicle/$deviceID" params={{ deviceID }}>
        {fleet.get(deviceID)?.name ?? deviceID}
      </Link>{' '}
      <Age at={atS} />
    </>
  );
}

function UnknownKeys({
  keys,
  mayChange,
}: {
  readonly keys: readonly UnknownKey[];
  readonly mayChange: boolean;
}) {
  const texts = useTexts();
  if (keys.length === 0) return null;
  return (
    <Card title={texts.unknown} head={<span className="muted">{texts.unknownHint}</span>} isBare>
      <Table
        caption={texts.unknown}
        items={keys}
        keyOf={({ keyID }) => keyID}
        columns={[
          {
            name: texts.key,
            cell: ({ keyID, isRefused }) => (
              <>
                <bdi className="mono">{keyID}</bdi>
                {isRefused ? <span className="note">{texts.refused}</span> : null}
              </>
            ),
          },
          {
            name: texts.last,
            cell: ({ keyID, deviceID, timestamp }) => (
              <div className="row wrap">
                <span>
                  <Vehicle deviceID={deviceID} atS={timestamp} />
                </span>
                {mayChange ? (
                  <DialogButton
                    name="key-give"
                    about={{ key: keyID, driver: undefined }}
                    className="button secondary small push"
                    label={`${texts.giveTo}: ${keyID}`}
                  >
                    {texts.giveTo}
                  </DialogButton>
                ) : null}
              </div>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Keys({ driver, mayChange }: { readonly driver: Driver; readonly mayChange: boolean }) {
  const texts = useTexts();
  const { keys, driverID } = driver;
  return (
    <>
      <h3>{texts.keys}</h3>
      {keys.length === 0 ? <p className="muted">{texts.noKeys}</p> : null}
      <ul className="stack tight">
        {keys.map(({ keyID, startTime, endTime }, at) => (
          <li key={`${keyID} ${startTime}`} className="row wrap">
            <bdi className="mono">{keyID}</bdi>
            <span className="muted">
              {startTime === 0 ? texts.always : <Time at={startTime} />}
              {endTime === 0 ? null : (
                <>
                  {' – '}
                  <Time at={endTime} />
                </>
              )}
            </span>
            {mayChange ? (
              <DialogButton
                name="key-end"
                about={{ driver: driverID, key: String(at) }}
                className="button secondary small push"
                label={texts.endOf({ key: keyID })}
              >
                {texts.end}
              </DialogButton>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}

function DriverDetail({ driver, mayChange }: { readonly driver: Driver; readonly mayChange: boolean }) {
  const texts = useTexts();
  const isAdmin = useRole() === 'admin';
  const { opened } = useDialog();
  const { key } = useSearch({ from: '/shell/drivers' });
  const { driverID, driverDisplayName, phone, note, leftTime, lastDeviceID, lastTime, auditObject } = driver;
  return (
    <Card title={driverDisplayName} isAside>
      <Pairs
        rows={[
          [texts.phone, phone === '' ? null : <a href={`tel:${phone.replaceAll(' ', '')}`}>{phone}</a>],
          [texts.note, note || null],
          [texts.last, <Vehicle key="last" deviceID={lastDeviceID} atS={lastTime} />],
          [texts.left, leftTime === 0 ? null : <Time at={leftTime} />],
          [texts.audit, auditObject],
        ]}
      />
      <Keys driver={driver} mayChange={mayChange} />
      <Link
        className="button secondary"
        to="/reports"
        search={{ kind: 'trips', range: 'week', driver: driverID }}
      >
        {texts.trips}
      </Link>
      {mayChange ? (
        <>
          <DialogButton
            name="key-give"
            about={{ key: undefined }}
            icon="key-round"
            className="button primary"
          >
            {texts.addKey}
          </DialogButton>
          <Actions
            of={[
              { name: 'driver-edit', text: texts.edit, dialog: <EditDriver driver={driver} /> },
              leftTime === 0
                ? {
                    name: 'driver-leave',
                    text: texts.leave,
                    className: 'button',
                    dialog: <EndDriver driver={driver} isErased={false} />,
                  }
                : null,
              isAdmin
                ? {
                    name: 'driver-erase',
                    text: texts.erase,
                    className: 'button',
                    dialog: <EndDriver driver={driver} isErased />,
                  }
                : null,
            ]}
          />
          {opened === 'key-end' ? <EndKey driver={driver} at={Number(key)} /> : null}
        </>
      ) : null}
    </Card>
  );
}

function Drivers() {
  const texts = useTexts();
  const { driver: selected = null, key = '' } = useSearch({ from: '/shell/drivers' });
  const { opened } = useDialog();
  const mayChange = useRole() !== 'viewer';
  const list = useDrivers();
  const { items = [], unknown } = list;
  const chosen = items.find(({ driverID }) => driverID === selected) ?? null;
  return (
    <div className="stack">
      <UnknownKeys keys={unknown} mayChange={mayChange} />
      <ListDetail
        title={texts.list}
        list={list}
        empty={{ icon: 'key-round', title: texts.empty, hint: texts.emptyHint }}
        create={
          mayChange
            ? { name: 'driver-create', text: texts.create, form: <NewDriver drivers={list.items} /> }
            : undefined
        }
        caption={texts.list}
        columns={[
          {
            name: texts.name,
            cell: ({ driverID, driverDisplayName, leftTime }) => (
              <>
                <ItemLink search={{ driver: driverID }} isChosen={driverID === selected}>
                  {driverDisplayName}
                </ItemLink>
                {leftTime === 0 ? null : <Badge icon="log-out">{texts.left}</Badge>}
              </>
            ),
            order: byText(({ driverDisplayName }) => driverDisplayName),
          },
          {
            name: texts.keys,
            isNum: true,
            cell: ({ keys }) => numberText(keys.filter(({ endTime }) => endTime === 0).length),
          },
          {
            name: texts.last,
            cell: ({ lastDeviceID, lastTime }) => <Vehicle deviceID={lastDeviceID} atS={lastTime} />,
            order: (one, other) => one.lastTime - other.lastTime,
          },
        ]}
        keyOf={({ driverID }) => driverID}
        selected={selected}
        none={{ label: texts.list, pick: texts.pick, gone: texts.gone }}
        detail={(driver) => <DriverDetail key={driver.driverID} driver={driver} mayChange={mayChange} />}
      />
      {opened === 'key-give' && mayChange ? (
        <GiveKey drivers={items} unknown={unknown} driver={chosen} keyID={key} />
      ) : null}
    </div>
  );
}

export function DriversScreen() {
  const { drivers: texts, pages } = useWords(driverWords);
  return (
    <Page title={pages.drivers.title} lead={texts.lead}>
      <Gate isOpen={useSeesDrivers()} title={texts.limited} hint={texts.limitedHint}>
        <Drivers />
      </Gate>
    </Page>
  );
}
