// The commands of a vehicle as the ledger has them, and the course of one: asked, what the vehicle reported, and why it waits.
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device, ListedCommand } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import { canWithdraw } from '../../state/command-view.ts';
import { CommandCourse, CommandStateBadge, useAsked, useReason } from './command-course.tsx';
import { useOwnEvents } from './use-own-events.ts';

const pageSize = '50';
/** How often the ledger is read while a command is under way, and while none is; each event of the vehicle reads it at once. */
const underWayMs = 3000;
const restMs = 15_000;

function useCommands(deviceID: string) {
  const found = useInfiniteQuery({
    queryKey: ['commands', deviceID],
    queryFn: ({ pageParam, signal }) =>
      call('listCommands', {
        params: { deviceID },
        query: { limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) =>
      data?.pages[0]?.commands.some(({ hasEnded }) => !hasEnded) === true ? underWayMs : restMs,
  });
  useOwnEvents(deviceID, found.refetch);
  return { ...found, commands: found.data?.pages.flatMap(({ commands }) => commands) };
}

function CommandRow({
  command,
  isSelected,
}: {
  readonly command: ListedCommand;
  readonly isSelected: boolean;
}) {
  const { commands: texts, common } = useWords(tabWords);
  const asked = useAsked(command);
  const reason = useReason(command);
  return (
    <tr data-selected={isSelected}>
      <td className="nowrap">
        <Time at={command.issued} />
      </td>
      <th scope="row">
        <Link
          to="/vehicle/$deviceID"
          params={{ deviceID: command.deviceID }}
          search={{ tab: 'commands', command: command.commandID }}
          replace
        >
          {asked}
        </Link>
      </th>
      <td>
        <CommandStateBadge state={command.commandState} />
      </td>
      <td data-label={texts.by}>
        {[command.issuer, command.approver].filter((user) => user !== '').join(' + ') || common.unknown}
      </td>
      <td data-label={texts.reason}>{reason || common.none}</td>
      <td className="nowrap" data-label={texts.updated}>
        <Time at={command.updated} />
      </td>
    </tr>
  );
}

function CommandTable({
  commands,
  selected,
}: {
  readonly commands: readonly ListedCommand[];
  readonly selected: string | undefined;
}) {
  const { commands: texts } = useWords(tabWords);
  return (
    <div className="scroll">
      <table className="table folds">
        <caption className="hidden">{texts.title}</caption>
        <thead>
          <tr>
            {[texts.issued, texts.command, texts.state, texts.by, texts.reason, texts.updated].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {commands.map((command) => (
            <CommandRow
              key={command.commandID}
              command={command}
              isSelected={command.commandID === selected}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Withdraw({ command }: { readonly command: ListedCommand }) {
  const { commands: texts, stream } = useWords(tabWords);
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const withdrawing = useSending({
    mutationKey: ['withdraw', command.commandID],
    mutationFn: () => call('cancelCommand', { body: { commandID: command.commandID } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['commands'] }),
  });
  const failure = useFailure(withdrawing.failure, texts.notWithdrawn);
  const isDown = state !== 'live';
  return (
    <>
      <div className="row wrap">
        <ActionButton
          className="button secondary"
          isOff={isDown || withdrawing.isBusy}
          onPress={() => withdrawing.send()}
        >
          <Icon name="undo-2" />
          {texts.withdraw}
        </ActionButton>
        {isDown ? <span className="muted">{stream.commandsOff}</span> : null}
        {withdrawing.isSuccess ? (
          <span className="muted" role="status">
            {texts.withdrawalAsked}
          </span>
        ) : null}
      </div>
      {failure}
    </>
  );
}

/** What the vehicle reported of a command. The service keeps every such record in a thinned period. */
function useReports({ deviceID, commandID, issued, updated, hasEnded }: ListedCommand) {
  return useQuery({
    queryKey: ['command-records', deviceID, commandID, updated, hasEnded],
    queryFn: async ({ signal }) => {
      const { eventdata } = await call('deviceDataRange', {
        params: {
          deviceID,
          // The clocks of vehicle and service may differ by a little.
          startTime: String(issued - 60),
          endTime: hasEnded ? String(updated + 60) : '0',
        },
        query: { points: '2', fields: 'eventID,timestamp,creationTime,statusCode,commandID,commandState' },
        signal,
      });
      return eventdata.devices;
    },
    refetchInterval: hasEnded ? false : 10_000,
  });
}

function Course({ command, mayCommand }: { readonly command: ListedCommand; readonly mayCommand: boolean }) {
  const { data, error } = useReports(command);
  return (
    <aside className="card" aria-labelledby="command-title">
      <CommandCourse command={command} records={data} error={error}>
        {mayCommand && canWithdraw(command) ? <Withdraw key={command.commandID} command={command} /> : null}
      </CommandCourse>
    </aside>
  );
}

export function VehicleCommands({ device }: { readonly device: Device }) {
  const { commands: texts, paging } = useWords(tabWords);
  const { command: chosen } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const { commands, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useCommands(
    device.deviceID,
  );
  // Without a choice: what is under way, else the newest.
  const selected = commands?.find(({ commandID, hasEnded }) =>
    chosen === undefined ? !hasEnded : commandID === chosen,
  );
  const shown = selected ?? (chosen === undefined ? commands?.[0] : undefined);
  return (
    <div className="split">
      <section className="card" aria-labelledby="commands-title">
        <header>
          <h2 id="commands-title">{texts.title}</h2>
        </header>
        <View
          error={error}
          readMs={dataUpdatedAt}
          empty={
            commands?.length === 0 ? (
              <Empty icon="power" title={texts.empty}>
                <p>{texts.emptyHint}</p>
              </Empty>
            ) : null
          }
        >
          <CommandTable commands={commands ?? []} selected={shown?.commandID} />
        </View>
        {hasNextPage ? (
          <div className="card-body">
            <ActionButton className="button" isOff={isFetchingNextPage} onPress={() => void fetchNextPage()}>
              {paging.older}
            </ActionButton>
          </div>
        ) : null}
      </section>
      {shown === undefined ? (
        <aside className="card not-narrow" aria-label={texts.course}>
          <Empty icon="hourglass" title={chosen === undefined ? texts.pick : texts.notListed} />
        </aside>
      ) : (
        <Course command={shown} mayCommand={device.authorities['command'] === true} />
      )}
    </div>
  );
}
