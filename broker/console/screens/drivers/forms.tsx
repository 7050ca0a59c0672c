// The forms of a driver: name, telephone number and note; a key that is given from a day on; a key that is taken away.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { driverWords } from '../../../../build/words/driver.ts';
import { keyForm } from '../../../../src/core/driver-key.ts';
import { ActionDialog, Fields, useFields, useNewID } from '../../components/patterns/form.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import type { Driver, UnknownKey } from '../../service/reading/drivers.ts';
import { dateOf, startOfDate } from '../../state/reports/report-dates.ts';
import { shownZone } from '../../words/measures.ts';

/** Queries that a change of drivers makes old. */
export const driverChanges = ['drivers', 'trips', 'report'];

/** Ids that a new driver cannot have. */
const idsOf = (drivers: readonly Driver[] | undefined) => drivers?.map(({ driverID }) => driverID);

const useTexts = () => useWords(driverWords).drivers;

function useContact() {
  const texts = useTexts();
  return [
    { name: 'phone', label: texts.phone, most: 64, type: 'tel' },
    { name: 'note', label: texts.note, most: 500, isLong: true },
  ] as const;
}

export function NewDriver({ drivers }: { readonly drivers: readonly Driver[] | undefined }) {
  const texts = useTexts();
  const navigate = useNavigate();
  const [typed, put] = useFields({ id: '', name: '', phone: '', note: '' });
  const { draft, fields, isReady } = useNewID(typed, texts, idsOf(drivers));
  const { id: driverID, name, phone, note } = draft;
  const contact = useContact();
  return (
    <ActionDialog
      icon="user"
      title={texts.create}
      action={texts.create}
      isOff={!isReady || name.trim() === ''}
      beginsInField
      changes={driverChanges}
      run={() => call('driverUpdate', { body: { driverID, driverDisplayName: name, phone, note } })}
      onDone={() => void navigate({ to: '/drivers', search: { driver: driverID } })}
    >
      <Fields of={[...fields, ...contact]} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

export function EditDriver({ driver }: { readonly driver: Driver }) {
  const texts = useTexts();
  const { driverID, driverDisplayName, phone, note } = driver;
  const [draft, put] = useFields({ driverDisplayName, phone, note });
  const contact = useContact();
  return (
    <ActionDialog
      icon="user"
      title={texts.editOf({ driver: driverDisplayName })}
      action={texts.save}
      isOff={draft.driverDisplayName.trim() === ''}
      beginsInField
      changes={driverChanges}
      run={() => call('driverUpdate', { body: { driverID, ...draft } })}
    >
      <Fields
        of={[{ name: 'driverDisplayName', label: texts.name, most: 128, hasFocus: true }, ...contact]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

interface SinceProps {
  readonly value: string;
  /** An empty one is today: the key is another driver's until then. */
  readonly isTaken: boolean;
  set(value: string): void;
}

function Since({ value, isTaken, set }: SinceProps) {
  const texts = useTexts();
  return (
    <label className="field">
      <span>{texts.since}</span>
      <input
        type="date"
        className="input date"
        max={dateOf(Date.now() / 1000, shownZone())}
        value={value}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      />
      <span className="hint">{isTaken ? texts.sinceTaken : texts.sinceHint}</span>
    </label>
  );
}

interface GiveProps {
  readonly drivers: readonly Driver[];
  readonly unknown: readonly UnknownKey[];
  /** Null: one is chosen, or made. */
  readonly driver: Driver | null;
  /** Empty: one is chosen, or typed. */
  readonly keyID: string;
}

/** Finds the driver whose span of the key covers this moment. */
const holderOf = (drivers: readonly Driver[], keyID: string, nowS: number): Driver | undefined =>
  drivers.find(({ keys }) =>
    keys.some((one) => one.keyID === keyID && (one.endTime === 0 || one.endTime > nowS)),
  );

export function GiveKey({ drivers, unknown, driver, keyID: asked }: GiveProps) {
  const texts = useTexts();
  const navigate = useNavigate();
  const [since, setSince] = useState('');
  const present = drivers.filter(({ leftTime }) => leftTime === 0);
  const [typed, put] = useFields({
    seen: unknown[0]?.keyID ?? '',
    typed: '',
    of: present[0]?.driverID ?? '',
    id: '',
    name: '',
  });
  const { draft, fields, isReady } = useNewID(typed, texts, idsOf(drivers));
  const keyID = asked || draft.seen || keyForm(draft.typed);
  const to = driver ?? present.find(({ driverID }) => driverID === draft.of);
  const holder = holderOf(drivers, keyID, Date.now() / 1000);
  const isTheirs = holder !== undefined && holder === to;
  const isTaken = holder !== undefined && !isTheirs;
  const isNew = to === undefined;
  const startS = startOfDate(since, shownZone());
  const give = () =>
    call('driverUpdate', {
      body: {
        driverID: to?.driverID ?? draft.id,
        ...(isNew ? { driverDisplayName: draft.name } : {}),
        keys: [...(to?.keys ?? []), { keyID, ...(startS === null ? {} : { startTime: startS }) }],
        ...(isTaken ? { takesOver: true } : {}),
      },
    });
  const other = { value: '', text: texts.otherKey };
  return (
    <ActionDialog
      icon="key-round"
      title={asked === '' ? texts.addKey : texts.giveOf({ key: asked })}
      action={texts.give}
      isOff={keyID === '' || isTheirs || (isNew && (!isReady || draft.name.trim() === ''))}
      beginsInField
      changes={driverChanges}
      run={give}
      onDone={() => void navigate({ to: '/drivers', search: { driver: to?.driverID ?? draft.id } })}
    >
      <Fields
        of={[
          asked === '' && unknown.length > 0
            ? {
                name: 'seen',
                label: texts.key,
                options: [...unknown.map((one) => ({ value: one.keyID, text: one.keyID })), other],
              }
            : null,
          asked === '' && draft.seen === ''
            ? { name: 'typed', label: texts.key, hint: texts.keyHint, most: 64, isRequired: true }
            : null,
          driver === null && present.length > 0
            ? {
                name: 'of',
                label: texts.driver,
                options: [
                  ...present.map((one) => ({ value: one.driverID, text: one.driverDisplayName })),
                  { value: '', text: texts.newDriver },
                ],
              }
            : null,
          ...(isNew ? fields : []),
        ]}
        draft={draft}
        onChange={put}
      />
      <Since value={since} isTaken={isTaken} set={setSince} />
      {isTaken ? (
        <Notice
          tone="look"
          icon="circle-alert"
          role="status"
          title={texts.takes({ driver: holder.driverDisplayName })}
        />
      ) : null}
    </ActionDialog>
  );
}

/** Ends a key now, or takes a span away that never was. @param at which of the driver's spans. */
export function EndKey({ driver, at }: { readonly driver: Driver; readonly at: number }) {
  const texts = useTexts();
  const [draft, put] = useFields<{ how: 'now' | 'never' }>({ how: 'now' });
  const span = driver.keys[at];
  const key = span?.keyID ?? '';
  const nowS = Math.floor(Date.now() / 1000);
  const isOver = span === undefined || (span.endTime !== 0 && span.endTime <= nowS);
  const rest = driver.keys.filter((_one, index) => index !== at);
  const isNever = isOver || draft.how === 'never';
  const keys = isNever || span === undefined ? rest : [...rest, { ...span, endTime: nowS }];
  return (
    <ActionDialog
      title={texts.endOf({ key })}
      action={texts.end}
      isOff={span === undefined}
      changes={driverChanges}
      run={() => call('driverUpdate', { body: { driverID: driver.driverID, keys } })}
    >
      {isOver ? null : (
        <Fields
          of={[
            {
              name: 'how',
              label: texts.key,
              options: [
                { value: 'now', text: texts.endNow },
                { value: 'never', text: texts.endNever },
              ],
            },
          ]}
          draft={draft}
          onChange={put}
        />
      )}
      <p>{isNever ? texts.neverText : texts.nowText}</p>
    </ActionDialog>
  );
}

/** @param isErased for good. */
export function EndDriver({ driver, isErased }: { readonly driver: Driver; readonly isErased: boolean }) {
  const texts = useTexts();
  const navigate = useNavigate();
  const { driverID, driverDisplayName } = driver;
  const of = { driver: driverDisplayName };
  return (
    <ActionDialog
      title={isErased ? texts.eraseOf(of) : texts.leaveOf(of)}
      action={isErased ? texts.erase : texts.leave}
      changes={driverChanges}
      run={() => call('deleteDriver', { body: { driverID, ...(isErased ? { erase: true } : {}) } })}
      onDone={() => (isErased ? void navigate({ to: '/drivers', search: {}, replace: true }) : undefined)}
    >
      <p>{isErased ? texts.eraseText : texts.leaveText}</p>
    </ActionDialog>
  );
}
