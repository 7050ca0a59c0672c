// A form: its fields from a description, and the dialog that sends it by one call.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Fragment, isValidElement, type ReactElement, type ReactNode, useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { type Language, languages } from '../../../../src/core/words/languages.ts';
import { isID } from '../../state/device-view.ts';
import { Checks } from '../checks.tsx';
import { FormField } from '../fields/form-field.tsx';
import { ChangeDialog } from '../form-dialog.tsx';
import type { IconName } from '../icon.tsx';
import { ShownSecret } from '../shown-secret.tsx';
import { Notice } from '../texts.tsx';
import { useWords } from '../use.ts';
import { useDialog } from './address.tsx';
import { Choice } from './choice.tsx';
import { idFrom } from './new-id.ts';

interface Option<V> {
  readonly value: V;
  readonly text: string;
}

export const optionsOf = <V extends string>(values: readonly V[], texts: Readonly<Record<V, string>>) =>
  values.map((value): Option<V> => ({ value, text: texts[value] }));

/** Each language of the product by its own name. */
export const languageOptions = optionsOf(Object.keys(languages) as Language[], languages);

export const groupOptions = (
  groups: readonly { readonly groupID: string; readonly groupDisplayName: string }[] = [],
): readonly Option<string>[] =>
  groups.map(({ groupID, groupDisplayName }) => ({ value: groupID, text: groupDisplayName }));

interface TextSpec {
  /** Characters at most. */
  readonly most: number;
  readonly hint?: string | undefined;
  /** What is wrong with the value; null: nothing. */
  readonly fault?: string | null;
  readonly type?: 'text' | 'password' | 'email' | 'tel';
  readonly autoComplete?: string;
  readonly isLong?: boolean;
  readonly isRequired?: boolean;
  readonly hasFocus?: boolean;
  /** What counts of what is typed. */
  clean?(typed: string): string;
}

type KeyOf<D, V> = { [K in keyof D & string]: D[K] extends V ? K : never }[keyof D & string];

type OptionField<D> = {
  [K in KeyOf<D, string | readonly string[]>]: {
    readonly name: K;
    readonly label: string;
    readonly hint?: string | undefined;
    readonly options: readonly Option<D[K] extends readonly (infer E)[] ? E : D[K]>[];
    /** Many: they scroll by themselves. */
    readonly isTall?: boolean;
  };
}[KeyOf<D, string | readonly string[]>];

/** A text, a choice of one or of several, or a switch: the kind of the value and its options say which. */
export type Field<D> =
  | ({ readonly name: KeyOf<D, string>; readonly label: string } & TextSpec)
  | { readonly name: KeyOf<D, boolean>; readonly label: string; readonly text: string }
  | OptionField<D>;

interface FieldsProps<D> {
  /** An element stands as it is; what is false or null is left out. */
  readonly of: readonly (Field<D> | ReactElement | null | false)[];
  readonly draft: D;
  onChange(change: Partial<D>): void;
}

type AnySpec = {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isTall?: boolean;
} & (TextSpec | { readonly text: string } | { readonly options: readonly Option<string>[] });

function Input({
  spec,
  value,
  set,
}: {
  readonly spec: AnySpec;
  readonly value: unknown;
  set(value: unknown): void;
}) {
  if ('most' in spec) {
    const { name: _, clean = (typed) => typed, ...field } = spec;
    return <FormField {...field} value={String(value)} onChange={(typed) => set(clean(typed))} />;
  }
  const { label } = spec;
  if ('text' in spec)
    return (
      <Checks
        label={label}
        choices={[{ value: 'on', text: spec.text }]}
        chosen={value === true ? ['on'] : []}
        onChoose={(values) => set(values.length > 0)}
      />
    );
  const { options, hint } = spec;
  if (Array.isArray(value)) {
    const checks = (
      <Checks label={label} choices={options} chosen={value as string[]} hint={hint} onChoose={set} />
    );
    return spec.isTall === true ? <div className="rule-codes">{checks}</div> : checks;
  }
  return (
    <Choice
      label={label}
      choices={options}
      chosen={String(value)}
      {...(hint === undefined ? {} : { hint })}
      onChoose={set}
    />
  );
}

