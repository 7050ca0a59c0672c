// Approving and refusing: one request each, and what stands in its way.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { randomKey } from '../../../client/idempotency-key.ts';
import type { Approval } from '../../api/operations.ts';
import { call } from '../../service/call.ts';
import { isLive } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import type { PersonProof } from '../cut/proof-field.tsx';

interface DecideOptions {
  readonly request: Approval;
  readonly proof: PersonProof;
  /** With the command that the approval gave. */
  onApproved(commandID: string): void;
}

export function useDecide({ request, proof, onApproved }: DecideOptions) {
  const queries = useQueryClient();
  const { approvalID } = request;
  const [word, setWord] = useState('');
  const [key] = useState(randomKey);
  const mutationKey = ['decide', approvalID];
  const onSettled = () => queries.invalidateQueries({ queryKey: ['orders'] });
  const approving = useSending({
    mutationKey,
    mutationFn: () => {
      const { secret } = proof;
      const body = { approvalID, ...(secret === null || secret === '' ? {} : { password: secret }) };
      return call('approveCommand', { body, idempotencyKey: key });
    },
    // Persons of the owner's list may still be missing.
    onSuccess: ({ commandID }) => (commandID === '' ? undefined : onApproved(commandID)),
    onSettled: (_answer, thrown) => {
      proof.answered(thrown === null);
      return onSettled();
    },
  });
  const refusing = useSending({
    mutationKey,
    mutationFn: () => call('refuseCommand', { body: { approvalID, reason: word.trim() } }),
    onSettled,
  });
  return {
    word,
    setWord,
    isBusy: approving.isBusy,
    failure: approving.failure ?? refusing.failure,
    sentMs: approving.sentMs ?? refusing.sentMs,
    approve: (): void => (isLive() ? approving.send() : undefined),
    refuse: (): void => (word.trim() === '' || !isLive() ? undefined : refusing.send()),
  };
}
