import { type Members, own } from '@automation-platform/json';
import { isReference, referenceIn } from '../domain/configuration-manager/credentialReferences.ts';
import { defined } from '../domain/engine/defined.ts';
import { RequestError } from '../domain/engine/requestError.ts';

/** Finds the members of a credential; undefined if nobody has it, or the caller does not see it. */
type FindCredential = (name: string) => Promise<Members | undefined>;

const missing = (what: string): RequestError =>
  new RequestError('conflict', `The device is reached with ${what}, which is not there`);

/**
 * The properties by which a device is reached, with the members of the credentials that they name. A login of their own goes
 * before that of the credential. Throws `conflict` where a credential is not there.
 */
export const withCredentials = async (properties: Members, find: FindCredential): Promise<Members> => {
  const open: Record<string, unknown> = { ...properties };
  for (const [member, value] of Object.entries(properties)) {
    if (!isReference(value)) continue;
    const { name, member: source } = referenceIn(value);
    const found = source && own((await find(name)) ?? {}, source);
    if (found === undefined) throw missing(value);
    open[member] = found;
  }
  const { credential } = open;
  if (typeof credential !== 'string') return open;
  const found = await find(credential);
  if (!found) throw missing(`the credential ${JSON.stringify(credential)}`);
  const { username, password, privateKey, passphrase, enablePassword } = found;
  const hasLogin = ['password', 'privateKey', 'auth', 'token'].some((member) => open[member] !== undefined);
  const login = hasLogin ? {} : defined({ password, privateKey, passphrase });
  return { ...defined({ username, enablePassword }), ...login, ...open };
};
