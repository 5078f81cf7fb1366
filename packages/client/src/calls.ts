import { objectIn, textOf, textOfRefusal } from './answers.ts';
import { messageIn } from './messages.ts';
import { addresses, type Operations } from './operations.ts';
import { Refused } from './refused.ts';
import { type Platform, send } from './request.ts';

/** The fault of one field of a request. */
export type CallFault = { readonly code: string; readonly message: string; readonly path?: string };

/** The platform refuses a call, or cannot answer it. */
export class CallRefused extends Refused {
  override readonly name = 'CallRefused';
  readonly errors: readonly CallFault[];
  constructor(message: string, status: number, errors: readonly CallFault[]) {
    super(message, status);
    this.errors = errors;
  }
}

/** `headers` has the `ETag` for a later `If-Match`, and `X-Event-Position`. */
export type Answer<Body> = { readonly body: Body; readonly headers: Headers };

/** The input of a call. It may be left out where nothing in it is required. */
type Given<Name extends keyof Operations> =
  Record<never, never> extends Operations[Name]['input']
    ? [input?: Operations[Name]['input']]
    : [input: Operations[Name]['input']];

type AnyInput = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly headers?: object;
  readonly body?: unknown;
};

const refused = async (answer: Response): Promise<CallRefused> => {
  const text = await textOfRefusal(answer);
  const { errors } = (objectIn(text)?.metadata ?? {}) as { readonly errors?: unknown };
  return new CallRefused(messageIn(text, answer.status), answer.status, Array.isArray(errors) ? errors : []);
};

/**
 * Calls operations of the platform by their names, with the types of its description (`/openapi.json`). Throws
 * `CallRefused` if the platform does not answer with 200.
 */
export const calls = (platform: Platform) => ({
  call: async <Name extends keyof Operations>(
    name: Name,
    ...[given]: Given<Name>
  ): Promise<Answer<Operations[Name]['answer']>> => {
    const { path = {}, query, headers, body } = (given ?? {}) as AnyInput;
    const [method = '', address = ''] = addresses[name].split(' ');
    const filled = address.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(path[parameter] ?? ''));
    const answer = await send(platform, { method, path: filled, query, headers, body });
    if (answer.status !== 200) throw await refused(answer);
    const text = await textOf(answer);
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    return { body: (isJson ? JSON.parse(text) : text) as Operations[Name]['answer'], headers: answer.headers };
  },
});
