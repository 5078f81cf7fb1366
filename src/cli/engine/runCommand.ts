import { nearestName } from '@automation-platform/json';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type CommandRow, flagOf, type Given, type Status, shownArg, UsageError } from './command.ts';

/** The texts of the program about itself. `footer` ends the help of the program and of `serve`. */
type About = { readonly version: string; readonly description: string; readonly footer: string };

const calledWrongly = 2;

/** A reader for commander. It throws the fault that the row names, and takes one value only. */
const checked = (fault: (text: string) => string | undefined = () => undefined) => {
  let isGiven = false;
  return (text: string): string => {
    const message = isGiven ? 'It is given more than once.' : fault(text);
    if (message !== undefined) throw new InvalidArgumentError(message);
    isGiven = true;
    return text;
  };
};

const addArguments = (command: Command, { args }: CommandRow): void => {
  for (const [key, parameter] of Object.entries(args)) {
    const { about, preset, choices, fault } = parameter;
    const argument = new Argument(shownArg(key, parameter), about);
    if (preset !== undefined) argument.default(preset);
    argument.argParser(checked(fault));
    if (choices) argument.choices(choices);
    command.addArgument(argument);
  }
};

const addOptions = (command: Command, { options }: CommandRow): void => {
  for (const [key, { about, value, preset, choices, fault }] of Object.entries(options)) {
    const option = new Option(value === undefined ? flagOf(key) : `${flagOf(key)} ${value}`, about);
    // Help need not say that a flag is not set by default.
    if (value !== undefined && preset !== undefined) option.default(preset);
    if (value !== undefined) option.argParser(checked(fault));
    if (choices) option.choices(choices);
    command.addOption(option);
  }
};

/** The values that commander has read. */
const givenTo = (command: Command, { args, options }: CommandRow): Given => {
  const values: Record<string, Given[string]> = {};
  for (const [n, key] of Object.keys(args).entries()) values[key] = command.processedArgs[n];
  for (const [key, { preset }] of Object.entries(options)) values[key] = command.opts()[key] ?? preset;
  return values;
};

/** The command that holds the commands of a group, such as `log`. */
const groupIn = (program: Command, name: string, rows: readonly CommandRow[]): Command => {
  const there = program.commands.find((command) => command.name() === name);
  if (there) return there;
  const members = rows.flatMap((row) => (row.name.startsWith(`${name} `) ? [row.name.slice(name.length + 1)] : []));
  return program
    .command(name)
    .description(`commands: ${members.join(', ')}`)
    .helpCommand(false);
};

/** The program of commander that the table describes. `ended` is told how the command ended. */
const programOf = (rows: readonly CommandRow[], about: About, ended: (status: Status) => void): Command => {
  const program = new Command('automation-platform')
    .description(about.description)
    .version(about.version)
    .helpCommand(false)
    .exitOverride()
    .addHelpText('after', about.footer);
  for (const row of rows) {
    const [first = '', second] = row.name.split(' ');
    const parent = second === undefined ? program : groupIn(program, first, rows);
    const command = parent.command(second ?? first).description(row.about);
    addArguments(command, row);
    addOptions(command, row);
    if (row.help !== '') command.addHelpText('after', `\n${row.help}`);
    if (row.name === 'serve') command.addHelpText('after', about.footer);
    command.action(async () => ended(await row.run(givenTo(command, row), rows)));
  }
  return program;
};

/** Refuses words that name no command. Commander would rather show the help of the program. */
const checkWords = (program: Command, words: readonly string[]): void => {
  let at = program;
  for (const word of words) {
    if (word.startsWith('-') || at.commands.length === 0) return;
    const names = at.commands.map((command) => command.name());
    const next = at.commands.find((command) => command.name() === word);
    if (!next) {
      const near = nearestName(word, names);
      const hint = near === undefined ? `Commands are ${names.join(', ')}` : `Did you mean ${near}?`;
      throw new UsageError(`unknown command '${word}'\n(${hint})`);
    }
    at = next;
  }
};

/** `help log copy` is `log copy --help`. Nothing is `serve`. */
const plainWords = (words: readonly string[]): readonly string[] => {
  if (words.length === 0) return ['serve'];
  return words[0] === 'help' ? [...words.slice(1), '--help'] : words;
};

/**
 * Runs the command that the words name. Returns the exit status: 0, 3 if the command found something, 2 if it was called
 * wrongly. Other errors are thrown.
 */
export const runCommand = async (
  rows: readonly CommandRow[],
  about: About,
  words: readonly string[],
): Promise<number> => {
  let status: Status = 0;
  const program = programOf(rows, about, (ended) => {
    status = ended;
  });
  const plain = plainWords(words);
  try {
    checkWords(program, plain);
    await program.parseAsync(plain, { from: 'user' });
    return status;
  } catch (error) {
    // Commander has printed its message. Its errors with 0 are help and version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : calledWrongly;
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return calledWrongly;
  }
};
