import { exactText } from './exactJson.ts';
import { step } from './pointer.ts';
import { RequestError } from './requestError.ts';
import { isSealed, type Sealed } from './sealed.ts';

/** What answers show in place of a secret; in a request it stands for the secret as it is. */
export const mask = '********';

// `community` and `key` alone: there are BGP communities, sort keys and public keys.
const names = new Set(['auth', 'authorization', 'community', 'credential', 'credentials', 'key', 'snmpcommunity']);
const endings = /(?:password|passwd|passphrase|secret|token|(?:api|access|private|secret|auth|encryption)key)$/;

// The last letter of all those names: most others are told apart by it, in documents of millions of members.
const lastLetter = /[dehlnsty_-]$/i;

/**
 * Whether a member of this name is a secret, wherever it stands in an opaque document: case, `-` and `_` say nothing.
 */
const isSecretName = (name: string): boolean => {
  if (!lastLetter.test(name)) return false;
  const plain = name.toLowerCase().replace(/[-_]/g, '');
  return names.has(plain) || endings.test(plain);
};

type Json = unknown;
type Members = Readonly<Record<string, Json>>;

/** Whether the member `name` of an object is a secret. */
export type IsSecret = (name: string, members: Members) => boolean;

const isObject = (value: Json): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemaTypes: readonly Json[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const isSchema = (value: Json): boolean =>
  isObject(value) && (schemaTypes.includes(value.type) || typeof value.$ref === 'string');

/**
 * The same in documents of other programs: workflows, models of integrations. They describe members by schemas under
 * their names, and write a name as `key` beside its `value`.
 */
export const isSecretOfDocument: IsSecret = (name, members) =>
  isSecretName(name) && !isSchema(members[name]) && !(name === 'key' && Object.hasOwn(members, 'value'));

/** Secrets that one request may bring: sealing one takes about ten microseconds, in which nobody else is served. */
export const mostSecrets = 10_000;

export type Seal = (secret: string) => Sealed;
type SealAt = (secret: string, path?: string) => Sealed;

/** The same for as many secrets as one request may bring. */
export const bounded = (seal: Seal): SealAt => {
  let made = 0;
  return (secret, path = '') => {
    if (++made > mostSecrets)
      throw new RequestError('invalid', `One request may bring ${mostSecrets} secrets`, { path });
    return seal(secret);
  };
};

/**
 * The value with every secret in it sealed; `before` is the same place as it was stored. A secret that has not changed
 * (the mask, or one with an equal tag) stays the very one stored, so that `same` finds no change; with the value itself
 * as `before`, what is sealed in it stays so. Secrets that are no text are sealed as JSON. `null` removes and stays.
 * The mask where nothing was stored, and one secret more than `mostSecrets`, are `invalid`, at their path.
 */
export const sealSecrets = (value: Json, before: Json, seal: Seal, path = ''): Json =>
  sealBy(isSecretName, { value, befores: [before], seal, path, keepsEqual: true });

/**
 * The same for a document that is taken in; `befores` are what is stored in its place, the first that has a secret
 * counts.
 * Only the mask keeps one: a secret in clear is another one even if it is equal, so that nobody can try guesses.
 */
export const sealImported = (value: Json, befores: readonly Json[], seal: Seal, path = ''): Json =>
  sealBy(isSecretName, { value, befores, seal, path, keepsEqual: false });

type Sealing = {
  readonly value: Json;
  readonly befores: readonly Json[];
  readonly seal: Seal;
  readonly path: string;
  /** Whether a secret in clear that equals the one stored is taken for that one. */
  readonly keepsEqual: boolean;
};

/** Either of the two, where other members than those with the usual names are secrets. */
export const sealBy = (isSecret: IsSecret, { value, befores, seal, path, keepsEqual }: Sealing): Json =>
  someSecret(value, isSecret) ? sealWithin(value, befores, { seal: bounded(seal), isSecret, keepsEqual }, path) : value;

type How = { readonly seal: SealAt; readonly isSecret: IsSecret; readonly keepsEqual: boolean };

const member = (value: Json, name: string): Json =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const sealWithin = (value: Json, befores: readonly Json[], how: How, path: string): Json => {
  if (Array.isArray(value)) {
    const lists = befores.filter((before) => Array.isArray(before));
    return value.map((item, i) =>
      sealWithin(
        item,
        lists.map((list): Json => list[i]),
        how,
        `${path}/${i}`,
      ),
    );
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => {
      const [stored, at] = [befores.map((before) => member(before, name)), `${path}${step(name)}`];
      return [name, how.isSecret(name, value) ? sealed(given, stored, how, at) : sealWithin(given, stored, how, at)];
    }),
  );
};

