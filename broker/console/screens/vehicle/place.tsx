// Where a vehicle stands and how many people it carries: the street address of its last position, which users write, and its own count.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Age, numberText, placeText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection, readFleetAgain } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { useOwnEvents } from './use-own-events.ts';

/** Characters of an address, as the service takes them. */
const addressMost = 256;

/** The form of one position. A new position discards the draft: an address is saved for the displayed position only. */
function AddressForm({ device }: { readonly device: Device }) {
  const { place: texts, forms, stream } = useWords(tabWords, formWords);
  const { deviceID, deviceLastValidAddress: address, deviceLastValidTimestamp: timestamp } = device;
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const [text, setText] = useState<string | null>(null);
  const saving = useMutation({
    mutationFn: (wanted: string) => call('updateAddress', { body: { deviceID, timestamp, address: wanted } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ['device', deviceID] });
      readFleetAgain();
      setText(null);
    },
  });
  const failure = useFailure(saving.error, forms.failed);
  const isDown = state !== 'live';
  const wanted = (text ?? address).trim();
  const isSame = wanted === address;
  const isOff = isSame || saving.isPending || isDown;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff) saving.mutate(wanted);
  };
  return (
    <Form className="stack" onSubmit={submit} validationBehavior="aria">
      <FormField
        label={texts.address}
        hint={texts.hint}
        value={text ?? address}
        most={addressMost}
        onChange={(value) => {
          saving.reset();
          setText(value);
        }}
      />
      {failure}
      <div className="row wrap">
        <span className="muted" role="status">
          {isDown ? stream.commandsOff : saving.isSuccess ? forms.saved : ''}
        </span>
        <ActionButton className="button secondary push" type="submit" isOff={isOff}>
          {texts.save}
        </ActionButton>
      </div>
    </Form>
  );
}

function Position({ device }: { readonly device: Device }) {
  const { place: texts, vehicle: words } = useWords(tabWords);
  const role = useRole();
  const { deviceLastValidTimestamp: at, deviceLastValidAddress: address } = device;
  if (at === 0) return <p className="muted">{words.noPosition}</p>;
  return (
    <>
      <dl className="pairs">
        <dt>{words.position}</dt>
        <dd>
          <bdi>{placeText(device.deviceLastValidLatitude, device.deviceLastValidLongitude)}</bdi>{' '}
          <span className="age">
            <Age at={at} />
          </span>
        </dd>
        {role === 'operator' || role === 'admin' ? null : (
          <>
            <dt>{texts.address}</dt>
            <dd>{address === '' ? <span className="muted">{texts.none}</span> : <bdi>{address}</bdi>}</dd>
          </>
        )}
      </dl>
      {role === 'operator' || role === 'admin' ? (
        <AddressForm key={`${device.deviceID} ${at}`} device={device} />
      ) : null}
    </>
  );
}

function PeopleAboard({ deviceID }: { readonly deviceID: string }) {
  const { place: texts, common } = useWords(tabWords);
  const { data, error, refetch } = useQuery({
    queryKey: ['passengers', deviceID],
    queryFn: ({ signal }) => call('passengerCount', { params: { deviceID }, signal }),
    refetchInterval: 60_000,
  });
  useOwnEvents(deviceID, refetch);
  const failure = useFailure(error);
  if (data === undefined) return failure ?? <p className="muted">{common.loading}</p>;
  const { passengerCount: count, maxPassengers: most, timestamp } = data;
  return (
    <>
      {failure}
      <dl className="pairs">
        <dt>{texts.aboard}</dt>
        <dd>
          {count === null ? (
            <span className="muted">{texts.notCounted}</span>
          ) : (
            <>
              <bdi>{most === null ? numberText(count) : texts.of({ count, most })}</bdi>{' '}
              <span className="age">{timestamp === 0 ? common.unknown : <Age at={timestamp} />}</span>
              {most !== null && count > most ? <span className="note">{texts.tooMany}</span> : null}
            </>
          )}
        </dd>
      </dl>
    </>
  );
}

/** Address of the last position, and people aboard. */
export function VehiclePlace({ device }: { readonly device: Device }) {
  const { place: texts } = useWords(tabWords);
  return (
    <section className="card" aria-labelledby="place-title">
      <header>
        <h2 id="place-title">{texts.title}</h2>
      </header>
      <div className="card-body stack">
        <Position device={device} />
        <PeopleAboard deviceID={device.deviceID} />
      </div>
    </section>
  );
}
