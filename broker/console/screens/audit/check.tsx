// The button that lets the service check the chain of the log, and what it found: what was checked, or where the chain breaks.
import { Link } from '@tanstack/react-router';
import { auditWords } from '../../../../build/words/audit.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Notice, Time, timeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { type CheckState, type Finding, useCheck } from './use-check.ts';

/** Seconds before and after a fault whose entries are shown. */
const aroundS = 3600;

type Place = NonNullable<Finding['from']>;

function PlaceText({ place }: { readonly place: Place }) {
  const { check: texts } = useWords(auditWords).auditLog;
  return <>{texts.entry({ chainNumber: place.chainNumber, time: timeText(place.timestamp) })}</>;
}

/** What was checked: from, until, head, when. */
function Checked({ finding }: { readonly finding: Finding }) {
  const { check: texts } = useWords(auditWords).auditLog;
  const { from, until, head, atS } = finding;
  return (
    <dl className="pairs">
      {from === null ? null : (
        <div className="pair">
          <dt>{texts.first}</dt>
          <dd>
            <PlaceText place={from} />
          </dd>
        </div>
      )}
      {until === null ? null : (
        <div className="pair">
          <dt>{texts.last}</dt>
          <dd>
            <PlaceText place={until} />
          </dd>
        </div>
      )}
      {head === null ? null : (
        <div className="pair">
          <dt>{texts.head}</dt>
          <dd>
            <bdi className="mono">{head.hash}</bdi>
          </dd>
        </div>
      )}
      <div className="pair">
        <dt>{texts.checkedAt}</dt>
        <dd>
          <Time at={atS} />
        </dd>
      </div>
    </dl>
  );
}

function Broken({ finding }: { readonly finding: Finding }) {
  const { check: texts } = useWords(auditWords).auditLog;
  const { fault, entries, until } = finding;
  if (fault === null) return null;
  return (
    <>
      <Notice
        tone="act"
        icon="octagon-alert"
        role="alert"
        title={texts.broken({ chainNumber: fault.chainNumber })}
      >
        {texts.faults[fault.reason]}
      </Notice>
      <p>{texts.before({ count: entries })}</p>
      <p>{texts.advice}</p>
      {until === null ? null : (
        <p>
          <Link to="/audit" search={{ from: until.timestamp - aroundS, to: until.timestamp + aroundS }}>
            {texts.show}
          </Link>
        </p>
      )}
    </>
  );
}

function Held({ finding }: { readonly finding: Finding }) {
  const { check: texts } = useWords(auditWords).auditLog;
  const { entries, isProven, comparedWith, isForeign, head } = finding;
  if (entries === 0) return <p role="status">{texts.empty}</p>;
  return (
    <>
      {isProven ? (
        <Notice tone="ok" icon="shield-check" role="status" title={texts.good({ count: entries })} />
      ) : (
        <>
          <Notice tone="look" icon="triangle-alert" role="alert" title={texts.unproven}>
            {texts.unprovenHint}
          </Notice>
          <p>{texts.unproved({ count: entries })}</p>
        </>
      )}
      {comparedWith === null ? null : <p className="muted">{texts.passed({ chainNumber: comparedWith })}</p>}
      {isForeign ? (
        <Notice tone="look" icon="triangle-alert" title={texts.foreignHead} />
      ) : comparedWith === null && head !== null ? (
        <p className="muted">{texts.firstTime}</p>
      ) : null}
    </>
  );
}

function Result({ finding }: { readonly finding: Finding }) {
  const { check: texts } = useWords(auditWords).auditLog;
  return (
    <>
      {finding.fault === null ? <Held finding={finding} /> : <Broken finding={finding} />}
      {finding.erased === 0 ? null : <p className="muted">{texts.erased({ count: finding.erased })}</p>}
      {finding.unsealed === 0 ? null : (
        <Notice tone="look" icon="triangle-alert" title={texts.unsealed({ count: finding.unsealed })} />
      )}
      <Checked finding={finding} />
    </>
  );
}

function Running({ state }: { readonly state: CheckState & { readonly step: 'running' } }) {
  const { check: texts } = useWords(auditWords).auditLog;
  const { entries, length, waits } = state;
  return (
    <div role="status">
      {waits ? <p>{texts.waits}</p> : null}
      <p>{texts.progress({ count: entries, all: Math.max(entries, length) })}</p>
    </div>
  );
}

export function ChainCheck() {
  const { check: texts } = useWords(auditWords).auditLog;
  const { state, start, stop } = useCheck();
  const failure = useFailure(state.step === 'failed' ? state.error : null);
  const isRunning = state.step === 'running';
  return (
    <section className="card" aria-labelledby="chain-title">
      <header>
        <Icon name="shield-check" />
        <h2 id="chain-title">{texts.title}</h2>
      </header>
      <div className="card-body stack">
        <p className="muted">{texts.about}</p>
        <ActionButton className="button secondary" isOff={false} onPress={isRunning ? stop : start}>
          {isRunning ? texts.stop : state.step === 'none' ? texts.run : texts.again}
        </ActionButton>
        {failure}
        {isRunning ? <Running state={state} /> : null}
        {state.step === 'stopped' ? <p role="status">{texts.stopped}</p> : null}
        {state.step === 'done' ? <Result finding={state.finding} /> : null}
      </div>
    </section>
  );
}
