// The form of the settings of all vehicles or of one: a table of them at a time, each with where its value comes from. A change that stops an alarm,
// decides when a zone acts, or holds for all vehicles is asked for once more.
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { settingWords } from '../../../../build/words/setting.ts';
import type { SettingsChange } from '../../../../src/core/settings/change.ts';
import { FormField } from '../../components/fields/form-field.tsx';
import { Tabs } from '../../components/patterns/address.tsx';
import { CardForm } from '../../components/patterns/card-form.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { numberText, withUnit } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { useRole } from '../../service/role.ts';
import { settingTables } from '../../state/device-view.ts';
import {
  changesBetween,
  chosenIn,
  faultsOf,
  lookOf,
  readerLimits,
  type Setting,
  type SettingChange,
  type SettingsDraft,
  type SettingTable,
  type SettingValue,
  settingsOf,
  typedOf,
  withDraft,
} from '../../state/settings/settings-view.ts';
import { measures } from '../../words/measures.ts';
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

/** What holds without a choice here, unless the installer's file has another; undefined: nothing does. */
const heldWithout = (setting: Setting, { below }: Layers): SettingValue | undefined =>
  (below === null ? undefined : chosenIn(below, setting)) ?? setting.standard ?? undefined;

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
  const [low, high] = readerLimits(number, measures.get().system);
  const text = words.settings.limits({ low: numberText(low, 1), high: numberText(high, 1) });
  return withUnit(text, unitText(number.unit, words));
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
  const { system } = useValue(measures);
  return settingsOf(table).map((setting) => {
    const { pointer, number, textMost } = setting;
    const text = draft[pointer] ?? typedOf(setting, chosenIn(layers.own, setting), system);
    const source = sourceOf(setting);
    const held = heldWithout(setting, layers);
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
            {
              value: 'none',
              text:
                held === undefined
                  ? texts.notChosen
                  : `${texts.notChosen} (${settingValue(setting, held, words)})`,
            },
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
        placeholder={typedOf(setting, held, system)}
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
    <Pairs
      rows={settingsOf(table).map((setting) => {
        const own = chosenIn(layers.own, setting);
        return [
          settingName(setting, words),
          own === undefined ? (
            <span key={setting.pointer} className="muted">
              {sourceOf(setting)}
            </span>
          ) : (
            <bdi key={setting.pointer} className="strong">
              {settingValue(setting, own, words)}
            </bdi>
          ),
        ];
      })}
    />
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

function Tables({ table, own }: { readonly table: SettingTable; readonly own: SettingsChange }) {
  const { settings: texts } = useWords(settingWords);
  const { tab, part } = useSearch({ strict: false });
  return (
    <Tabs
      label={texts.tablesLabel}
      values={settingTables}
      chosen={table}
      content={(one) => {
        const count = Object.keys(own[one] ?? {}).length;
        return (
          <>
            {texts.tables[one]} {count === 0 ? null : <b>{numberText(count)}</b>}
          </>
        );
      }}
      search={(one) => ({ tab, part, table: one })}
    />
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
  const wanted = withDraft(own, draft, useValue(measures).system);
  const changes = changesBetween(own, wanted);
  const faults = faultsOf(wanted);
  const isOff = changes.length === 0 || faults.size > 0 || saving.isBusy || saving.isDown;
  const send = (): void =>
    saving.run({ settings: wanted, revision }, () => {
      // What the service has now is shown, and no longer what was typed.
      setDraft({});
      setLooking(false);
    });
  const submit = (): void => {
    if (deviceID === null || changes.some((change) => lookOf(change) !== null)) setLooking(true);
    else send();
  };
  const layers = { own, below };
  const title = deviceID === null ? texts.fleetTitle : texts.vehicleTitle({ name });
  return (
    <div className="narrow-container">
      <Card title={title} isBare>
        <Tables table={table} own={own} />
        {role === 'admin' ? (
          <CardForm
            isOff={isOff}
            status={
              changes.length > 0
                ? texts.changed({ count: changes.length })
                : saving.isSaved
                  ? forms.saved
                  : forms.unchanged
            }
            failure={isLooking ? null : failure}
            discard={changes.length === 0 ? null : { text: texts.discard, run: () => setDraft({}) }}
            submit={submit}
          >
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
          </CardForm>
        ) : (
          <div className="card-body stack">
            <Facts table={table} layers={layers} />
            <p className="muted">{texts.adminsOnly}</p>
          </div>
        )}
      </Card>
      <SecondLook
        name={deviceID === null ? null : name}
        isOpen={isLooking}
        isOff={isOff}
        changes={changes}
        failure={failure}
        onClose={() => setLooking(false)}
        onConfirm={send}
      />
    </div>
  );
}
