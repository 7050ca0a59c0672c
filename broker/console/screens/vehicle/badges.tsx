// Badges of vehicles and alarms, with icon and word.
import type { Alarm } from '../../api/operations.ts';
import { Badge, codeText, iconOf } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { severityOf, stateNameOf, stateOf, type Vehicle } from '../../state/fleet.ts';

const icons = { moving: 'truck', standing: 'signal', unknown: 'circle-help', offline: 'wifi-off' } as const;

export function StateBadge({ vehicle }: { readonly vehicle: Vehicle }) {
  const words = useWords();
  const state = stateOf(vehicle);
  if (state === 'doubtful')
    return (
      <Badge icon="satellite" tone="look">
        {words.state.doubtful}
      </Badge>
    );
  return <Badge icon={icons[state]}>{words.state[stateNameOf(vehicle)]}</Badge>;
}

/** Red is filled only while an alarm has no owner. */
export function AlarmBadge({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords();
  const { alarmState, priority, statusCode } = alarm;
  const text = codeText(statusCode, words);
  if (alarmState === 'closed') return <Badge icon="circle-check">{text}</Badge>;
  if (alarmState === 'shelved') return <Badge icon={iconOf(statusCode)}>{text}</Badge>;
  if (priority === 'low')
    return (
      <Badge icon={iconOf(statusCode)} tone="look">
        {text}
      </Badge>
    );
  return (
    <Badge icon={iconOf(statusCode, 'octagon-alert')} tone={alarmState === 'new' ? 'act' : 'act taken'}>
      {text}
    </Badge>
  );
}

/** Where a pending cut stands. @param state null without one. */
export function CutBadge({ state }: { readonly state: string | null }) {
  const { pendingCut } = useWords().vehicle;
  if (state === null) return null;
  const texts: Readonly<Record<string, string>> = pendingCut;
  return (
    <Badge icon="hourglass" tone={state === 'unknown' ? 'look' : 'busy'}>
      {texts[state] ?? state}
    </Badge>
  );
}

/** The most urgent open alarm of a vehicle. */
export function AlarmMark({ vehicle }: { readonly vehicle: Vehicle }) {
  const words = useWords();
  const severity = severityOf(vehicle);
  if (vehicle.alarm === null || severity === 'none') return null;
  return (
    <Badge
      icon={iconOf(vehicle.alarm.statusCode, severity === 'look' ? 'circle-alert' : 'octagon-alert')}
      tone={severity === 'act-taken' ? 'act taken' : severity}
    >
      {codeText(vehicle.alarm.statusCode, words)}
    </Badge>
  );
}
