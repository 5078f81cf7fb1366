/**
 * An argument or an option of a command. T is what the command gets: text, perhaps undefined, or, of a flag, a boolean.
 */
export type Parameter<T> = {
  readonly about: string;
  /** The value's name for help, as `<time>`. Of an argument the default is its key; a flag has none. */
  readonly value?: string;
  readonly required?: boolean;
  readonly preset?: T;
  /** The only texts that are taken. */
  readonly choices?: readonly string[];
  /** A sentence if the text cannot be a value. */
  readonly fault?: (text: string) => string | undefined;
};

type AnyParameter = Parameter<string> | Parameter<string | undefined> | Parameter<boolean>;
type Parameters = { readonly [key: string]: AnyParameter };
type ValuesOf<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T extends Given[string]> ? T : never;
};

/** Values by key, as the command line gave them. */
export type Given = { readonly [key: string]: string | boolean | undefined };

/** How a command ended: 0 is fine, 3 means that it found something. Errors are thrown. */
export type Status = 0 | 3;

/** A row of the table of commands. */
export type CommandRow = {
  /** One or two words: `serve`, `log copy`. */
  readonly name: string;
  readonly about: string;
  readonly args: Parameters;
  /** By key in camelCase: `dryRun` is `--dry-run`. */
  readonly options: Parameters;
  /** Sentences for `--help` and docs/cli.md. */
  readonly help: string;
  /** Imports its code when it is called. `rows` is the whole table. A method, so that rows may want other values. */
  run(values: Given, rows: readonly CommandRow[]): Promise<Status>;
};

type Declared<A extends Parameters, O extends Parameters> = {
  readonly name: string;
  readonly about: string;
  readonly args?: A;
  readonly options?: O;
  readonly help?: string;
  run(values: ValuesOf<A> & ValuesOf<O>, rows: readonly CommandRow[]): Promise<Status>;
};

const none: Parameters = {};
type NoParameters = Readonly<Record<never, never>>;

/** Makes a row. `run` gets the values of arguments and options by key, with their types. */
export const command = <A extends Parameters = NoParameters, O extends Parameters = NoParameters>({
  args,
  options,
  help = '',
  ...row
}: Declared<A, O>): CommandRow => ({ ...row, args: args ?? none, options: options ?? none, help });

export const flag = (about: string): Parameter<boolean> => ({ about, preset: false });

/** An option with a value, such as `<time>`. */
export const option = (value: string, about: string): Parameter<string | undefined> => ({ value, about });

export const optionOr = (value: string, about: string, preset: string): Parameter<string> => ({
  value,
  about,
  preset,
});

export const argument = (about: string): Parameter<string> => ({ about, required: true });

export const argumentOr = (about: string, preset: string): Parameter<string> => ({ about, preset });

/** `dryRun` as `--dry-run`. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** An argument as help shows it: `<from>`, `[payload]`. */
export const shownArg = (key: string, { value, required }: AnyParameter): string =>
  value ?? (required ? `<${key}>` : `[${key}]`);

/** The command was called wrongly in a way that its row cannot tell. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
