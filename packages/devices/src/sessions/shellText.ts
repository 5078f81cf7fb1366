import type { ClientChannel } from 'ssh2';
import { SshFailure } from './sshConnection.ts';

// Matches escape sequences of terminals, and the characters NUL, BEL and backspace.
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|[\u0000\u0007\u0008]/g;
// Output comes in pieces of any size. These limits keep the text short that is searched for each piece.
const longestPrompt = 1000;
const echoedWithin = 32_768;
// Where two prompts are looked for that follow one another.
const endWithin = 4000;
const endPieces = 500;

/** The words of a device at the end of a page, until a key is pressed. */
export const pager =
  /(?:-{2,} ?\(?more\b[^\r\n]*|<-+ ?more ?-+>|press any key to continue[^\r\n]*|-- \[q quit[^\r\n]*)$/i;
export const pagers = new RegExp(`${pager.source.slice(0, -1)} *`, 'gi');

/** The text that a shell shows, from a line that is sent to the next one. Throws what has ended the shell. */
export const listenTo = (shell: ClientChannel, most: number) => {
  let parts: string[] = [];
  let head = '';
  let tail = '';
  let size = 0;
  let wake = (): void => undefined;
  let fault: Error | undefined;
  /** The last line, until more comes. */
  let last: string | undefined;

  const stop = (error: Error): void => {
    fault ??= error;
    wake();
  };
  shell.setEncoding('utf8');
  shell.on('data', (chunk: string) => {
    size += chunk.length;
    if (size > most) {
      parts = [];
      stop(new SshFailure('there is too much output'));
      return;
    }
    parts.push(chunk);
    if (head.length < echoedWithin) head += chunk;
    last = undefined;
    tail = chunk.includes('\n') ? chunk.slice(chunk.lastIndexOf('\n') + 1) : tail + chunk;
    if (tail.length > longestPrompt) tail = tail.slice(-longestPrompt);
    wake();
  });
  shell.on('close', () => stop(new SshFailure('the session broke off')));
  shell.on('error', () => stop(new SshFailure('the session broke off')));

  return {
    head: (): string => head,
    whole: (): string => parts.join(''),
    /** The last line, which has no line end yet. */
    lastLine: (): string => (last ??= cleaned(tail).split('\n').at(-1)?.trim() ?? ''),
    write: (text: string): void => {
      [tail, last] = ['', undefined];
      shell.write(text);
    },
    /** Forgets what has come, and goes on from a text. */
    forget: (text = ''): void => {
      parts = text === '' ? [] : [text];
      head = text;
    },
    end: (): string => parts.slice(-endPieces).join('').slice(-endWithin),
    /** Ends every wait with this error. The first one counts. */
    stop,
    isBroken: (): boolean => fault !== undefined,
    /** A call begins: its output is counted anew. */
    begin: (): void => {
      size = 0;
    },
    /** Waits for the next piece. */
    more: async (): Promise<void> => {
      if (fault) throw fault;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
};

export const joined = (lines: readonly string[]): string => lines.join('\n');

/** A text as lines. Some devices repaint a line after a carriage return: nothing is taken for painted over. */
export const cleaned = (text: string): string =>
  text
    .replace(escapes, '')
    .replace(/\r*\n\r*/g, '\n')
    .replace(/\r+$/, '')
    .replace(/\r+/g, '\n');

// How many characters of a line the echo surely has. Of longer lines a device may show only a part.
const echoed = 40;

/** Where the echo of a command begins and ends. */
export type Echo = { readonly begin: number; readonly end: number };

/** The echo of the command's lines, or of their first parts; undefined while it is missing. */
export const echoOf = (text: string, command: string): Echo | undefined => {
  let begin: number | undefined;
  let end = 0;
  for (const line of command.split('\n')) {
    const first = line.trim().slice(0, echoed);
    const at = text.indexOf(first, end);
    if (at < 0) return undefined;
    begin ??= at;
    end = at + first.length;
  }
  return { begin: begin ?? 0, end };
};
