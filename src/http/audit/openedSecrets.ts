import { isObject, own } from '@automation-platform/json';
import { RequestError } from '../../domain/engine/requestError.ts';
import { isSealed, type Sealed } from '../../domain/engine/sealed.ts';
import { mask } from '../../domain/engine/secretFields.ts';

/**
 * The former value with its secrets in clear. Where the present value has the same secret, it is the mask, which keeps
 * it. Throws `unprocessable` for a secret that was sealed with another key.
 */
export const openedSecrets = (former: unknown, present: unknown, unseal: (sealed: Sealed) => string): unknown => {
  if (isSealed(former)) return isSealed(present) && present.tag === former.tag ? mask : unsealed(former, unseal);
  if (Array.isArray(former))
    return former.map((item, i) => openedSecrets(item, Array.isArray(present) ? present[i] : undefined, unseal));
  if (!isObject(former)) return former;
  return Object.fromEntries(
    Object.entries(former).map(([name, value]) => [
      name,
      openedSecrets(value, isObject(present) ? own(present, name) : undefined, unseal),
    ]),
  );
};

const unsealed = (sealed: Sealed, unseal: (sealed: Sealed) => string): string => {
  try {
    return unseal(sealed);
  } catch {
    throw new RequestError('unprocessable', 'A secret of that time was sealed with another key');
  }
};
