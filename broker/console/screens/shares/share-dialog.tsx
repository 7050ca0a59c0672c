// Shares a vehicle or one of its trips: what, until when, a note; then the link, shown once and kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { shareWords } from '../../../../build/words/share.ts';
import { QrCode } from '../../components/codes/qr-code.tsx';
import { FormField } from '../../components/fields/form-field.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Notice, Time } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { expiresOf, type Life, lifeChoices, type ShareKind } from '../../state/shares/share-view.ts';
import { shareLink } from '../../state/shares/shared-view.ts';
import { useSharesChanged } from './use-shares.ts';

/** Characters of a note. */
const titleMost = 64;

interface SharedTrip {
  readonly fromS: number;
  readonly toS: number;
}

interface ShareDialogProps {
  readonly deviceID: string;
  readonly name: string;
  /** Null: nothing but the vehicle can be shared. */
  readonly trip: SharedTrip | null;
  /** What is offered first; null: the dialog is closed. */
  readonly kind: ShareKind | null;
  close(): void;
}

interface Draft {
  readonly kind: ShareKind;
  readonly life: Life;
  readonly title: string;
}

function Fields({
  draft,
  onChange,
  ...props
}: ShareDialogProps & { readonly draft: Draft; onChange(change: Partial<Draft>): void }) {
  const { shares: texts } = useWords(shareWords);
  const { name, trip, deviceID } = props;
  const { kind, life, title } = draft;
  const expires = expiresOf(life, useNow());
  return (
    <>
      <p>{kind === 'trip' ? texts.tripText : texts.liveText({ name })}</p>
      {trip === null ? null : (
        <>
          <Choice
            label={texts.what}
            choices={(['trip', 'live'] as const).map((value) => ({ value, text: texts.kinds[value] }))}
            chosen={kind}
            onChoose={(value) => onChange({ kind: value === 'live' ? 'live' : 'trip' })}
          />
          {kind === 'live' ? null : (
            <p className="muted">
              <Time at={trip.fromS} /> – <Time at={trip.toS} />
            </p>
          )}
        </>
      )}
      <Choice
        label={texts.life}
        choices={lifeChoices.map((value) => ({ value, text: texts.lives[value] }))}
        chosen={life}
        onChoose={(value) => onChange({ life: lifeChoices.find((one) => one === value) ?? life })}
      />
      <p className="muted">
        {texts.endsAt} <Time at={expires} />
      </p>
      <FormField
        label={texts.note}
        hint={texts.noteHint}
        value={title}
        most={titleMost}
        hasFocus
        onChange={(value) => onChange({ title: value })}
      />
      <p className="muted">{texts.endsToo}</p>
      <p>
        <Link to="/shares" search={{ vehicle: deviceID }}>
          {texts.ofVehicle}
        </Link>
      </p>
    </>
  );
}

function Made({ token, expires }: { readonly token: string; readonly expires: number }) {
  const { shares: texts, forms } = useWords(shareWords, formWords);
  const link = shareLink(window.location.origin, token);
  return (
    <>
      <Notice tone="busy" icon="link" title={forms.once} role="status">
        {texts.endsAt} <Time at={expires} />
      </Notice>
      <ShownSecret label={texts.link} value={link} />
      <QrCode text={link} label={texts.qr} />
    </>
  );
}

export function ShareDialog(props: ShareDialogProps) {
  const { deviceID, name, trip, kind: first, close } = props;
  const { shares: texts } = useWords(shareWords);
  const changed = useSharesChanged();
  const [change, setChange] = useState<Partial<Draft>>({});
  const draft: Draft = { kind: first ?? 'live', life: '4', title: '', ...change };
  const making = useMutation({
    mutationFn: () => {
      const expires = expiresOf(draft.life, Math.floor(Date.now() / 1000));
      const title = draft.title.trim();
      const times =
        draft.kind === 'live' || trip === null ? {} : { startTime: trip.fromS, endTime: trip.toS };
      return call('createShare', { body: { deviceID, expires, title, ...times } });
    },
    // Each call makes a further link: it is never repeated by itself.
    retry: false,
    gcTime: 0,
    onSettled: changed,
  });
  const { data } = making;
  return (
    <ChangeDialog
      isOpen={first !== null}
      icon="link"
      title={draft.kind === 'trip' ? texts.titleTrip({ name }) : texts.titleLive({ name })}
      action={data === undefined ? texts.make : null}
      beginsInField
      change={making}
      close={() => {
        setChange({});
        close();
      }}
    >
      {data === undefined ? (
        <Fields
          {...props}
          draft={draft}
          onChange={(next) => setChange((before) => ({ ...before, ...next }))}
        />
      ) : (
        <Made token={data.token} expires={data.expires} />
      )}
    </ChangeDialog>
  );
}
