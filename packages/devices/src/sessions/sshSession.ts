import type { ClientChannel } from 'ssh2';
import type { DeviceType } from '../types/type.ts';
import { cleaned, type Echo, echoOf, joined, listenTo, pager, pagers } from './shellText.ts';
import { SshFailure } from './sshConnection.ts';

/** The output of a command. `late`: text that has come of the command before it, after what looked like a prompt. */
type Printed = { readonly output: string; readonly late: string };

/** The command line of a device, over a shell. */
export type Cli = {
  /**
   * Sends a command of one or more lines. Returns the output up to the next prompt, without the echo. With `answers`, what
   * the device asks is answered as its type says.
   */
  run(command: string, answers?: boolean): Promise<Printed>;
  /** Runs a command that reads a text up to its end (Ctrl-D). Returns the output without that text. */
  load(command: string, text: string): Promise<string>;
  /** Runs a command that shows something: whatever looks like a prompt in it, all of it is waited for. */
  read(command: string): Promise<string>;
  /** Waits until all has come of the command before, and returns what was missing. */
  settle(): Promise<string>;
  /** The prompt that was shown last. */
  prompt(): string;
  /** True if the prompt is the one of the beginning. */
  isAtStart(): boolean;
};

/** A command line that serves one call after another. */
type CommandLine = Cli & {
  /** A call begins: its output is counted anew. */
  begin(): void;
  /** Ends what waits for the device, for good. */
  stop(error: Error): void;
  /** True once it was stopped, or the shell has ended. */
  isBroken(): boolean;
};

/** How a command line is recognised, and who logs in. */
export type Recognition = {
  readonly type: DeviceType;
  /** The characters that prompts end with, instead of the prompts of the type. */
  readonly ends?: string | undefined;
  readonly username: string;
  readonly password?: string | undefined;
  readonly enablePassword?: string | undefined;
  /** The most characters of output of a call. */
  readonly most: number;
};

// In the prompts of its modes, a device may cut its name to this length.
const leastName = 16;

/** The prompts of a device. They have its name in every mode. */
const promptsOf = (type: DeviceType, ends: string | undefined) => {
  const names: string[] = [];
  // A device whose first prompt is not one of its type is read as any other.
  let form = ends === undefined ? type.prompt : undefined;
  const endings = ends ?? '#>$%';
  const isLike = (line: string): boolean => /\w/.test(line) && endings.includes(line.slice(-1));
  const nameIn = (line: string): string | undefined => {
    if (form) return form.exec(line)?.[1];
    return isLike(line) ? line.slice(0, -1) : undefined;
  };
  const isName = (name: string): boolean =>
    names.some((known) => {
      if (!form || known.length >= leastName) return name.startsWith(known.slice(0, leastName));
      return name === known || (type.viewAfter !== undefined && name.startsWith(known + type.viewAfter));
    });
  return {
    /** True if a line may be the prompt of any device. */
    isLike,
    isOne: (line: string): boolean => {
      const name = nameIn(line);
      return name !== undefined && isName(name);
    },
    /** Learns the name from the first prompt. */
    begin: (line: string): void => {
      if (nameIn(line) === undefined) form = undefined;
      names.push(nameIn(line) ?? line);
    },
    /** The device gets another name, at once or later. */
    rename: (name: string): void => {
      names.push(name);
    },
  };
};

/** The echo of a command that was sent. `place`: where it begins, and where the output begins. */
const echoIn = ({ head }: Pick<ReturnType<typeof listenTo>, 'head'>, command: string) => {
  let echo: Echo | undefined;
  return {
    isEchoed: (): boolean => {
      echo ??= echoOf(head(), command);
      return echo !== undefined && head().indexOf('\n', echo.end) >= 0;
    },
    place: (): Echo => {
      const { begin, end } = echo ?? { begin: 0, end: 0 };
      return { begin, end: head().indexOf('\n', end) + 1 };
    },
  };
};

/**
 * Finds the prompt of a shell, and returns its command line. The first prompt is the line that appears again after an
 * empty line is sent. Later prompts have the same name in every mode, and come after the echo of the command. Questions
 * of the type are answered, pages turned. Throws `SshFailure` when the shell ends or prints too much.
 */
