import { RequestError } from '../engine/requestError.ts';

/** Whether something is as it must be; `error`: why that could not be found out. */
export type Verdict = { readonly result: boolean; readonly error?: string };

type Rated = Verdict & { readonly severity?: 'error' | 'warning' | 'info' | undefined };

/** What the check says; where it refuses, false and the reason. */
export const verdict = (check: () => boolean): Verdict => {
  try {
    return { result: check() };
  } catch (error) {
    if (error instanceof RequestError) return { result: false, error: error.message };
    throw error;
  }
};

const isError = ({ severity = 'error' }: Rated): boolean => severity === 'error';

/** All: no error fails. One is enough: one holds, whatever its severity, or none is an error. No rules: passed. */
export const rulesPass = (all: boolean, rules: readonly Rated[]): boolean =>
  all
    ? rules.every((rule) => rule.result || !isError(rule))
    : rules.some(({ result }) => result) || !rules.some(isError);

/** The same for commands, which are all errors. */
export const commandsPass = (all: boolean, commands: readonly Verdict[]): boolean =>
  rulesPass(
    all,
    commands.map(({ result }) => ({ result })),
  );
