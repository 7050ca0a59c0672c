// Why a sign-in failed, in the words of its way, and what to do.
import type { IconName } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { ServiceError } from '../../service/call.ts';
import { NoPasskey } from '../../service/passkeys.ts';
import type { Entry } from '../../service/sign-in.ts';
import type { Words } from '../../words/word-set.ts';

type Way = Entry['kind'];

interface Text {
  readonly icon: IconName;
  readonly title: string;
  readonly hint?: string;
}

/** What a refused sign-in of each way says. */
const refused = ({ login }: Words): Readonly<Record<Way, Text>> => ({
  password: { icon: 'triangle-alert', title: login.wrong, hint: login.wrongHint },
  code: { icon: 'link', title: login.linkUsed, hint: login.linkUsedHint },
  totp: { icon: 'key-round', title: login.codeFailed, hint: login.codeFailedHint },
  passkey: { icon: 'key-round', title: login.passkeyFailed, hint: login.passkeyFailedHint },
  provider: { icon: 'triangle-alert', title: login.notCompleted, hint: login.notCompletedHint },
});

function textOf(thrown: Error, way: Way, words: Words): Text {
  const { login } = words;
  if (thrown instanceof NoPasskey) return refused(words).passkey;
  if (!(thrown instanceof ServiceError))
    return { icon: 'triangle-alert', title: login.notCompleted, hint: thrown.message };
  switch (thrown.code) {
    case 'throttled':
      return {
        icon: 'triangle-alert',
        title: login.throttled({ seconds: thrown.retryAfterS ?? 1 }),
        ...(way === 'totp' ? { hint: login.codeThrottledHint } : {}),
      };
    case 'code_needed':
      return { icon: 'key-round', title: login.codeNeeded, hint: login.codeNeededHint };
    case 'passkey_needed':
      return { icon: 'key-round', title: login.passkeyNeeded, hint: login.passkeyNeededHint };
    case 'login_failed':
      return refused(words)[way];
    // A code of another form than the service makes.
    case 'invalid_content':
      return way === 'password' ? { icon: 'triangle-alert', title: thrown.message } : refused(words)[way];
    case 'forbidden':
      return { icon: 'lock', title: login.noRole, hint: login.noRoleHint };
    case 'conflict':
      return { icon: 'triangle-alert', title: login.nameTaken, hint: login.nameTakenHint };
    case 'not_found':
      return { icon: 'triangle-alert', title: login.noProvider, hint: login.noProviderHint };
    case 'unavailable':
      return way === 'provider'
        ? { icon: 'wifi-off', title: login.providerDown, hint: login.providerDownHint }
        : { icon: 'wifi-off', title: thrown.message, hint: login.unreachableHint };
    case 'unreachable':
      return { icon: 'wifi-off', title: login.unreachable, hint: login.unreachableHint };
    default:
      return { icon: 'wifi-off', title: thrown.message, hint: login.unreachableHint };
  }
}

export function Fault({ thrown, way }: { readonly thrown: Error; readonly way: Way }) {
  const { icon, title, hint } = textOf(thrown, way, useWords());
  return (
    <Notice tone="look" icon={icon} role="alert" title={title}>
      {hint}
    </Notice>
  );
}
