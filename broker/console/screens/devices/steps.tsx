// How far an enrolment is at the vehicle: three steps as the service sees them, and then each relay and input as it is now.
import type { ReactNode } from 'react';
import { deviceWords } from '../../../../build/words/device.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device, Result } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Pairs } from '../../components/patterns/detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Badge, Notice, Time } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { type EnrolmentCode, type EnrolmentSteps, enrolmentSteps } from './enrolment-steps.ts';

type Health = Result<'diagnostic'>;

const names = ['used', 'connected', 'fitted'] as const;

function Step({
  name,
  steps,
  note,
}: {
  readonly name: (typeof names)[number];
  readonly steps: EnrolmentSteps;
  readonly note: ReactNode;
}) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const at = steps[name];
  const isNext = at === null && names.find((one) => steps[one] === null) === name;
  return (
    <li className={at !== null ? '' : isNext ? 'now' : 'later'} data-step={name} data-done={at !== null}>
      <Icon name={at !== null ? 'circle-check' : isNext ? 'hourglass' : 'circle-dashed'} />
      <span>{texts.steps[name]}</span>
      {at === null ? <span /> : <Time at={at} />}
      {note === null ? null : <p>{note}</p>}
    </li>
  );
}

/** What is fitted, each with its state as the unit last reported it. */
function Fitted({ device, health }: { readonly device: Device; readonly health: Health }) {
  const { devices, health: fitted, common } = useWords(deviceWords, tabWords);
  const titles: Readonly<Record<string, string>> = fitted.fittedNames;
  const states: Readonly<Record<string, { readonly state: string | null } | undefined>> = {
    ...device.sensors,
    ...device.state,
  };
  const list = (of: readonly string[]) => (
    <Pairs
      rows={of.map((name) => {
        const state = states[name]?.state;
        return [
          titles[name] ?? name,
          state === '1' ? common.on : state === '0' ? common.off : common.unknown,
        ];
      })}
    />
  );
  return (
    <div className="stack">
      <p className="muted">{devices.enrol.values}</p>
      <h3>{fitted.relays}</h3>
      {health.features.length === 0 ? <p className="muted">{fitted.noneFitted}</p> : list(health.features)}
      <h3>{fitted.inputs}</h3>
      {health.sensors.length === 0 ? <p className="muted">{fitted.noneFitted}</p> : list(health.sensors)}
    </div>
  );
}

interface StepsProps {
  readonly device: Device;
  readonly code: EnrolmentCode;
  /** Null until it is known. */
  readonly health: Health | null;
}

export function Steps({ device, code, health }: StepsProps) {
  const { enrol: texts } = useWords(deviceWords).devices;
  const steps = enrolmentSteps(code, health);
  const done = names.filter((name) => steps[name] !== null);
  const last = done.at(-1);
  const next = names.find((name) => steps[name] === null);
  const noteOf = (name: (typeof names)[number]): ReactNode => {
    if (name === next) return steps.isBare ? null : texts.wait[name];
    if (name === 'used' && steps.used !== null) return texts.from({ address: code.usedFrom });
    return null;
  };
  const head = (
    <span className="push">
      <Badge
        icon={next === undefined ? 'circle-check' : 'hourglass'}
        tone={next === undefined ? 'ok' : 'busy'}
      >
        <bdi>
          {done.length} / {names.length}
        </bdi>
      </Badge>
    </span>
  );
  return (
    <Card title={texts.progress} head={head}>
      <p className="hidden" role="status">
        {last === undefined ? '' : texts.steps[last]}
      </p>
      <ol className="steps">
        {names.map((name) => (
          <Step key={name} name={name} steps={steps} note={noteOf(name)} />
        ))}
      </ol>
      {steps.isBare ? <Notice tone="look" icon="triangle-alert" title={texts.bare} /> : null}
      {steps.fitted !== null && health !== null ? (
        <>
          <Notice tone="ok" icon="circle-check" title={texts.done} />
          <Fitted device={device} health={health} />
        </>
      ) : (
        <p className="muted">{texts.live}</p>
      )}
    </Card>
  );
}
