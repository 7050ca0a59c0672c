// Payloads of one unit that the service could not read: when, why, and the bytes as they came. Administrators have them read again, or
// drop them.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { deviceWords } from '../../../../build/words/device.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device, Result } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loading, numberText, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import { useDeviceDialog } from './use-dialog.ts';

const pageSize = '50';
/** Bytes of a payload that are shown. */
const shownMost = 4096;

/** Bytes as text, with a dot for each that is no printable ASCII. */
const printable = (base64: string): string =>
  atob(base64)
    .slice(0, shownMost)
    .replaceAll(/[^\x20-\x7e]/g, '·');

function Payload({ quarantineID }: { readonly quarantineID: string }) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  const { data, error } = useQuery({
    // Not asked again when one was dropped: it may be this one.
    queryKey: ['quarantined', quarantineID],
    queryFn: ({ signal }) => call('getQuarantined', { params: { quarantineID }, signal }),
  });
  return (
    <View error={error} isLoaded={data !== undefined} empty={null}>
      {data === undefined ? null : (
        <div className="stack">
          <h3>{texts.content({ number: data.quarantineID })}</h3>
          <p className="muted">
            <bdi className="mono">{data.topic}</bdi>
          </p>
          <pre
            className="scroll import-lines mono"
            dir="ltr"
            tabIndex={0}
            role="region"
            aria-label={texts.bytes}
          >
            {printable(data.payload)}
          </pre>
          {data.bytes > shownMost ? (
            <p className="muted">{texts.cut({ shown: shownMost, all: data.bytes })}</p>
          ) : null}
        </div>
      )}
    </View>
  );
}

function Drop({
  device,
  quarantineID,
}: {
  readonly device: Device;
  readonly quarantineID: string | undefined;
}) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  const dialog = useDeviceDialog('drop');
  const queries = useQueryClient();
  const { deviceID } = device;
  const name = device.deviceDisplayName || deviceID;
  const dropping = useMutation({
    mutationFn: () =>
      call('dropQuarantined', {
        body: { deviceID, ...(quarantineID === undefined ? {} : { quarantineID }) },
      }),
    onSuccess: dialog.close,
    onSettled: () => queries.invalidateQueries({ queryKey: ['quarantine'] }),
  });
  return (
    <>
      <Button className="button secondary push" aria-haspopup="dialog" onPress={dialog.open}>
        {quarantineID === undefined ? texts.dropAll : texts.dropOne({ number: quarantineID })}…
      </Button>
      <ChangeDialog
        isOpen={dialog.isOpen}
        icon="circle-alert"
        title={quarantineID === undefined ? texts.dropAll : texts.dropOne({ number: quarantineID })}
        action={
          quarantineID === undefined ? texts.dropAllOf({ name }) : texts.dropOne({ number: quarantineID })
        }
        change={dropping}
        close={dialog.close}
      >
        <p>{texts.consequence}</p>
      </ChangeDialog>
    </>
  );
}

function Retry({
  device: { deviceID },
  quarantineID,
}: {
  readonly device: Device;
  readonly quarantineID: string | undefined;
}) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  const queries = useQueryClient();
  const retrying = useMutation({
    mutationFn: () =>
      call('retryQuarantined', {
        body: { deviceID, ...(quarantineID === undefined ? {} : { quarantineID }) },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['quarantine'] }),
  });
  const { data } = retrying;
  const failure = useFailure(retrying.error);
  return (
    <>
      <ActionButton className="button secondary" isOff={retrying.isPending} onPress={() => retrying.mutate()}>
        {quarantineID === undefined ? texts.retryAll : texts.retryOne({ number: quarantineID })}
      </ActionButton>
      <p role="status">{data && texts.retried({ taken: data.taken, left: data.left })}</p>
      {failure}
    </>
  );
}

type Entry = Result<'listQuarantine'>['payloads'][number];

function Entries({ deviceID, payloads }: { readonly deviceID: string; readonly payloads: readonly Entry[] }) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  const { entry } = useSearch({ from: '/shell/devices/$deviceID' });
  return (
    <div className="scroll">
      <table className="table">
        <caption className="hidden">{texts.title}</caption>
        <thead>
          <tr>
            {[texts.number, texts.received, texts.reason].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col" className="num">
              {texts.length}
            </th>
          </tr>
        </thead>
        <tbody>
          {payloads.map(({ quarantineID, received, reason, bytes }) => (
            <tr key={quarantineID}>
              <th scope="row">
                <Link
                  to="/devices/$deviceID"
                  params={{ deviceID }}
                  search={{ part: 'unreadable', entry: quarantineID }}
                  replace
                  aria-label={texts.content({ number: quarantineID })}
                  {...(quarantineID === entry ? { 'aria-current': true as const } : {})}
                >
                  {quarantineID}
                </Link>
              </th>
              <td>
                <Time at={received} />
              </td>
              <td>
                <bdi>{reason}</bdi>
              </td>
              <td className="num">{numberText(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function List({ device }: { readonly device: Device }) {
  const { devices, paging } = useWords(deviceWords, tabWords);
  const { unreadable: texts } = devices;
  const role = useRole();
  const { entry } = useSearch({ from: '/shell/devices/$deviceID' });
  const { deviceID } = device;
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['quarantine', deviceID],
    queryFn: ({ pageParam, signal }) =>
      call('listQuarantine', {
        query: { deviceID, limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: 30_000,
  });
  const payloads = data?.pages.flatMap((page) => page.payloads);
  const isThere = payloads?.some(({ quarantineID }) => quarantineID === entry) === true;
  return (
    <View
      error={error}
      readMs={dataUpdatedAt}
      empty={
        payloads?.length === 0 ? (
          <Empty icon="circle-check" title={texts.empty}>
            <p>{texts.emptyHint}</p>
          </Empty>
        ) : null
      }
    >
      <div className="card-body stack">
        <div className="row wrap">
          <p className="muted">{texts.about}</p>
          {role === 'admin' ? (
            <>
              <Drop device={device} quarantineID={isThere ? entry : undefined} />
              <Retry device={device} quarantineID={isThere ? entry : undefined} />
            </>
          ) : null}
        </div>
        <Entries deviceID={deviceID} payloads={payloads ?? []} />
        {hasNextPage ? (
          <ActionButton className="button" isOff={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            {paging.older}
          </ActionButton>
        ) : null}
        {isThere && entry !== undefined ? <Payload quarantineID={entry} /> : null}
      </div>
    </View>
  );
}

export function Unreadable({ device }: { readonly device: Device }) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  const role = useRole();
  return (
    <section className="card" aria-labelledby="unreadable-title">
      <header>
        <Icon name="circle-alert" />
        <h2 id="unreadable-title">{texts.title}</h2>
      </header>
      {role === '' ? (
        <Loading rows={5} />
      ) : role === 'viewer' ? (
        <Empty icon="lock" title={texts.forbidden} />
      ) : (
        <List device={device} />
      )}
    </section>
  );
}
