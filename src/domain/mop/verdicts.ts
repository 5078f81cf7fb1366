import { RequestError } from '../engine/requestError.ts';

/** The verdict of a check. `error` is the reason why the check was impossible. */
export type Verdict = { readonly result: boolean; readonly error?: string };

type Rated = Verdict & { readonly severity?: 'error' | 'warning' | 'info' | undefined };

/** The result of the check. If it throws a `RequestError`, the result is false with that reason. */
export const verdict = (check: () => boolean): Verdict => {
  try {
    return { result: check() };
  } catch (error) {
    if (error instanceof RequestError) return { result: false, error: error.message };
    throw error;
  }
};

const isError = ({ severity = 'error' }: Rated): boolean => severity === 'error';

/**
 * `all`: passed if every rule of severity `error` passes. Otherwise: passed if any rule passes, or if no rule has
 * severity `error`. Without rules: passed.
 */
export const rulesPass = (all: boolean, rules: readonly Rated[]): boolean =>
  all
    ? rules.every((rule) => rule.result || !isError(rule))
    : rules.some(({ result }) => result) || !rules.some(isError);

/** Like `rulesPass`, for commands: each counts as severity `error`. */
export const commandsPass = (all: boolean, commands: readonly Verdict[]): boolean =>
  rulesPass(
    all,
    commands.map(({ result }) => ({ result })),
  );
