// The form of the settings of all vehicles or of one: a table of them at a time, each with where its value comes from. A change that stops an alarm,
// decides when a zone acts, or holds for all vehicles is asked for once more.
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { settingWords } from '../../../../build/words/setting.ts';
import type { SettingsChange } from '../../../../src/core/settings/change.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { useRole } from '../../service/role.ts';
import { settingTables } from '../../state/device-view.ts';
import {
  changesBetween,
  chosenIn,
  faultsOf,
  lookOf,
  type Setting,
  type SettingChange,
  type SettingsDraft,
  type SettingTable,
  settingsOf,
  typedOf,
  withDraft,
} from '../../state/settings/settings-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { AskDialog } from '../zones/parts.tsx';
import { settingName, settingValue, unitText } from './setting-words.ts';
import { useSaveSettings } from './use-settings.ts';

interface Layers {
  /** What was chosen here. */
  readonly own: SettingsChange;
  /** What holds for all vehicles, below the choice of one; null: this is it. */
  readonly below: SettingsChange | null;
}

/** Where the value comes from that holds without a choice here. */
function useSource({ below }: Layers) {
  const words = useWords(settingWords);
  const { settings: texts } = words;
  return (setting: Setting): string => {
    const fleet = below === null ? undefined : chosenIn(below, setting);
    if (fleet !== undefined) return texts.fromFleet({ value: settingValue(setting, fleet, words) });
    if (setting.standard === null) return texts.fromFile;
    return texts.fromStandard({ value: settingValue(setting, setting.standard, words) });
  };
}

function limitsText({ number }: Setting, words: WordsWith<[typeof settingWords]>): string {
  if (number === null) return '';
  const scale = number.unit === 'share' ? 100 : 1;
  const [low, high] = [number.low, number.high].map((one) => numberText(one * scale, 1));
  return `${words.settings.limits({ low: low ?? '', high: high ?? '' })} ${unitText(number.unit, words)}`;
}

interface FieldsProps {
  readonly table: SettingTable;
  readonly layers: Layers;
  readonly draft: SettingsDraft;
  readonly faults: ReadonlySet<string>;
  onChange(pointer: string, text: string): void;
}

function Fields({ table, layers, draft, faults, onChange }: FieldsProps) {
  const words = useWords(settingWords);
  const { settings: texts, common } = words;
  const sourceOf = useSource(layers);
  return settingsOf(table).map((setting) => {
    const { pointer, number, textMost } = setting;
    const text = draft[pointer] ?? typedOf(setting, chosenIn(layers.own, setting));
    const source = sourceOf(setting);
    if (textMost !== null)
      return (
        <FormField
          key={pointer}
          label={settingName(setting, words)}
          value={text}
          hint={`${source} · ${texts.keysHint}`}
          fault={faults.has(pointer) ? texts.keysHint : null}
          most={textMost}
          isLong
          onChange={(value) => onChange(pointer, value)}
        />
      );
    if (number === null)
      return (
        <Choice
          key={pointer}
          label={settingName(setting, words)}
          hint={source}
          chosen={text === '' ? 'none' : text}
          choices={[
            { value: 'none', text: texts.notChosen },
            { value: 'on', text: common.on },
            { value: 'off', text: common.off },
          ]}
          onChoose={(value) => onChange(pointer, value === 'none' ? '' : value)}
        />
      );
    const limits = limitsText(setting, words);
    return (
      <FormField
        key={pointer}
        label={`${settingName(setting, words)} (${unitText(number.unit, words)})`}
        value={text}
        hint={`${source} · ${limits}`}
        fault={faults.has(pointer) ? texts.wrong({ limits }) : null}
        most={14}
        onChange={(value) => onChange(pointer, value)}
      />
    );
  });
}

