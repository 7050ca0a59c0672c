// The groups of the page of the operator that are about what the service keeps: accounts, unreadable payloads, backups, storage, certificates.
import type { StatusView } from '../api/operations.ts';
import { Fact, Facts, Group, Note, Rows, useValues } from './values.tsx';
import { useTexts } from './words.ts';

interface GroupOf {
  readonly view: StatusView;
}

export function AccountsGroup({ view: { accounts } }: GroupOf) {
  const texts = useTexts();
  const { count, days, percent, date } = useValues();
  const hidden = (accounts?.total ?? 0) - (accounts?.listed.length ?? 0);
  return (
    <Group id="accounts" title={texts.groups.accounts} atS={accounts?.atS ?? null} isWide>
      <Facts>
        <Fact name={texts.accountCount}>{count(accounts?.total ?? 0)}</Fact>
        <Fact name={texts.devices}>{count(accounts?.devices ?? 0)}</Fact>
        <Fact name={texts.online}>{count(accounts?.devicesOnline ?? 0)}</Fact>
      </Facts>
      <Rows
        caption={texts.groups.accounts}
        items={accounts?.listed ?? []}
        keyOf={({ accountID }) => accountID}
        columns={[
          { name: texts.account, cell: ({ accountID }) => accountID },
          { name: texts.state, cell: ({ state }) => texts.states[state] },
          { name: texts.devices, isNumber: true, cell: ({ devices }) => count(devices) },
          {
            name: texts.limitOfDevices,
            isNumber: true,
            cell: ({ devices, maximumDevices }) =>
              maximumDevices === 0
                ? texts.noLimit
                : `${count(maximumDevices)} (${percent(Math.floor((100 * devices) / maximumDevices))})`,
          },
          { name: texts.online, isNumber: true, cell: ({ devicesOnline }) => count(devicesOnline) },
          { name: texts.users, isNumber: true, cell: ({ users }) => count(users) },
          {
            name: texts.kept,
            isNumber: true,
            cell: ({ retainedDays }) => (retainedDays === 0 ? texts.forEver : days(retainedDays)),
          },
          {
            name: texts.ends,
            isNumber: true,
            cell: ({ expiresAtS }) => (expiresAtS === 0 ? texts.never : date(expiresAtS)),
          },
        ]}
      />
      {hidden > 0 ? <Note>{texts.more({ count: count(hidden) })}</Note> : null}
    </Group>
  );
}

export function QuarantineGroup({ view: { quarantine } }: GroupOf) {
  const texts = useTexts();
  const { count, size, ago } = useValues();
  return (
    <Group id="quarantine" title={texts.groups.quarantine} atS={quarantine?.atS ?? null} isWide>
      <Facts>
        <Fact name={texts.payloads}>{count(quarantine?.payloads ?? 0)}</Fact>
        <Fact name={texts.size}>{size(quarantine?.bytes ?? 0)}</Fact>
        <Fact name={texts.lastHour}>{count(quarantine?.lastHour ?? 0)}</Fact>
      </Facts>
      {quarantine === null || quarantine.reasons.length === 0 ? null : (
        <Rows
          caption={texts.groups.quarantine}
          items={quarantine.reasons}
          keyOf={({ reason }) => reason}
          columns={[
            { name: texts.reason, cell: ({ reason }) => <span lang="en">{reason}</span> },
            { name: texts.payloads, isNumber: true, cell: ({ payloads }) => count(payloads) },
            { name: texts.devices, isNumber: true, cell: ({ devices }) => count(devices) },
            { name: texts.newest, isNumber: true, cell: ({ newestAtS }) => ago(newestAtS) },
            { name: texts.oldest, isNumber: true, cell: ({ oldestAtS }) => ago(oldestAtS) },
            {
              name: texts.where,
              cell: ({ accountID, deviceID }) => (
                <code lang="en">{`fleetward-broker quarantine list ${accountID} ${deviceID}`}</code>
              ),
            },
          ]}
        />
      )}
    </Group>
  );
}

