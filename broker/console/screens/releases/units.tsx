// The units of a release: how each stands, since when, why it has failed, and what it runs.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { releaseWords } from '../../../../build/words/release.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Chips } from '../../components/chips.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Age, Badge, Empty } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { connection } from '../../service/live.ts';
import { phases } from '../../state/releases/release-address.ts';
import { isMoving, type ListedRelease, type ReleaseUnit } from '../../state/releases/release-view.ts';
import { without } from '../../state/search.ts';
import { CommandStateBadge } from '../vehicle/command-course.tsx';
import { useReleaseDialog, useUnits } from './use-releases.ts';

function UnitBadge({ state }: { readonly state: ReleaseUnit['unitState'] }) {
  const { releases: texts } = useWords(releaseWords);
  if (state === 'waiting') return <Badge icon="hourglass">{texts.unitStates.waiting}</Badge>;
  if (state === 'current')
    return (
      <Badge icon="circle-check" tone="ok">
        {texts.unitStates.current}
      </Badge>
    );
  return <CommandStateBadge state={state} />;
}

function Row({ unit }: { readonly unit: ReleaseUnit }) {
  const { releases: texts, state } = useWords(releaseWords);
  const dialog = useReleaseDialog();
  const isDown = useValue(connection).state !== 'live';
  const { deviceID, deviceDisplayName: name, commandID, detail, agentVersion, agentSince, online } = unit;
  return (
    <tr data-unit={deviceID}>
      <th scope="row">
        <Link
          to="/vehicle/$deviceID"
          params={{ deviceID }}
          search={{ tab: 'commands', ...(commandID === null ? {} : { command: commandID }) }}
        >
          {name}
        </Link>
        <span className="note">{online ? state.online : state.offline}</span>
      </th>
      <td>
        <UnitBadge state={unit.unitState} />
        <span className="note">
          <Age at={unit.updated} />
        </span>
      </td>
      <td data-label={texts.columns.stages}>{texts.stage({ stage: unit.stage })}</td>
      <td data-label={texts.columns.runs}>
        {agentVersion === '' ? (
          <span className="muted">{texts.notReported}</span>
        ) : (
          <>
            <bdi>{agentVersion}</bdi>
            <span className="note">{agentSince === 0 ? null : <Age at={agentSince} />}</span>
          </>
        )}
      </td>
      <td data-label={texts.columns.reason}>
        <div className="row wrap">
          {/* As the unit wrote it. */}
          {detail === '' ? null : <bdi lang="en">{detail}</bdi>}
          {unit.phase === 'failed' || unit.phase === 'withdrawn' ? (
            <ActionButton
              className="button secondary small"
              aria-haspopup="dialog"
              aria-label={texts.againOf({ unit: name })}
              isOff={isDown}
              onPress={() => dialog.open('again', deviceID)}
            >
              {texts.again}…
            </ActionButton>
          ) : null}
        </div>
      </td>
    </tr>
  );
}

const choices = ['all', ...phases] as const;

/** Both stand in the address. */
function Filters({ begun }: { readonly begun: readonly string[] }) {
  const { releases: texts } = useWords(releaseWords);
  const navigate = useNavigate({ from: '/releases' });
  const { phase = 'all', stage = 0 } = useSearch({ from: '/shell/releases' });
  const kept = { replace: true, resetScroll: false } as const;
  return (
    <header className="wrap">
      <h2 id="units-title">{texts.units}</h2>
      <Chips
        label={texts.filter}
        values={choices}
        chosen={phase}
        content={(one) => (one === 'all' ? texts.every : texts.phases[one])}
        onChoose={(one) =>
          void navigate({
            search: (before) => (one === 'all' ? without(before, 'phase') : { ...before, phase: one }),
            ...kept,
          })
        }
      />
      {begun.length < 2 ? null : (
        <Chips
          label={texts.stageFilter}
          values={['0', ...begun]}
          chosen={String(stage)}
          content={(one) => (one === '0' ? texts.everyStage : texts.stage({ stage: Number(one) }))}
          onChoose={(one) =>
            void navigate({
              search: (before) =>
                one === '0' ? without(before, 'stage') : { ...before, stage: Number(one) },
              ...kept,
            })
          }
        />
      )}
    </header>
  );
}

function Table({ units }: { readonly units: readonly ReleaseUnit[] }) {
  const { releases: texts } = useWords(releaseWords);
  const { unit, state, stages, runs, reason } = texts.columns;
  return (
    <ListTable caption={texts.unitsCaption} columns={[unit, state, stages, runs, reason]}>
      {units.map((one) => (
        <Row key={one.deviceID} unit={one} />
      ))}
    </ListTable>
  );
}

export function ReleaseUnits({ release }: { readonly release: ListedRelease }) {
  const { releases: texts } = useWords(releaseWords);
  const { phase = null, stage = null } = useSearch({ from: '/shell/releases' });
  const found = useUnits(release.releaseID, { phase, stage }, isMoving(release));
  const begun = release.stages.filter(({ started }) => started > 0).map((one) => String(one.stage));
  return (
    <section className="card" aria-labelledby="units-title">
      <Filters begun={begun} />
      <View
        error={found.error}
        readMs={found.readMs}
        empty={
          found.units?.length === 0 ? (
            <Empty icon="truck" title={begun.length === 0 ? texts.noUnits : texts.noneSo}>
              {begun.length === 0 ? <p>{texts.noUnitsHint}</p> : null}
            </Empty>
          ) : null
        }
      >
        <Table units={found.units ?? []} />
        {found.hasMore ? (
          <div className="card-body">
            <ActionButton className="button secondary" isOff={found.isBusy} onPress={found.showMore}>
              {texts.moreUnits}
            </ActionButton>
          </div>
        ) : null}
      </View>
    </section>
  );
}
