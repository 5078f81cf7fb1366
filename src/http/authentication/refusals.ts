import { defined } from '../../domain/engine/defined.ts';
import { type Code, RequestError } from '../../domain/engine/requestError.ts';

/** No provider that was asked knows the name, and one of them did not answer. */
export class ProviderSilent extends RequestError {
  constructor(provider: string) {
    super('unavailable', `The authentication provider ${JSON.stringify(provider)} does not answer`, {
      retryAfterSeconds: 5,
    });
  }
}

type About = {
  /** Id of the account that was meant; undefined if there is none. */
  readonly account?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Further members of the answer. */
  readonly members?: Readonly<Record<string, unknown>>;
};

/** A login that was refused. The answer does not tell whether the account exists; the record of denials does. */
export class LoginRefused extends RequestError {
  readonly account: string | undefined;
  constructor(code: Code, message: string, { account, retryAfterSeconds, members }: About = {}) {
    super(code, message, defined({ retryAfterSeconds, members }));
    this.name = 'LoginRefused';
    this.account = account;
  }
}
