// The rehearsal: asks the vehicle whether it would cut, or unlock, now, and why not. It moves no relay. Asked once when a screen opens, and again on
// request; a unit answers at most every 20 s.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Verdict } from '../../../api/operations.ts';
import { useNow } from '../../../components/use.ts';
import { call } from '../../../service/call.ts';
import type { Relay } from '../../../state/orders/cut-view.ts';

/** Units refuse what is asked more often, s. */
const pauseS = 20;
const pollMs = 1000;
/** A person in front of the screen waits no longer, s. */
const lifeS = 60;

export interface Rehearsal {
  readonly state: 'none' | 'asked' | 'answered' | 'refused' | 'silent' | 'failed';
  /** The newest answer, also while a newer question waits; null before the first. */
  readonly verdict: Verdict | null;
  readonly error: unknown;
  /** Seconds until the vehicle may be asked again; 0: now. */
  readonly waitS: number;
  ask(): void;
}

/** Each relay has a question of its own: a unit that does not know it answers nothing. */
const kinds = { enginecutoff: 'interlock', cargoaccess: 'interlock_cargo' } as const;

interface Question {
  readonly deviceID: string;
  readonly relay: Relay;
}

/** The newest question of these seconds is used again, so that opening a screen twice asks once. */
async function begin({ deviceID, relay }: Question): Promise<string> {
  const { requests } = await call('listRequests', { params: { deviceID } });
  const recent = requests.find(
    ({ kind, issued, requestState }) =>
      kind === kinds[relay] && requestState !== 'refused' && issued > Date.now() / 1000 - pauseS,
  );
  if (recent !== undefined) return recent.requestID;
  const asked = await call('requestDiagnostic', { body: { deviceID, kind: kinds[relay], ttl: lifeS } });
  return asked.requestID;
}

/** @param isWanted the vehicle can be asked: the stream is live, and it is online. */
export function useRehearsal({ deviceID, relay }: Question, isWanted: boolean): Rehearsal {
  const now = useNow();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const { mutate, data: requestID, isPending, isIdle, error } = useMutation({ mutationFn: begin });
  const { data: request, error: readError } = useQuery({
    queryKey: ['rehearsal', requestID],
    queryFn: ({ signal }) => call('getRequest', { params: { requestID: requestID ?? '' }, signal }),
    enabled: requestID !== undefined,
    refetchInterval: ({ state }) => (state.data?.hasEnded === true ? false : pollMs),
  });
  useEffect(() => {
    if (isWanted && isIdle) mutate({ deviceID, relay });
  }, [isWanted, isIdle, mutate, deviceID, relay]);
  useEffect(() => {
    if (request?.verdict != null) setVerdict(request.verdict);
  }, [request]);
  const failed = error ?? readError;
  const state = (): Rehearsal['state'] => {
    if (failed !== null) return 'failed';
    if (isPending || (requestID !== undefined && request === undefined)) return 'asked';
    if (request === undefined) return 'none';
    if (request.verdict !== null) return 'answered';
    if (request.requestState === 'refused') return 'refused';
    return request.hasEnded ? 'silent' : 'asked';
  };
  const waitS = request === undefined ? 0 : Math.max(0, request.issued + pauseS - now);
  return { state: state(), verdict, error: failed, waitS, ask: () => mutate({ deviceID, relay }) };
}
