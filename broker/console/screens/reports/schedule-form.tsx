// Form that creates a report by mail or replaces it.
import { useNavigate } from '@tanstack/react-router';
import { reportWords } from '../../../../build/words/report.ts';
import { scheduleWords } from '../../../../build/words/schedule.ts';
import {
  ActionDialog,
  Fields,
  groupOptions,
  languageOptions,
  optionsOf,
  useFields,
  useNewID,
} from '../../components/patterns/form.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { VehicleChoices } from '../../components/vehicle-choices.tsx';
import { call } from '../../service/call.ts';
import { useRole, useUser } from '../../service/role.ts';
import { vehiclesMost } from '../../state/reports/report-view.ts';
import {
  bodyOf,
  draftOf,
  everies,
  faultsOf,
  mailedKinds,
  periods,
  type Schedule,
  type ScheduleDraft,
  type ScheduleFault,
  weekdays,
} from '../../state/reports/schedule-draft.ts';
import { language } from '../../words/word-set.ts';
import { useGroups } from '../people/use-people.ts';

interface DraftProps {
  readonly draft: ScheduleDraft;
  onChange(change: Partial<ScheduleDraft>): void;
}

function SubjectFields({ draft, onChange }: DraftProps) {
  const { schedules: texts, reports } = useWords(scheduleWords, reportWords);
  const { fields } = texts;
  const groups = groupOptions(useGroups().items);
  return (
    <Fields
      of={[
        { name: 'kind', label: fields.kind, options: optionsOf(mailedKinds, reports.kinds) },
        { name: 'period', label: fields.period, options: optionsOf(periods, texts.periods) },
        <p className="muted">{fields.vehiclesHint}</p>,
        <VehicleChoices
          chosen={draft.vehicles}
          most={vehiclesMost}
          choose={(vehicles) => onChange({ vehicles })}
        />,
        groups.length > 0 && { name: 'groups', label: fields.groups, options: groups },
      ]}
      draft={draft}
      onChange={onChange}
    />
  );
}

function TimeFields({ draft, onChange }: DraftProps) {
  const { schedules: texts } = useWords(scheduleWords);
  const { fields, faults: wrong } = texts;
  const faults = faultsOf(draft);
  const faultOf = (name: ScheduleFault): string | null => (faults.has(name) ? wrong[name] : null);
  return (
    <Fields
      of={[
        { name: 'every', label: fields.every, options: optionsOf(everies, texts.everies) },
        draft.every === 'week' && {
          name: 'weekday',
          label: fields.weekday,
          options: optionsOf(weekdays, texts.weekdays),
        },
        draft.every === 'month' && {
          name: 'monthDay',
          label: fields.monthDay,
          hint: fields.monthDayHint,
          fault: faultOf('monthDay'),
          most: 2,
        },
        { name: 'time', label: fields.time, fault: faultOf('time'), most: 5 },
        {
          name: 'timeZone',
          label: fields.timeZone,
          fault: faultOf('timeZone'),
          most: 64,
          clean: (text) => text.trim(),
        },
      ]}
      draft={draft}
      onChange={onChange}
    />
  );
}

interface ScheduleFormProps {
  /** Null: a new one. */
  readonly schedule: Schedule | null;
  /** Ids of all; undefined: not known. */
  readonly taken: readonly string[] | undefined;
}

export function ScheduleForm({ schedule, taken }: ScheduleFormProps) {
  const { schedules: texts } = useWords(scheduleWords);
  const { fields } = texts;
  const navigate = useNavigate();
  const role = useRole();
  const shownLanguage = useValue(language);
  const mailbox = useUser()?.userNotifyEmail ?? '';
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const [typed, put] = useFields(draftOf(schedule, { timeZone, language: shownLanguage, mailbox }));
  const made = useNewID(typed, fields, schedule === null ? taken : []);
  const { draft } = made;
  const faults = faultsOf(draft);
  const isNew = schedule === null;
  return (
    <ActionDialog
      icon="table"
      title={isNew ? texts.createTitle : texts.editTitle({ id: schedule.scheduleID })}
      action={isNew ? texts.create : texts.save({ id: schedule.scheduleID })}
      isOff={(isNew && !made.isReady) || faults.size > 0}
      beginsInField={isNew}
      changes={['schedules']}
      run={() => call('updateReportSchedule', { body: bodyOf(draft) })}
      onDone={() =>
        isNew
          ? void navigate({ to: '/reports/mail', search: { schedule: draft.id }, replace: true })
          : undefined
      }
    >
      <Fields
        of={[
          ...(isNew ? made.fields : made.fields.slice(0, 1)),
          { name: 'isActive', label: fields.state, text: fields.active },
          <SubjectFields draft={draft} onChange={put} />,
          <TimeFields draft={draft} onChange={put} />,
          {
            name: 'recipients',
            label: fields.recipients,
            hint: role === 'admin' ? fields.recipientsHint : fields.recipientsOwn,
            fault: faults.has('recipients') && draft.recipients !== '' ? texts.faults.recipients : null,
            most: 2600,
            isRequired: true,
          },
          {
            name: 'language',
            label: fields.language,
            options: languageOptions,
          },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}
