// The units of a release: how each stands, since when, why it has failed, and what it runs.
import { Link, useSearch } from '@tanstack/react-router';
import { releaseWords } from '../../../../build/words/release.ts';
import { Chips } from '../../components/chips.tsx';
import { AddressChips, DialogButton, usePut } from '../../components/patterns/address.tsx';
import { ListCard } from '../../components/patterns/list-detail.tsx';
import { Age, Badge } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { connection } from '../../service/live.ts';
import { phases } from '../../state/releases/release-address.ts';
import { isMoving, type ListedRelease, type ReleaseUnit } from '../../state/releases/release-view.ts';
import { CommandStateBadge } from '../vehicle/command-course.tsx';
import { useUnits } from './use-releases.ts';

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

function Again({ unit }: { readonly unit: ReleaseUnit }) {
  const { releases: texts } = useWords(releaseWords);
  const isDown = useValue(connection).state !== 'live';
  const { deviceID, deviceDisplayName, detail, phase } = unit;
  return (
    <div className="row wrap">
      {/* As the unit wrote it. */}
      {detail === '' ? null : <bdi lang="en">{detail}</bdi>}
      {phase === 'failed' || phase === 'withdrawn' ? (
        <DialogButton
          name="again"
          about={{ unit: deviceID }}
          className="button secondary small"
          label={texts.againOf({ unit: deviceDisplayName })}
          isOff={isDown}
        >
          {texts.again}
        </DialogButton>
      ) : null}
    </div>
  );
}

/** Both stand in the address. */
function Filters({ begun }: { readonly begun: readonly number[] }) {
  const { releases: texts } = useWords(releaseWords);
  const { stage = 0 } = useSearch({ from: '/shell/releases' });
  const put = usePut();
  return (
    <>
      <AddressChips
        label={texts.filter}
        member="phase"
        values={['all', ...phases] as const}
        first="all"
        content={(one) => (one === 'all' ? texts.every : texts.phases[one])}
      />
      {begun.length < 2 ? null : (
        <Chips
          label={texts.stageFilter}
          values={['0', ...begun.map(String)]}
          chosen={String(stage)}
          content={(one) => (one === '0' ? texts.everyStage : texts.stage({ stage: Number(one) }))}
          onChoose={(one) => put({ stage: one === '0' ? undefined : Number(one) })}
        />
      )}
    </>
  );
}

export function ReleaseUnits({ release }: { readonly release: ListedRelease }) {
  const { releases: texts, state: states } = useWords(releaseWords);
  const { columns } = texts;
  const { phase, stage } = useSearch({ from: '/shell/releases' });
  const units = useUnits(release.releaseID, { phase, stage }, isMoving(release));
  const begun = release.stages.filter(({ started }) => started > 0).map((one) => one.stage);
  return (
    <ListCard
      title={texts.units}
      head={<Filters begun={begun} />}
      list={units}
      empty={
        begun.length === 0
          ? { icon: 'truck', title: texts.noUnits, hint: texts.noUnitsHint }
          : { icon: 'truck', title: texts.noneSo }
      }
      moreText={texts.moreUnits}
      caption={texts.unitsCaption}
      keyOf={({ deviceID }) => deviceID}
      rowOf={({ deviceID }) => ({ 'data-unit': deviceID })}
      columns={[
        {
          name: columns.unit,
          cell: ({ deviceID, deviceDisplayName: name, commandID, online }) => (
            <>
              <Link
                to="/vehicle/$deviceID"
                params={{ deviceID }}
                search={{ tab: 'commands', ...(commandID === null ? {} : { command: commandID }) }}
              >
                {name}
              </Link>
              <span className="note">{online ? states.online : states.offline}</span>
            </>
          ),
        },
        {
          name: columns.state,
          isBare: true,
          cell: ({ unitState, updated }) => (
            <>
              <UnitBadge state={unitState} />
              <span className="note">
                <Age at={updated} />
              </span>
            </>
          ),
        },
        { name: columns.stages, cell: (unit) => texts.stage({ stage: unit.stage }) },
        {
          name: columns.runs,
          cell: ({ agentVersion, agentSince }) =>
            agentVersion === '' ? (
              <span className="muted">{texts.notReported}</span>
            ) : (
              <>
                <bdi>{agentVersion}</bdi>
                <span className="note">{agentSince === 0 ? null : <Age at={agentSince} />}</span>
              </>
            ),
        },
        { name: columns.reason, cell: (unit) => <Again unit={unit} /> },
      ]}
    />
  );
}
