// Form that creates a report by mail or replaces it.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { reportWords } from '../../../../build/words/report.ts';
import { scheduleWords } from '../../../../build/words/schedule.ts';
import { languages } from '../../../../src/core/words/languages.ts';
import { Checks } from '../../components/checks.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useRole, useUser } from '../../service/role.ts';
import { isID } from '../../state/device-view.ts';
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
import { Choice } from '../cut/choice.tsx';
import { useGroups } from '../people/use-people.ts';
import { useScheduleDialog, useSchedules, useSchedulesChanged } from './use-schedules.ts';
import { VehicleChoices } from './vehicle-choices.tsx';

interface FieldsProps {
  readonly draft: ScheduleDraft;
  readonly faults: ReadonlySet<ScheduleFault>;
  onChange(change: Partial<ScheduleDraft>): void;
}

function NewID({ draft, onChange }: Pick<FieldsProps, 'draft' | 'onChange'>) {
  const { schedules: texts, forms } = useWords(formWords, scheduleWords);
  const { schedules } = useSchedules();
  const isTaken = schedules?.some(({ scheduleID }) => scheduleID === draft.id) === true;
  return (
    <FormField
      label={texts.fields.id}
      value={draft.id}
      hint={forms.idHint}
      fault={draft.id === '' || (isID(draft.id) && !isTaken) ? null : forms.idWrong}
      most={64}
      isRequired
      hasFocus
      onChange={(id) => onChange({ id })}
    />
  );
}

function SubjectFields({ draft, onChange }: FieldsProps) {
  const { schedules: texts, reports } = useWords(scheduleWords, reportWords);
  const { fields } = texts;
  const { groups } = useGroups();
  return (
    <>
      <Choice
        label={fields.kind}
        choices={mailedKinds.map((value) => ({ value, text: reports.kinds[value] }))}
        chosen={draft.kind}
        onChoose={(value) => onChange({ kind: mailedKinds.find((one) => one === value) ?? 'summary' })}
      />
      <Choice
        label={fields.period}
        choices={periods.map((value) => ({ value, text: texts.periods[value] }))}
        chosen={draft.period}
        onChoose={(value) => onChange({ period: periods.find((one) => one === value) ?? 'lastWeek' })}
      />
      <p className="muted">{fields.vehiclesHint}</p>
      <VehicleChoices
        chosen={draft.vehicles}
        most={vehiclesMost}
        mostText={reports.most({ count: vehiclesMost })}
        choose={(ids) => onChange({ vehicles: ids })}
      />
      {groups === undefined || groups.length === 0 ? null : (
        <Checks
          label={fields.groups}
          choices={groups.map(({ groupID, groupDisplayName }) => ({
            value: groupID,
            text: groupDisplayName,
          }))}
          chosen={draft.groups}
          onChoose={(chosen) => onChange({ groups: chosen })}
        />
      )}
    </>
  );
}

function TimeFields({ draft, faults, onChange }: FieldsProps) {
  const { schedules: texts } = useWords(scheduleWords);
  const { fields } = texts;
  const faultOf = (name: ScheduleFault): string | null => (faults.has(name) ? texts.faults[name] : null);
  return (
    <>
      <Choice
        label={fields.every}
        choices={everies.map((value) => ({ value, text: texts.everies[value] }))}
        chosen={draft.every}
        onChoose={(value) => onChange({ every: everies.find((one) => one === value) ?? 'week' })}
      />
      {draft.every === 'week' ? (
        <Choice
          label={fields.weekday}
          choices={weekdays.map((value) => ({ value, text: texts.weekdays[value] }))}
          chosen={draft.weekday}
          onChoose={(value) => onChange({ weekday: weekdays.find((one) => one === value) ?? '1' })}
        />
      ) : null}
      {draft.every === 'month' ? (
        <FormField
          label={fields.monthDay}
          value={draft.monthDay}
          hint={fields.monthDayHint}
          fault={faultOf('monthDay')}
          most={2}
          onChange={(monthDay) => onChange({ monthDay })}
        />
      ) : null}
      <FormField
        label={fields.time}
        value={draft.time}
        fault={faultOf('time')}
        most={5}
        onChange={(time) => onChange({ time })}
      />
      <FormField
        label={fields.timeZone}
        value={draft.timeZone}
        fault={faultOf('timeZone')}
        most={64}
        onChange={(timeZone) => onChange({ timeZone: timeZone.trim() })}
      />
    </>
  );
}

