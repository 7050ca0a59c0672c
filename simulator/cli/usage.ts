// What the parser of the command line says of a wrong one, in words for people: which flag it is and what it needs. It never hides an
// error that is not the parser's.
import { AppError } from '../../src/core/errors.ts';

/** Pairs such as `target -> mqtt`, several for one flag. */
function implications(message: string): string {
  const needs = new Map<string, string[]>();
  for (const [, flag = '', needed = ''] of message.matchAll(/(\S+) -> (\S+)/g))
    needs.set(flag, [...(needs.get(flag) ?? []), `--${needed}`]);
  return [...needs].map(([flag, names]) => `--${flag} needs ${names.join(', ')} too`).join('; ');
}

function inWords(message: string): string {
  const [first = ''] = message.split('\n');
  if (first.startsWith('Implications failed')) return implications(message);
  const value = /^Not enough arguments following: (\S+)/.exec(first);
  if (value !== null) return `--${value[1]} needs a value`;
  const words = /^Not enough non-option arguments: got (\d+), need at least (\d+)/.exec(first);
  if (words !== null) return `A word is missing: ${words[2]} needed, ${words[1]} given`;
  const choices = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message);
  if (choices !== null) return `${choices[1]} cannot be ${choices[2]}: it is one of ${choices[3]}`;
  return message;
}

/** The error to throw for what the parser tells. @param error what was thrown, by it or by a command. */
export function usageError(message: string | null, error: Error | undefined): Error {
  // Its own class of error is not exported.
  if (error !== undefined && error.name !== 'YError') return error;
  return new AppError('usage', inWords(message ?? error?.message ?? 'wrong'), { hint: 'Try --help.' });
}

/** A reader that has gone away ends the program quietly, as it does any other one. */
const pipeClosedExitCode = 141;

/** To be called once: a pipe that closes is no failure of the program, and children end with it. */
export function endWithReader(output: NodeJS.WriteStream): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? pipeClosedExitCode : 74);
  });
}
