// Turns errors of the command line parser into texts that name the flag and what it needs. Other errors pass unchanged.
import { AppError } from '../../src/core/errors.ts';

/** Pairs such as `target -> mqtt`, several for one flag. */
function implications(message: string): string {
  const needs = new Map<string, string[]>();
  for (const [, flag = '', needed = ''] of message.matchAll(/(\S+) -> (\S+)/g))
    needs.set(flag, [...(needs.get(flag) ?? []), `--${needed}`]);
  return [...needs].map(([flag, names]) => `--${flag} needs ${names.join(', ')} too`).join('; ');
}

function textOf(message: string): string {
  const [first = ''] = message.split('\n');
  if (first.startsWith('Implications failed')) return implications(message);
  const value = /^Not enough arguments following: (\S+)/.exec(first);
  if (value !== null) return `--${value[1]} needs a value`;
  const counts = /^Not enough non-option arguments: got (\d+), need at least (\d+)/.exec(first);
  if (counts !== null) return `An argument is missing: ${counts[2]} needed, ${counts[1]} given`;
  const choices = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message);
  if (choices !== null) return `${choices[1]} cannot be ${choices[2]}: it is one of ${choices[3]}`;
  return message;
}

/** @param error what was thrown, by the parser or by a command. @returns the error to throw. */
export function usageError(message: string | null, error: Error | undefined): Error {
  // Its own class of error is not exported.
  if (error !== undefined && error.name !== 'YError') return error;
  return new AppError('usage', textOf(message ?? error?.message ?? 'wrong'), { hint: 'Try --help.' });
}