export const cliOf = async (shell: ClientChannel, how: Recognition): Promise<CommandLine> => {
  const { type, ends, most } = how;
  const text = listenTo(shell, most);
  const prompts = promptsOf(type, ends);
  let start = '';
  let isPaged = false;
  const prompting = (): boolean => prompts.isOne(text.lastLine());
  /** Waits, turns pages, and answers what the device asks if it may. */
  const until = async (there: () => boolean, mayAnswer: () => boolean): Promise<void> => {
    while (!there()) {
      const line = text.lastLine();
      const answer = line !== '' && mayAnswer() ? answerTo(line) : undefined;
      if (answer !== undefined) text.write(answer + lineEnd);
      else if (pager.test(line)) {
        isPaged = true;
        text.write(' ');
      } else await text.more();
    }
  };
  const answerTo = (line: string): string | undefined => {
    const asksWho = start === '' ? type.login?.find(({ asks }) => asks.test(line)) : undefined;
    if (asksWho) return (asksWho.of === 'username' ? how.username : how.password) ?? '';
    return type.questions.find(({ asks }) => asks.test(line))?.answer;
  };
  const lineEnd = type.lineEnd ?? '\n';
  const send = (command: string): void => {
    isPaged = false;
    text.forget();
    text.write(command.replaceAll('\n', lineEnd) + lineEnd);
  };

  const looksLikePrompt = (): boolean => prompts.isLike(text.lastLine()) && !pager.test(text.lastLine());
  /** The line that appears again after an empty one. */
  const findPrompt = async (): Promise<void> => {
    await until(looksLikePrompt, always);
    for (let lastText = ''; text.lastLine() !== lastText; ) {
      lastText = text.lastLine();
      send('');
      await until(looksLikePrompt, always);
    }
  };

  const enable = async (command: string, password: string): Promise<void> => {
    const refused = new SshFailure('the device does not accept the enable password');
    const asksPassword = (): boolean => /password: ?$/i.test(text.lastLine());
    send(command);
    const echoed = (): boolean => text.head().includes('\n', text.head().indexOf(command) + command.length);
    await until(() => echoed() && (asksPassword() || prompting()), never);
    if (asksPassword()) {
      send(password);
      await until(() => text.head().includes('\n') && (asksPassword() || prompting()), never);
    }
    if (asksPassword() || /[>$]$/.test(text.lastLine())) throw refused;
  };

  await findPrompt();
  prompts.begin(text.lastLine());
  start = text.lastLine();
  if (how.enablePassword !== undefined && type.enable !== undefined && start.endsWith('>')) {
    await enable(type.enable, how.enablePassword);
    start = text.lastLine();
  }

  /** The lines of a text, without what was at the end of a page. */
  const linesOf = (text: string): readonly string[] =>
    (isPaged ? cleaned(text).replace(pagers, '') : cleaned(text)).split('\n');

  /** Runs a command up to what looks like its prompt. Returns where its echo begins, and where its output begins. */
  const runToPrompt = async (command: string, answers = false): Promise<Echo> => {
    const [, renamed] = type.rename?.exec(command.trim()) ?? [];
    if (renamed !== undefined) prompts.rename(renamed);
    send(command);
    const { isEchoed, place } = echoIn(text, command);
    // A prompt before the echo does not follow the command.
    await until(
      () => isEchoed() && prompting(),
      () => answers && isEchoed(),
    );
    return place();
  };

  /** Where the prompt stands that the last line repeats; -1 if it repeats none. A device may write lines above each prompt. */
  const repeated = (lines: readonly string[]): number => {
    const last = lines.at(-1)?.trim();
    for (let i = lines.length - 2; i >= 0; i--) {
      const line = lines[i]?.trim() ?? '';
      if (line === last) return i;
      if (line !== '' && !type.harmless.some((form) => form.test(line))) return -1;
    }
    return -1;
  };
  /** Sends an empty line, and waits until its prompt repeats the one before it: then nothing more comes. */
  const confirm = async (): Promise<void> => {
    text.write(lineEnd);
    await until(() => prompting() && repeated(cleaned(text.end()).split('\n')) >= 0, never);
  };
  /** The lines before the prompt that is repeated, without other repaintings of it. */
  const beforeEnd = (whole: string): readonly string[] => {
    const lines = linesOf(whole);
    const last = lines.at(-1)?.trim();
    let end = Math.max(repeated(lines), 0);
    while (end > 0 && lines[end - 1]?.trim() === last) end--;
    return lines.slice(0, end);
  };

  return {
    begin: text.begin,
    stop: text.stop,
    isBroken: text.isBroken,
    prompt: text.lastLine,
    isAtStart: () => text.lastLine() === start,
    run: async (command, answers) => {
      const { begin, end } = await runToPrompt(command, answers);
      const whole = text.whole();
      return {
        output: joined(linesOf(whole.slice(end)).slice(0, -1)),
        late: joined(linesOf(whole.slice(0, begin)).slice(0, -1)),
      };
    },
    read: async (command) => {
      const { end } = await runToPrompt(command);
      await confirm();
      return joined(beforeEnd(text.whole().slice(end)));
    },
    load: async (command, input) => {
      send(command);
      const { isEchoed, place } = echoIn(text, command);
      await until(isEchoed, never);
      text.write(`${input.replace(/\r?\n/g, lineEnd)}${lineEnd}\u0004`);
      await until(prompting, never);
      await confirm();
      const lines = new Set(['^D', ...input.split(/\r?\n/).map((line) => line.trim())]);
      const output = beforeEnd(text.whole().slice(place().end));
      return joined(output.filter((line) => !lines.has(line.trim())));
    },
    settle: async () => {
      text.forget(`${text.lastLine()}\n`);
      await confirm();
      return joined(beforeEnd(text.whole()).slice(1));
    },
  };
};

const always = (): boolean => true;
const never = (): boolean => false;