export function Fields<D extends object>({ of, draft, onChange }: FieldsProps<D>) {
  return of.map((field, at) => {
    if (field === null || field === false) return null;
    if (isValidElement(field)) return <Fragment key={at}>{field}</Fragment>;
    const spec = field as AnySpec & { readonly name: keyof D };
    return (
      <Input
        key={spec.name}
        spec={spec}
        value={draft[spec.name]}
        set={(value) => onChange({ [spec.name]: value } as Partial<D>)}
      />
    );
  });
}

/** What is typed, over what it begins with. */
export function useFields<D extends object>(first: D): readonly [D, (change: Partial<D>) => void] {
  const [typed, setTyped] = useState<Partial<D>>({});
  return [{ ...first, ...typed }, (change) => setTyped((before) => ({ ...before, ...change }))];
}

/**
 * The name of a new object, and its id, which is made from the name until one is typed.
 * @param taken ids that the operation would change; undefined: they are not known yet. @param isTried
 * a form without an id was to be sent: what is missing is said too.
 */
export function useNewID<D extends { readonly id: string; readonly name: string }>(
  typed: D,
  labels: { readonly id: string; readonly name: string },
  taken: readonly string[] | undefined,
  isTried = false,
) {
  const { forms } = useWords(formWords);
  const id = typed.id || idFrom(typed.name, taken ?? []);
  const isTaken = taken?.includes(id) === true;
  const isRight = isID(id) || (id === '' && !isTried);
  const fault = isTaken ? forms.idTaken : isRight ? null : forms.idWrong;
  return {
    draft: { ...typed, id },
    isReady: id !== '' && fault === null && taken !== undefined,
    fields: [
      { name: 'name', label: labels.name, most: 128, hasFocus: true },
      { name: 'id', label: labels.id, hint: forms.idHint, fault, most: 64, isRequired: true },
    ],
  } as const;
}

interface ActionDialogProps<R> {
  readonly icon?: IconName;
  readonly title: string;
  readonly action: string;
  readonly children: ReactNode;
  /** Something is missing. */
  readonly isOff?: boolean;
  readonly beginsInField?: boolean;
  /** Names of the queries that are read again after it. */
  readonly changes: readonly string[];
  /** Sends the change. */
  run(): Promise<R>;
  /** When it is done and what it changed was read again; the dialog is closed then. */
  onDone?(result: R): void;
  /** What the answer shows, once, in place of the form; null: nothing. */
  shown?(result: R): ReactNode;
}

/**
 * One change: asked for with its consequence, sent once at a time and never repeated by itself, and forgotten when the dialog closes. It is
 * mounted while the address names it, so that each opening begins with an empty form.
 */
export function ActionDialog<R>(props: ActionDialogProps<R>) {
  const { icon = 'circle-alert', action, children, changes, run, onDone, shown, ...dialog } = props;
  const queries = useQueryClient();
  const { close } = useDialog();
  const readAgain = () => Promise.all(changes.map((name) => queries.invalidateQueries({ queryKey: [name] })));
  const finish = async (result: R): Promise<void> => {
    await readAgain();
    close();
    onDone?.(result);
  };
  const sending = useMutation({
    mutationFn: run,
    retry: false,
    // What holds a secret is not kept.
    gcTime: 0,
    onError: readAgain,
    // What is shown once stays until the dialog is closed: a list that is read again may take the dialog away.
    onSuccess: (result) => ((shown?.(result) ?? null) === null ? finish(result) : undefined),
  });
  const { data } = sending;
  const answer = data === undefined ? null : (shown?.(data) ?? null);
  return (
    <ChangeDialog
      {...dialog}
      isOpen
      icon={icon}
      action={answer === null ? action : null}
      change={sending}
      close={() => (data === undefined || answer === null ? close() : void finish(data))}
    >
      {answer ?? children}
    </ChangeDialog>
  );
}

/** Secrets that the service shows once, each with its name. */
export function ShownOnce({
  secrets,
}: {
  readonly secrets: readonly (readonly [label: string, value: string])[];
}) {
  const { forms } = useWords(formWords);
  return (
    <>
      <Notice tone="busy" icon="key-round" title={forms.once} role="status" />
      {secrets.map(([label, value]) => (
        <ShownSecret key={label} label={label} value={value} />
      ))}
    </>
  );
}
