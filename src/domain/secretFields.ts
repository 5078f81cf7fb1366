import { step } from './pointer.ts';
import { Refusal } from './refusal.ts';
import { isSealed, type Sealed } from './sealed.ts';

/** What answers show in place of a secret; in a request it stands for the secret as it is. */
export const mask = '********';

// `community` and `key` alone: there are BGP communities, sort keys and public keys.
const names = new Set(['auth', 'authorization', 'community', 'credential', 'credentials', 'key', 'snmpcommunity']);
const endings = /(?:password|passwd|passphrase|secret|token|(?:api|access|private|secret|auth|encryption)key)$/;

/** Whether a member of this name is a secret, wherever it stands in an opaque document: case, `-` and `_` say nothing. */
const isSecretName = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/[-_]/g, '');
  return names.has(plain) || endings.test(plain);
};

type Json = unknown;
type Members = Readonly<Record<string, Json>>;

const isObject = (value: Json): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Secrets that one request may bring: sealing one takes about ten microseconds, in which nobody else is served. */
export const mostSecrets = 10_000;

/**
 * The value with every secret in it sealed; `before` is the same place as it was stored. A secret that has not changed
 * (the mask, or one with an equal tag) stays the very one stored, so that `same` finds no change; with the value itself
 * as `before`, what is sealed in it stays so. Secrets that are no text are sealed as JSON. `null` removes and stays. The
 * mask where nothing was stored, and one secret more than `mostSecrets`, are `invalid`, at their path.
 */
export const sealSecrets = (
  value: Json, before: Json, seal: (secret: string) => Sealed, path = '', isSecret: (name: string) => boolean = isSecretName,
): Json => {
  let made = 0;
  return sealWithin(value, before, (secret, at) => {
    if (++made > mostSecrets) throw new Refusal('invalid', `One request may bring ${mostSecrets} secrets`, { path: at });
    return seal(secret);
  }, path, isSecret);
};

type Seal = (secret: string, path: string) => Sealed;

const sealWithin = (value: Json, before: Json, seal: Seal, path: string, isSecret: (name: string) => boolean): Json => {
  if (Array.isArray(value)) return value.map((item, i) => sealWithin(item, Array.isArray(before) ? before[i] : undefined, seal, `${path}/${i}`, isSecret));
  if (!isObject(value)) return value;
  const old: Members = isObject(before) ? before : {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => {
    const [stored, at] = [Object.hasOwn(old, name) ? old[name] : undefined, `${path}${step(name)}`];
    return [name, isSecret(name) ? sealed(member, stored, seal, at) : sealWithin(member, stored, seal, at, isSecret)];
  }));
};

const sealed = (secret: Json, stored: Json, seal: Seal, path: string): Json => {
  if (secret === null || secret === undefined || (secret === stored && isSealed(stored))) return secret;
  if (secret === mask) {
    if (isSealed(stored)) return stored;
    throw new Refusal('invalid', `${mask} keeps a secret, but none is stored here`, { path });
  }
  const made = seal(typeof secret === 'string' ? secret : JSON.stringify(secret), path);
  return isSealed(stored) && stored.tag === made.tag ? stored : made;
};

/** The value as answers show it: every sealed secret as the mask. */
export const maskSecrets = (value: Json): Json => replaceSealed(value, () => mask);

/**
 * The faults found with a value in which secrets are masked, but for those of a secret: whether one that nobody is shown
 * fits a schema that the same person may change would tell what it is, character by character.
 */
export const faultsInTheOpen = <F extends { readonly path: string }>(faults: readonly F[], masked: Json): readonly F[] =>
  faults.filter(({ path }) => path.split('/').slice(1).reduce<Json>((value, escaped) => (value as Members | undefined)?.[escaped.replaceAll('~1', '/').replaceAll('~0', '~')], masked) !== mask);

/** The value in clear, for the ways out alone: they must neither log nor store it. */
export const openSecrets = (value: Json, unseal: (sealed: Sealed) => string): Json => replaceSealed(value, unseal);

const replaceSealed = (value: Json, by: (sealed: Sealed) => string): Json => {
  if (isSealed(value)) return by(value);
  if (Array.isArray(value)) return value.map((item) => replaceSealed(item, by));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceSealed(member, by)]));
};