function GoodBackup({ backup }: { readonly backup: NonNullable<StatusView['backup']> }) {
  const texts = useTexts();
  const { size, span, time } = useValues();
  const { good } = backup;
  return (
    <>
      <Fact name={texts.lastGood} atS={good?.atS ?? 0}>
        {good === null ? texts.none : time(good.atS)}
      </Fact>
      <Fact name={texts.late}>{span(backup.lateAfterS)}</Fact>
      {good === null ? null : (
        <>
          <Fact name={texts.size}>{size(good.bytes)}</Fact>
          <Fact name={texts.took}>{span(good.durationS)}</Fact>
          <Fact name={texts.file}>{good.file}</Fact>
          <Fact name={texts.signingKey}>{good.hasSigningKey ? texts.keyInside : texts.keyApart}</Fact>
        </>
      )}
    </>
  );
}

export function BackupGroup({ view: { backup, service } }: GroupOf) {
  const texts = useTexts();
  const { time } = useValues();
  const isFile = service.database === 'sqlite';
  const { failed, archive } = { failed: null, archive: null, ...backup };
  return (
    <Group id="backup" title={texts.groups.backup} atS={backup?.atS ?? null}>
      {isFile ? null : <Note>{texts.serverBackup}</Note>}
      <Facts>
        {isFile && backup !== null ? <GoodBackup backup={backup} /> : null}
        {failed === null ? null : (
          <>
            <Fact name={texts.lastFailed} atS={failed.atS}>
              {time(failed.atS)}
            </Fact>
            <Fact name={texts.why}>{failed.reason}</Fact>
          </>
        )}
        {archive === null ? null : (
          <>
            <Fact name={texts.archived} atS={archive.archivedAtS}>
              {archive.archivedAtS === 0 ? texts.none : time(archive.archivedAtS)}
            </Fact>
            <Fact name={texts.archiveFailed} atS={archive.failedAtS}>
              {archive.failedAtS === 0 ? texts.none : time(archive.failedAtS)}
            </Fact>
          </>
        )}
      </Facts>
      {isFile || archive !== null ? null : <p>{texts.noArchive}</p>}
    </Group>
  );
}

export function StorageGroup({ view: { storage, service } }: GroupOf) {
  const texts = useTexts();
  const { count, size, ago } = useValues();
  const sizeOf = (bytes: number | null): string =>
    bytes !== null ? size(bytes) : service.database === 'postgres' ? texts.byServer : texts.unknown;
  const { slices } = { slices: { open: 0, closed: 0, retired: 0, dropping: 0 }, ...storage };
  const states = (['open', 'closed', 'retired', 'dropping'] as const)
    .filter((state) => slices[state] > 0)
    .map((state) => texts.sliceStates[state]({ count: count(slices[state]) }));
  return (
    <Group id="storage" title={texts.groups.storage} atS={storage?.atS ?? null}>
      {storage === null ? null : (
        <Facts>
          <Fact name={texts.databaseSize}>{sizeOf(storage.databaseBytes)}</Fact>
          <Fact name={texts.walSize}>{sizeOf(storage.walBytes)}</Fact>
          <Fact name={texts.free}>{sizeOf(storage.freeBytes)}</Fact>
          <Fact name={texts.slices}>{states.join(' · ')}</Fact>
          <Fact name={texts.oldestSlice}>
            {storage.oldestSliceAtS === 0 ? texts.firstSlice : ago(storage.oldestSliceAtS)}
          </Fact>
          <Fact name={texts.events}>{count(storage.lastEventNo)}</Fact>
          <Fact name={texts.notified}>{count(storage.notifiedEventNo)}</Fact>
        </Facts>
      )}
    </Group>
  );
}

export function CertificatesGroup({ view: { certificates } }: GroupOf) {
  const texts = useTexts();
  const { nowS, days, date } = useValues();
  return (
    <Group id="certificates" title={texts.groups.certificates}>
      {certificates.length === 0 ? (
        <Note>{texts.noCertificates}</Note>
      ) : (
        <Rows
          caption={texts.groups.certificates}
          items={certificates.map((certificate, at) => ({ ...certificate, at }))}
          keyOf={({ at }) => String(at)}
          columns={[
            { name: texts.setting, cell: ({ setting }) => <code lang="en">{setting}</code> },
            { name: texts.until, isNumber: true, cell: ({ untilAtS }) => date(untilAtS) },
            {
              name: texts.left,
              isNumber: true,
              cell: ({ untilAtS }) => days(Math.floor((untilAtS - nowS) / 86_400)),
            },
          ]}
        />
      )}
    </Group>
  );
}
