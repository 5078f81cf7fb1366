import { type Code, RequestError } from '../../domain/engine/requestError.ts';

type About = {
  /** Id of the account that was meant; undefined if there is none. */
  readonly account: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
};

/** A login that was refused. The answer does not tell whether the account exists; the record of denials does. */
export class LoginRefused extends RequestError {
  readonly account: string | undefined;
  constructor(code: Code, message: string, { account, retryAfterSeconds }: About) {
    super(code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.name = 'LoginRefused';
    this.account = account;
  }
}