function Fields({ schedule, ...props }: FieldsProps & { readonly schedule: Schedule | null }) {
  const { draft, faults, onChange } = props;
  const { schedules: texts } = useWords(scheduleWords);
  const { fields } = texts;
  const role = useRole();
  return (
    <>
      {schedule === null ? <NewID draft={draft} onChange={onChange} /> : null}
      <FormField label={fields.name} value={draft.name} most={128} onChange={(name) => onChange({ name })} />
      <Checks
        label={fields.state}
        choices={[{ value: 'on', text: fields.active }]}
        chosen={draft.isActive ? ['on'] : []}
        onChoose={(values) => onChange({ isActive: values.length > 0 })}
      />
      <SubjectFields {...props} />
      <TimeFields {...props} />
      <FormField
        label={fields.recipients}
        value={draft.recipients}
        hint={role === 'admin' ? fields.recipientsHint : fields.recipientsOwn}
        fault={faults.has('recipients') && draft.recipients !== '' ? texts.faults.recipients : null}
        most={2600}
        isRequired
        onChange={(recipients) => onChange({ recipients })}
      />
      <Choice
        label={fields.language}
        choices={Object.entries(languages).map(([value, text]) => ({ value, text }))}
        chosen={draft.language}
        onChoose={(value) => onChange({ language: draftLanguage(value) })}
      />
    </>
  );
}

const draftLanguage = (value: string): ScheduleDraft['language'] =>
  (Object.keys(languages) as ScheduleDraft['language'][]).find((one) => one === value) ?? 'en';

interface ScheduleFormProps {
  readonly name: 'schedule-create' | 'schedule-edit';
  /** Null: a new one. */
  readonly schedule: Schedule | null;
}

export function ScheduleForm({ name, schedule }: ScheduleFormProps) {
  const { schedules: texts } = useWords(formWords, scheduleWords);
  const navigate = useNavigate();
  const dialog = useScheduleDialog();
  const changed = useSchedulesChanged();
  const { schedules } = useSchedules();
  const shownLanguage = useValue(language);
  const mailbox = useUser()?.userNotifyEmail ?? '';
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const begun = draftOf(schedule, { timeZone, language: shownLanguage, mailbox });
  // Null: nothing was changed yet.
  const [edited, setEdited] = useState<ScheduleDraft | null>(null);
  const draft = edited ?? begun;
  const faults = faultsOf(draft);
  const isNew = schedule === null;
  const saving = useMutation({
    mutationFn: () => call('updateReportSchedule', { body: bodyOf(draft) }),
    async onSuccess() {
      await changed();
      if (!isNew) return dialog.close();
      setEdited(null);
      void navigate({ to: '/reports/mail', search: { schedule: draft.id }, replace: true });
    },
  });
  const isFree =
    !isNew || (isID(draft.id) && schedules?.every(({ scheduleID }) => scheduleID !== draft.id) === true);
  return (
    <ChangeDialog
      isOpen={dialog.isOpen(name)}
      icon="table"
      title={isNew ? texts.createTitle : texts.editTitle({ id: schedule.scheduleID })}
      action={isNew ? texts.create : texts.save({ id: schedule.scheduleID })}
      isOff={!isFree || faults.size > 0}
      beginsInField={isNew}
      change={saving}
      close={() => {
        setEdited(null);
        dialog.close();
      }}
    >
      <Fields
        schedule={schedule}
        draft={draft}
        faults={faults}
        onChange={(change) => setEdited((before) => ({ ...(before ?? begun), ...change }))}
      />
    </ChangeDialog>
  );
}
