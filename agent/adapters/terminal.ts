// Input at the terminal of a command: an answer, or a secret that must not be shown. It never echoes a secret, always
// restores the terminal, and limits the wait for an answer.
import { createInterface } from 'node:readline';
import { AppError } from '../../src/core/errors.ts';

const answerMs = 120_000;
const lineMost = 200;

/**
 * Shows the question on the error output and resolves with the typed line. Resolves with '' at the end of input,
 * after two minutes, or when stopped.
 */
export function askPerson(question: string, stopped: Promise<void>): Promise<string> {
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise((resolve) => {
    const end = (line: string): void => {
      clearTimeout(timer);
      // Before the input is closed, which comes back here.
      resolve(line);
      lines.close();
      process.stdin.pause();
    };
    const timer = setTimeout(() => end(''), answerMs);
    lines.once('line', end);
    lines.once('close', () => end(''));
    const endWhenStopped = async (): Promise<void> => {
      await stopped;
      end('');
    };
    void endWhenStopped();
  });
}

const enter = /[\r\n]/;
const ctrlC = '\u0003';
const ctrlD = '\u0004';
const erase: readonly string[] = ['\b', '\u007f'];

/** A line typed at the terminal without echo. */
function readHidden(question: string): Promise<string> {
  const { stdin } = process;
  process.stderr.write(question);
  stdin.setRawMode(true);
  return new Promise((resolve, reject) => {
    let typed = '';
    const end = (complete: () => void): void => {
      clearTimeout(timer);
      stdin.setRawMode(false);
      stdin.pause();
      stdin.removeAllListeners('data');
      process.stderr.write('\n');
      complete();
    };
    const fail = (message: string): void => end(() => reject(new AppError('usage', message)));
    const timer = setTimeout(() => fail('No input within two minutes'), answerMs);
    stdin.on('data', (chunk: Buffer) => {
      for (const key of chunk.toString('utf8')) {
        if (key === ctrlC || key === ctrlD) return fail('Cancelled with Ctrl-C or Ctrl-D');
        if (enter.test(key)) return end(() => resolve(typed));
        typed = erase.includes(key) ? typed.slice(0, -1) : `${typed}${key}`.slice(0, lineMost);
      }
    });
  });
}

/**
 * One line that must not be shown: typed without echo, or the first line of standard input where that is no terminal.
 * @throws AppError `usage` when nothing comes within two minutes, or on Ctrl-C.
 */
export async function readSecretLine(question: string): Promise<string> {
  if (process.stdin.isTTY) return readHidden(question);
  let text = '';
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (enter.test(text) || text.length > lineMost) break;
  }
  return text.split(enter, 1)[0] ?? '';
}
