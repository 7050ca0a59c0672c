// The digital fuel sender in words, for `status` and `doctor`. Pure.
import type { LlsReading } from './lls.ts';

type Shown = LlsReading & { /** Fraction of the tank. */ readonly level: number | null };

/** Fault and remedy; null: none known. */
function faultText({ fault, portFault, senders, noise, otherAddress, answers }: Shown) {
  switch (fault) {
    case 'port':
      return {
        words: `the port of the fuel sender cannot be opened: ${portFault}`,
        todo: 'Check fuelSender.port, the plug, and that no other program has it.',
      };
    case 'no_answer': {
      const silent = senders.filter(({ isSilent }) => isSilent).map(({ address }) => address);
      const other =
        otherAddress === null ? '' : `; address ${otherAddress} answers, and is not in fuelSender.addresses`;
      return {
        words: `no answer from address ${silent.join(', ')}${noiseText(noise)}${other}`,
        todo:
          noise > answers
            ? 'Check fuelSender.baud, that A and B are not swapped, biasing and termination of the line, and that the sender speaks LLS.'
            : 'Check its supply, the wires A and B, fuelSender.addresses, fuelSender.baud, and its setting "automatic data output: no".',
      };
    }
    case 'no_level': {
      const none = senders.filter(({ raw, value }) => raw !== null && value === null);
      return {
        words: `${none.map(({ address, raw }) => `address ${address} answers ${raw}`).join(', ')}, which is no level`,
        todo: 'It is a fault code of the sender (Escort: 6500, its tubes are not connected), or fuelSender.full is below the top of its scale: read it with the program of its maker.',
      };
    }
    case null:
      return null;
  }
}

const noiseText = (noise: number): string => (noise === 0 ? '' : `; ${noise} bytes made no sense`);

/** Level, temperatures and faults in one line. @param isOff the ignition is off: the supply of the sender may be too. */
export function llsText(shown: Shown, isOff: boolean) {
  const { fault, level, senders, noise } = shown;
  const wrong = faultText(shown);
  if (wrong !== null && isOff && fault === 'no_answer')
    return { level: 'note', words: `${wrong.words}; the ignition is off`, todo: '' } as const;
  if (wrong !== null) return { level: 'fault', ...wrong } as const;
  if (level === null) return { level: 'note', words: 'the fuel sender is being read', todo: '' } as const;
  const each = senders.map(
    ({ address, raw, temperatureC }) => `address ${address}: ${raw} at ${temperatureC} °C`,
  );
  const words = `${(level * 100).toFixed(1)} % (${each.join(', ')})${noiseText(noise)}`;
  return { level: 'ok', words, todo: '' } as const;
}