/** What others than administrators see. */
function Facts({ table, layers }: { readonly table: SettingTable; readonly layers: Layers }) {
  const words = useWords(settingWords);
  const sourceOf = useSource(layers);
  return (
    <dl className="pairs">
      {settingsOf(table).map((setting) => {
        const own = chosenIn(layers.own, setting);
        return (
          <div key={setting.pointer} className="pair">
            <dt>{settingName(setting, words)}</dt>
            <dd>
              {own === undefined ? (
                <span className="muted">{sourceOf(setting)}</span>
              ) : (
                <bdi className="strong">{settingValue(setting, own, words)}</bdi>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** Each change with its value before and after. */
function ChangeList({ changes }: { readonly changes: readonly SettingChange[] }) {
  const words = useWords(settingWords);
  const { settings: texts } = words;
  return (
    <ul className="stack tight">
      {changes.map((change) => {
        const { setting, before, after } = change;
        const look = lookOf(change);
        return (
          <li key={setting.pointer}>
            <strong>{settingName(setting, words)}</strong>
            {': '}
            {texts.becomes({
              before: settingValue(setting, before, words),
              after: settingValue(setting, after, words),
            })}
            {look === null ? null : <p className="look">{texts.looks[look]}</p>}
          </li>
        );
      })}
    </ul>
  );
}

function Tables({
  table,
  own,
  deviceID,
}: {
  table: SettingTable;
  own: SettingsChange;
  deviceID: string | null;
}) {
  const { settings: texts } = useWords(settingWords);
  return (
    <nav className="tabs" aria-label={texts.tablesLabel}>
      {settingTables.map((one) => {
        const count = Object.keys(own[one] ?? {}).length;
        const shown = {
          children: (
            <>
              {texts.tables[one]} {count === 0 ? null : <b>{numberText(count)}</b>}
            </>
          ),
          ...(one === table ? { 'aria-current': 'page' as const } : {}),
        };
        return deviceID === null ? (
          <Link key={one} to="/settings" search={{ table: one }} replace {...shown} />
        ) : (
          <Link
            key={one}
            to="/devices/$deviceID"
            params={{ deviceID }}
            search={{ part: 'settings', table: one }}
            replace
            {...shown}
          />
        );
      })}
    </nav>
  );
}

interface FormActionsProps {
  readonly saving: ReturnType<typeof useSaveSettings>;
  /** Changes that are not saved. */
  readonly count: number;
  readonly isOff: boolean;
  onDiscard(): void;
}

function FormActions({ saving, count, isOff, onDiscard }: FormActionsProps) {
  const { settings: texts, forms, stream } = useWords(formWords, settingWords);
  const kept = saving.isSaved ? forms.saved : forms.unchanged;
  return (
    <div className="row wrap">
      <span className="muted" role="status">
        {saving.isDown ? stream.commandsOff : count > 0 ? texts.changed({ count }) : kept}
      </span>
      {count === 0 ? null : (
        <Button className="button secondary push" onPress={onDiscard}>
          {texts.discard}
        </Button>
      )}
      <ActionButton
        className={count === 0 ? 'button primary push' : 'button primary'}
        type="submit"
        isOff={isOff}
      >
        {forms.change}
      </ActionButton>
    </div>
  );
}

interface SecondLookProps {
  /** Of the vehicle; null: all of them. */
  readonly name: string | null;
  readonly isOpen: boolean;
  readonly isOff: boolean;
  readonly changes: readonly SettingChange[];
  readonly failure: ReactNode;
  onClose(): void;
  onConfirm(): void;
}

function SecondLook({ name, changes, failure, ...dialog }: SecondLookProps) {
  const { settings: texts } = useWords(settingWords);
  return (
    <AskDialog
      {...dialog}
      title={name === null ? texts.lookFleet : texts.lookVehicle({ name })}
      confirm={name === null ? texts.saveFleet : texts.saveVehicle({ name })}
    >
      <p>{texts.lookHint[name === null ? 'fleet' : 'vehicle']}</p>
      <ChangeList changes={changes} />
      <p className="muted">{texts.interlock}</p>
      {failure}
    </AskDialog>
  );
}

interface SettingsFormProps extends Layers {
  /** Null: all vehicles of the account. */
  readonly deviceID: string | null;
  /** Of the vehicle; empty for all. */
  readonly name: string;
  readonly revision: number;
  readonly table: SettingTable;
}

export function SettingsForm({ deviceID, name, own, below, revision, table }: SettingsFormProps) {
  const { settings: texts, forms } = useWords(formWords, settingWords);
  const role = useRole();
  const [draft, setDraft] = useState<SettingsDraft>({});
  const [isLooking, setLooking] = useState(false);
  const saving = useSaveSettings(deviceID);
  const failure = useFailure(saving.failure, forms.failed);
  const wanted = withDraft(own, draft);
  const changes = changesBetween(own, wanted);
  const faults = faultsOf(wanted);
  const isOff = changes.length === 0 || faults.size > 0 || saving.isBusy || saving.isDown;
  const send = (): void =>
    saving.run({ settings: wanted, revision }, () => {
      // What the service has now is shown, and no longer what was typed.
      setDraft({});
      setLooking(false);
    });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isOff) return;
    if (deviceID === null || changes.some((change) => lookOf(change) !== null)) setLooking(true);
    else send();
  };
  const layers = { own, below };
  const title = deviceID === null ? texts.fleetTitle : texts.vehicleTitle({ name });
  return (
    <section className="card narrow-container" aria-labelledby="settings-title">
      <header>
        <h2 id="settings-title">{title}</h2>
      </header>
      <Tables table={table} own={own} deviceID={deviceID} />
      {role === 'admin' ? (
        <Form className="card-body stack" onSubmit={submit} validationBehavior="aria">
          <p className="muted">{texts.about[deviceID === null ? 'fleet' : 'vehicle']}</p>
          <div className="halves even">
            <Fields
              table={table}
              layers={layers}
              draft={draft}
              faults={faults}
              onChange={(pointer, text) => {
                saving.reset();
                setDraft((before) => ({ ...before, [pointer]: text }));
              }}
            />
          </div>
          {isLooking ? null : failure}
          <FormActions saving={saving} count={changes.length} isOff={isOff} onDiscard={() => setDraft({})} />
        </Form>
      ) : (
        <div className="card-body stack">
          <Facts table={table} layers={layers} />
          <p className="muted">{texts.adminsOnly}</p>
        </div>
      )}
      <SecondLook
        name={deviceID === null ? null : name}
        isOpen={isLooking}
        isOff={isOff}
        changes={changes}
        failure={failure}
        onClose={() => setLooking(false)}
        onConfirm={send}
      />
    </section>
  );
}
