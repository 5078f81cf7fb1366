import type { ClientChannel } from 'ssh2';
import { SshFailure } from './sshConnection.ts';

/** The command line of a device, over a shell. */
export type Cli = {
  /** Sends a command of one or more lines. Returns the output up to the next prompt, without the echo. */
  run(command: string): Promise<string>;
  /** The prompt that was shown last. */
  prompt(): string;
};

// Matches escape sequences of terminals, and the characters NUL, BEL and backspace.
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|[\u0000\u0007\u0008]/g;
// In the prompts of its modes, a device may cut its name to this length.
const leastName = 16;
// Output comes in pieces of any size. These limits keep the text short that is searched for each piece.
const longestPrompt = 1000;
const echoedWithin = 32_768;

/**
 * Finds the prompt of a shell, and returns its command line. The first prompt is the line that appears again after an
 * empty line is sent. Later prompts begin with the same name in every mode, and come after the echo of the command.
 * `ends` are the characters that prompts may end with. Throws `SshFailure` beyond `maxBytes`.
 */
export const cliOf = async (shell: ClientChannel, ends: string, maxBytes: number): Promise<Cli> => {
  let parts: string[] = [];
  let head = '';
  let tail = '';
  let size = 0;
  let wake = (): void => undefined;
  let fault: Error | undefined;
  const names: string[] = [];

  const stop = (error: Error) => {
    fault ??= error;
    wake();
  };
  shell.setEncoding('utf8');
  shell.on('data', (chunk: string) => {
    size += chunk.length;
    if (size > maxBytes) {
      stop(new SshFailure('there is too much output'));
      return;
    }
    parts.push(chunk);
    if (head.length < echoedWithin) head += chunk;
    tail = chunk.includes('\n') ? chunk.slice(chunk.lastIndexOf('\n') + 1) : tail + chunk;
    if (tail.length > longestPrompt) tail = tail.slice(-longestPrompt);
    wake();
  });
  shell.on('close', () => stop(new SshFailure('the session broke off')));
  shell.on('error', () => stop(new SshFailure('the session broke off')));

  /** The last line, which has no line end yet. */
  const lastLine = (): string => cleaned(tail).trim();
  const prompting = (): boolean => {
    const line = lastLine();
    return /\w/.test(line) && ends.includes(line.slice(-1));
  };

  const until = async (there: () => boolean): Promise<void> => {
    while (!there()) {
      if (fault) throw fault;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const send = (command: string): void => {
    parts = [];
    head = '';
    tail = '';
    shell.write(`${command}\n`);
  };

  await until(prompting);
  for (let seen = ''; lastLine() !== seen; ) {
    seen = lastLine();
    send('');
    await until(prompting);
  }
  names.push(lastLine().slice(0, -1).slice(0, leastName));

  return {
    prompt: lastLine,
    run: async (command) => {
      const [, renamed] = /^\s*hostname (\S+)/.exec(command) ?? [];
      if (renamed !== undefined) names.push(renamed.slice(0, leastName));
      send(command);
      // A prompt before the echo does not follow the command.
      let echo = -1;
      await until(() => {
        if (echo < 0) echo = echoEnd(head, command);
        if (echo < 0 || head.indexOf('\n', echo) < 0) return false;
        return prompting() && names.some((name) => lastLine().startsWith(name));
      });
      return cleaned(parts.join('').slice(head.indexOf('\n', echo) + 1))
        .split('\n')
        .slice(0, -1)
        .join('\n');
    },
  };
};

const cleaned = (text: string): string => text.replace(escapes, '').replace(/\r/g, '');

// How many characters of a line the echo surely has. Of longer lines a device may show only a part.
const echoed = 40;

/** The index after the echo of the command's last line, or of its first part. -1 while the echo is missing. */
const echoEnd = (text: string, command: string): number => {
  let at = 0;
  for (const line of command.split('\n')) {
    const begin = line.trim().slice(0, echoed);
    at = text.indexOf(begin, at);
    if (at < 0) return -1;
    at += begin.length;
  }
  return at;
};
