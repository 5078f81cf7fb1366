import type { Tools } from '../../../commands/engine/define.ts';
import type { Sealed } from '../../../domain/engine/sealed.ts';
import { openSecrets } from '../../../domain/engine/secretFields.ts';
import { redactedIn } from '../../../southbound/failure.ts';
import type { RestCaller } from '../../../southbound/restCall.ts';
import { type OperationFor, RunEnded } from './run.ts';

type Needs = { readonly tools: Pick<Tools, 'unseal'>; readonly rest: RestCaller };
type RestCall = OperationFor<'WorkFlowEngine.restCall'>;
type Inputs = Parameters<RestCall>[0]['inputs'];

/** Calls a REST service, once. Secrets are sent in clear, and show as ******** where the answer repeats them. */
export const restRun =
  ({ tools, rest }: Needs): RestCall =>
  async ({ inputs, key, started, signal, step, acts }) => {
    const secrets: string[] = [];
    const open = (sealed: Sealed): string => {
      const secret = tools.unseal(sealed);
      secrets.push(secret);
      return secret;
    };
    const { uri, verb, headers = {}, body, user = '', password = '' } = openSecrets(inputs, open) as Inputs;
    const basic = user === '' && password === '' ? undefined : Buffer.from(`${user}:${password}`).toString('base64');
    if (basic !== undefined) secrets.push(basic);
    const authorization = basic === undefined ? {} : { Authorization: `Basic ${basic}` };
    const call = rest({
      uri,
      verb,
      headers: { ...authorization, ...headers, 'Idempotency-Key': key },
      body,
      traceparent: started.metadata.traceparent,
    });
    await step();
    acts();
    const response = redactedIn(await call(signal), secrets);
    const { status } = response as { readonly status: number };
    if (status >= 400) throw new RunEnded(`The answer has status ${status}`, { response });
    return { response };
  };