const textOf = (secret: Json): string => (typeof secret === 'string' ? secret : exactText(secret));

const sealed = (secret: Json, befores: readonly Json[], { seal, keepsEqual }: How, path: string): Json => {
  const stored = befores.find((before) => before !== undefined && before !== null);
  if (secret === null || secret === undefined || (secret === stored && isSealed(stored))) return secret;
  if (secret === mask) {
    if (stored === undefined)
      throw new RequestError('invalid', `${mask} keeps a secret, but none is stored here`, { path });
    // Stored in clear, before secrets were sealed in this place.
    return isSealed(stored) ? stored : seal(textOf(stored), path);
  }
  const made = seal(textOf(secret), path);
  return keepsEqual && isSealed(stored) && stored.tag === made.tag ? stored : made;
};

/**
 * The value with every secret in it as the mask, sealed or not: for what may have been stored in clear. The very same
 * value if there is none.
 */
export const maskNamed = <V>(value: V, isSecret: IsSecret = isSecretName): V =>
  someSecret(value, isSecret) ? (maskWithin(value, isSecret) as V) : value;

const maskWithin = (value: Json, isSecret: IsSecret): Json => {
  if (Array.isArray(value)) return value.map((item) => maskWithin(item, isSecret));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => [
      name,
      isSecret(name, value) ? masked(given) : maskWithin(given, isSecret),
    ]),
  );
};

const isNone = (secret: Json): boolean => secret === null || secret === undefined;
const masked = (secret: Json): Json => (isNone(secret) ? secret : mask);

/** Whether a secret lies in the value in clear. */
export const holdsClear = (value: Json, isSecret: IsSecret = isSecretName): boolean =>
  someSecret(value, isSecret, (secret) => secret !== mask && !isSealed(secret));

/** Whether there is such a secret in the value. */
const someSecret = (value: Json, isSecret: IsSecret, such: (secret: Json) => boolean = () => true): boolean => {
  if (Array.isArray(value)) return value.some((item) => someSecret(item, isSecret, such));
  if (!isObject(value)) return false;
  for (const name in value) {
    const given = value[name];
    if (isSecret(name, value) ? !isNone(given) && such(given) : someSecret(given, isSecret, such)) return true;
  }
  return false;
};

/** The value as answers show it: every sealed secret as the mask. */
export const maskSecrets = (value: Json): Json => replaceSealed(value, () => mask);

/**
 * The faults found with a value in which secrets are masked, but for those of a secret: whether one that nobody is
 * shown fits a schema that the same person may change would tell what it is, character by character.
 */
export const faultsInTheOpen = <F extends { readonly path: string }>(
  faults: readonly F[],
  masked: Json,
): readonly F[] =>
  faults.filter(
    ({ path }) =>
      path
        .split('/')
        .slice(1)
        .reduce<Json>(
          (value, escaped) => (value as Members | undefined)?.[escaped.replaceAll('~1', '/').replaceAll('~0', '~')],
          masked,
        ) !== mask,
  );

/** The value in clear, for the ways out alone: they must neither log nor store it. */
export const openSecrets = (value: Json, unseal: (sealed: Sealed) => string): Json => replaceSealed(value, unseal);

const replaceSealed = (value: Json, by: (sealed: Sealed) => string): Json => {
  if (isSealed(value)) return by(value);
  if (Array.isArray(value)) return value.map((item) => replaceSealed(item, by));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceSealed(member, by)]));
};
