// Enrolment of the unit of a device: its code, shown once, and how far the unit has come, on a screen that also fits a phone beside the vehicle.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import type { Device, Result } from '../../api/operations.ts';
import { Actions } from '../../components/patterns/detail.tsx';
import { Card, Gate, isOneOf } from '../../components/patterns/page.tsx';
import { Badge, spanText, Time, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { EndCode, type MadeCode, NewCode, ShownCode } from './code.tsx';
import { type EnrolmentCode, enrolmentSteps } from './enrolment-steps.ts';
import { Steps } from './steps.tsx';

/** While something is awaited, and afterwards. */
const [askMs, restMs] = [2000, 30_000] as const;
const earlierMost = 10;

function useCodes(deviceID: string) {
  const { data, error } = useQuery({
    queryKey: ['enrolment-codes'],
    queryFn: ({ signal }) => call('getEnrolmentCodes', { signal }),
    refetchInterval: ({ state }) =>
      state.data?.codes.some((code) => code.deviceID === deviceID && code.state === 'open') === true
        ? askMs
        : restMs,
  });
  return { codes: data?.codes.filter((code) => code.deviceID === deviceID), error };
}

function useHealth(deviceID: string, code: EnrolmentCode | null) {
  const isOnline = useValue(vehicles).get(deviceID)?.isOnline ?? null;
  const isDone = (health: Result<'diagnostic'> | undefined): boolean =>
    health !== undefined && (code === null || enrolmentSteps(code, health).fitted !== null);
  const { data, refetch } = useQuery({
    queryKey: ['diagnostic', deviceID],
    queryFn: ({ signal }) => call('diagnostic', { params: { deviceID }, signal }),
    refetchInterval: ({ state }) => (code?.state !== 'used' || isDone(state.data) ? restMs : askMs),
  });
  // The stream says at once that a unit came.
  useEffect(() => {
    if (isOnline !== null) void refetch();
  }, [isOnline, refetch]);
  return data ?? null;
}

const codeLooks = {
  open: ['hourglass', 'busy'],
  used: ['circle-check', 'ok'],
  revoked: ['undo-2', undefined],
  expired: ['timer-off', 'look'],
} as const;

function CodeLine({ code }: { readonly code: EnrolmentCode }) {
  const words = useWords(deviceWords);
  const { enrol: texts } = words.devices;
  const now = useNow();
  const [icon, tone] = codeLooks[code.state];
  return (
    <div className="row wrap">
      <Badge icon={icon} {...(tone === undefined ? {} : { tone })}>
        {texts.state[code.state]}
      </Badge>
      <span>{texts.codeLine({ codeID: code.codeID, user: code.createdBy })}</span>
      <span className="muted push">
        {code.state === 'open' ? (
          texts.ends({ span: spanText(Math.max(0, code.expires - now), words), time: timeText(code.expires) })
        ) : (
          <Time at={code.usedOn ?? code.createdOn} />
        )}
      </span>
    </div>
  );
}

interface CodeCardProps {
  readonly device: Device;
  readonly newest: EnrolmentCode | null;
  readonly made: MadeCode | null;
  onMade(code: MadeCode): void;
}

function CodeCard({ device, newest, made, onMade }: CodeCardProps) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const isOpen = newest?.state === 'open';
  return (
    <Card title={texts.title}>
      {newest === null ? <p>{texts.none}</p> : <CodeLine code={newest} />}
      {made !== null && made.codeID === newest?.codeID && isOpen ? (
        <ShownCode made={made} />
      ) : (
        <p className="muted">{isOpen ? texts.hidden : texts.about}</p>
      )}
      <Actions
        of={[
          {
            name: 'code',
            text: isOpen ? texts.again : texts.open,
            icon: 'key-round',
            className: isOpen ? 'button secondary' : 'button primary',
            dialog: <NewCode device={device} hasOpen={isOpen} onMade={onMade} />,
          },
          isOpen
            ? {
                name: 'end',
                text: texts.end,
                className: 'button',
                dialog: <EndCode codeID={newest.codeID} />,
              }
            : null,
        ]}
      />
    </Card>
  );
}

function Content({ device }: { readonly device: Device }) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const { codes, error } = useCodes(device.deviceID);
  const [made, setMade] = useState<MadeCode | null>(null);
  const newest = codes?.[0] ?? null;
  const health = useHealth(device.deviceID, newest);
  const earlier = codes?.slice(1, earlierMost + 1) ?? [];
  return (
    <View error={error} isLoaded={codes !== undefined} empty={null}>
      <div className="split">
        <CodeCard device={device} newest={newest} made={made} onMade={setMade} />
        <aside className="stack">
          {newest === null || newest.state === 'revoked' || newest.state === 'expired' ? null : (
            <Steps device={device} code={newest} health={health} />
          )}
          {earlier.length === 0 ? null : (
            <Card title={texts.earlier}>
              <ul className="stack">
                {earlier.map((code) => (
                  <li key={code.codeID + String(code.createdOn)}>
                    <CodeLine code={code} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </aside>
      </div>
    </View>
  );
}

export function Enrolment({ device }: { readonly device: Device }) {
  const { devices: texts } = useWords(deviceWords);
  return (
    <Gate isOpen={isOneOf(useRole(), 'admin')} title={texts.adminsOnly} hint={texts.adminsOnlyHint}>
      <Content device={device} />
    </Gate>
  );
}
