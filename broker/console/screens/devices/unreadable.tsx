// Payloads of one unit that the service could not read: when, why, and the bytes as they came. Administrators have them read again, or
// drop them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { deviceWords } from '../../../../build/words/device.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Actions } from '../../components/patterns/detail.tsx';
import { ActionDialog } from '../../components/patterns/form.tsx';
import { ListCard, usePages } from '../../components/patterns/list-detail.tsx';
import { Card, Gate, isOneOf } from '../../components/patterns/page.tsx';
import { numberText, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';

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
        <Card title={texts.content({ number: data.quarantineID })}>
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
        </Card>
      )}
    </View>
  );
}

function Retry({
  deviceID,
  quarantineID,
}: {
  readonly deviceID: string;
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

/** For administrators. @param quarantineID the payload that is chosen; undefined: all. */
function Changes({
  device,
  quarantineID,
}: {
  readonly device: Device;
  readonly quarantineID: string | undefined;
}) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  const { deviceID } = device;
  const one = quarantineID === undefined ? null : { quarantineID };
  const title = one === null ? texts.dropAll : texts.dropOne({ number: one.quarantineID });
  return (
    <>
      <Actions
        of={[
          {
            name: 'drop',
            text: title,
            dialog: (
              <ActionDialog
                title={title}
                action={
                  one === null ? texts.dropAllOf({ name: device.deviceDisplayName || deviceID }) : title
                }
                changes={['quarantine']}
                run={() => call('dropQuarantined', { body: { deviceID, ...one } })}
              >
                <p>{texts.consequence}</p>
              </ActionDialog>
            ),
          },
        ]}
      />
      <Retry deviceID={deviceID} quarantineID={quarantineID} />
    </>
  );
}

function List({ device }: { readonly device: Device }) {
  const { devices, paging } = useWords(deviceWords, tabWords);
  const { unreadable: texts } = devices;
  const role = useRole();
  const { entry } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const { deviceID } = device;
  const list = usePages({
    queryKey: ['quarantine', deviceID],
    read: (cursor, signal) =>
      call('listQuarantine', { query: { deviceID, limit: pageSize, ...cursor }, signal }),
    itemsOf: ({ payloads }) => payloads,
    againMs: () => 30_000,
  });
  const chosen = list.items?.find(({ quarantineID }) => quarantineID === entry)?.quarantineID;
  return (
    <>
      <ListCard
        title={texts.title}
        list={list}
        empty={{ icon: 'circle-check', title: texts.empty, hint: texts.emptyHint }}
        moreText={paging.older}
        above={
          list.items === undefined || list.items.length === 0 ? null : (
            <div className="card-body row wrap">
              <p className="muted">{texts.about}</p>
              {role === 'admin' ? <Changes device={device} quarantineID={chosen} /> : null}
            </div>
          )
        }
        caption={texts.title}
        columns={[
          {
            name: texts.number,
            cell: ({ quarantineID }) => (
              <Link
                to="/vehicle/$deviceID"
                params={{ deviceID }}
                search={{ tab: 'device', part: 'unreadable', entry: quarantineID }}
                replace
                aria-label={texts.content({ number: quarantineID })}
                {...(quarantineID === entry ? { 'aria-current': true as const } : {})}
              >
                {quarantineID}
              </Link>
            ),
          },
          { name: texts.received, isBare: true, cell: ({ received }) => <Time at={received} /> },
          { name: texts.reason, cell: ({ reason }) => <bdi>{reason}</bdi> },
          { name: texts.length, isNum: true, cell: ({ bytes }) => numberText(bytes) },
        ]}
        keyOf={({ quarantineID }) => quarantineID}
      />
      {chosen === undefined ? null : <Payload quarantineID={chosen} />}
    </>
  );
}

export function Unreadable({ device }: { readonly device: Device }) {
  const { unreadable: texts } = useWords(deviceWords).devices;
  return (
    <Gate isOpen={isOneOf(useRole(), 'admin', 'operator')} title={texts.forbidden}>
      <div className="stack">
        <List device={device} />
      </div>
    </Gate>
  );
}
