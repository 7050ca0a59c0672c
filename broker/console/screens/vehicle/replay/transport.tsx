// The controls of a replay: play, the event before and after, the moment, the pace, follow, and the period as a file.
import { useMutation } from '@tanstack/react-query';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { tabWords } from '../../../../../build/words/tab.ts';
import { ActionButton } from '../../../components/action-button.tsx';
import { failureText } from '../../../components/failure.ts';
import { ChoiceField } from '../../../components/fields/choice-field.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Notice, timeText } from '../../../components/texts.tsx';
import { useValue, useWords } from '../../../components/use.ts';
import { type ExportFormat, exportFormats, saveTrack, type TrackPeriod } from '../../../service/track.ts';
import type { TrackRecord } from '../../../state/replay.ts';
import { paces, type ReplayClock } from './use-replay.ts';

interface TransportProps {
  readonly clock: ReplayClock;
  readonly period: TrackPeriod;
  /** The stops of "next" and "previous", by time. */
  readonly occurrences: readonly TrackRecord[];
  readonly isFollowed: boolean;
  onFollow(isFollowed: boolean): void;
}

function Moment({ clock, period }: Pick<TransportProps, 'clock' | 'period'>) {
  const { replay } = useWords(tabWords);
  const timeS = useValue(clock.time);
  const text = timeText(Math.round(timeS));
  const { fromS, toS } = period;
  return (
    <>
      <b className="nowrap replay-time">{text}</b>
      <input
        type="range"
        aria-label={replay.moment}
        aria-valuetext={text}
        min={fromS}
        max={toS}
        // A key moves it by a hundredth, in a short period by less than a second: whole seconds would hold it where it is.
        step="any"
        value={timeS}
        dir="ltr"
        onChange={({ currentTarget }) => clock.seek(Number(currentTarget.value))}
      />
    </>
  );
}

function SaveMenu({ period }: { readonly period: TrackPeriod }) {
  const words = useWords(tabWords);
  const saving = useMutation({ mutationFn: (format: ExportFormat) => saveTrack(period, format) });
  const failure = saving.error === null ? null : failureText(saving.error, words);
  return (
    <>
      <MenuTrigger>
        <ActionButton className="button small" isOff={saving.isPending}>
          <Icon name="download" />
          {words.replay.save}
        </ActionButton>
        <Popover className="menu" placement="bottom end">
          <Menu
            aria-label={words.replay.save}
            onAction={(key) => {
              const format = exportFormats.find((one) => one === key);
              if (format !== undefined) saving.mutate(format);
            }}
          >
            {exportFormats.map((format) => (
              <MenuItem key={format} id={format} textValue={words.replay.formats[format]}>
                {words.replay.formats[format]}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      {failure === null ? null : (
        <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
          {failure.hint}
        </Notice>
      )}
    </>
  );
}

export function Transport({ clock, period, occurrences, isFollowed, onFollow }: TransportProps) {
  const { replay } = useWords(tabWords);
  const step = (direction: 1 | -1): void => {
    const nowS = Math.round(clock.time.get());
    const to =
      direction === 1
        ? occurrences.find(({ timestamp }) => timestamp > nowS)
        : occurrences.findLast(({ timestamp }) => timestamp < nowS);
    clock.seek(to?.timestamp ?? (direction === 1 ? period.toS : period.fromS));
  };
  return (
    <div className="transport" role="group" aria-label={replay.controls}>
      <Button className="button square small" aria-label={replay.previous} onPress={() => step(-1)}>
        <Icon name="step-back" />
      </Button>
      <Button
        className="button secondary square small"
        aria-label={clock.isPlaying ? replay.pause : replay.play}
        onPress={() => clock.toggle()}
      >
        <Icon name={clock.isPlaying ? 'pause' : 'play'} />
      </Button>
      <Button className="button square small" aria-label={replay.next} onPress={() => step(1)}>
        <Icon name="step-forward" />
      </Button>
      <Moment clock={clock} period={period} />
      <ChoiceField
        label={replay.pace}
        value={clock.pace}
        choices={paces.map((pace) => [pace, replay.times({ pace })])}
        onChoose={(pace) => clock.setPace(pace)}
      />
      <label className="row nowrap">
        <input
          type="checkbox"
          checked={isFollowed}
          onChange={({ currentTarget }) => onFollow(currentTarget.checked)}
        />
        {replay.follow}
      </label>
      <SaveMenu period={period} />
    </div>
  );
}
