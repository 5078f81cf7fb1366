import { exactText, exactValue, isObject, type Members, own, step, stepsOf } from '@automation-platform/json';
import { RequestError } from './requestError.ts';
import { isSealed, type Sealed } from './sealed.ts';

/** Replaces secrets in answers. In a request it keeps the stored secret. */
export const mask = '********';

// `community` and `key` count only as whole names: there are also BGP communities, sort keys and public keys.
const names = new Set(['auth', 'authorization', 'community', 'credential', 'credentials', 'key', 'snmpcommunity']);
const endings = /(?:password|passwd|passphrase|secret|token|(?:api|access|private|secret|auth|encryption)key)$/;

// The last letters of all those names. A test for speed: it excludes most members of large documents at once.
const lastLetter = /[dehlnsty_-]$/i;

/** True if a member with this name is a secret, at any depth of a document. Case, `-` and `_` do not matter. */
export const isSecretName = (name: string): boolean => {
  if (!lastLetter.test(name)) return false;
  const plain = name.toLowerCase().replace(/[-_]/g, '');
  return names.has(plain) || endings.test(plain);
};

type Json = unknown;

/** True if the member `name` of an object is a secret. */
export type IsSecret = (name: string, members: Members) => boolean;

const schemaTypes: readonly Json[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const unions = ['anyOf', 'oneOf', 'allOf', 'enum'];
const isSchema = (value: Members): boolean => {
  const types = Array.isArray(value.type) ? value.type : [value.type];
  if (types.length > 0 && types.every((type) => schemaTypes.includes(type))) return true;
  return typeof value.$ref === 'string' || unions.some((name) => Array.isArray(value[name]));
};

/** True if the object says where a task of a workflow takes a value from. A static value stands in the object itself. */
const isSource = ({ task, value, variable }: Members): boolean =>
  typeof task === 'string' && task !== 'static' && (typeof value === 'string' || typeof variable === 'string');

/** True if the value of a secret's name is none, since it names or describes a value. An empty one holds nothing. */
const isDescription = (value: Json): boolean => {
  if (typeof value === 'string') return /^\$var\.[^.]+\../.test(value);
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && (Object.keys(value).length === 0 || isSchema(value) || isSource(value));
};

/** The members beside which `key` is a plain name: an entry of a list, and what a designer's search has found. */
const besideKey = ['value', 'highlightString'];

/**
 * `isSecretName` for documents of other programs, such as workflows and models of integrations. There, a reference such
 * as `$var.job.password` and a schema under a secret's name are no secrets, and `key` may be a plain name.
 */
export const isSecretOfDocument: IsSecret = (name, members) =>
  isSecretName(name) &&
  !isDescription(members[name]) &&
  !(name === 'key' && besideKey.some((other) => Object.hasOwn(members, other)));

/** How many secrets one request may bring. To seal one takes about ten microseconds of the event loop. */
export const mostSecrets = 10_000;

export type Seal = (secret: string) => Sealed;
type SealAt = (secret: string, path?: string) => Sealed;

/** The same function, limited to the number of secrets that one request may bring. */
export const bounded = (seal: Seal): SealAt => {
  let sealedCount = 0;
  return (secret, path = '') => {
    if (++sealedCount > mostSecrets)
      throw new RequestError('invalid', `One request may bring ${mostSecrets} secrets`, { path });
    return seal(secret);
  };
};

/**
 * Seals every secret in the value. `before` is the stored value in the same place.
 * - A secret that has not changed keeps its stored form, so that `same` finds no change. Such a secret is the mask, or
 *   has an equal tag.
 * - With the value itself as `before`, its sealed secrets stay sealed as they are.
 * - A secret that is no text is sealed as JSON text. `null` and an empty text remove the secret and stay as they are.
 * - A mask where nothing is stored is `invalid`, and so is more than `mostSecrets` secrets. The error has the path.
 */
export const sealSecrets = (value: Json, before: Json, seal: Seal, path = ''): Json =>
  sealBy(isSecretName, { value, befores: [before], seal, path, keepsEqual: true });

/**
 * Like `sealSecrets`, for an imported document. `befores` are the stored values in its place; the first with a secret
 * counts. Only the mask keeps a stored secret. A secret in clear is always sealed anew, even if it is equal: else an
 * import would tell whether a guess is right. A mask where nothing is stored stays: `missingSecrets` finds it.
 */
export const sealImported = (value: Json, befores: readonly Json[], seal: Seal, path = ''): Json =>
  sealBy(isSecretName, { value, befores, seal, path, keepsEqual: false, keepsMask: true });

type Sealing = {
  readonly value: Json;
  readonly befores: readonly Json[];
  readonly seal: Seal;
  readonly path: string;
  /** True if a secret in clear that equals the stored one keeps the stored form. */
  readonly keepsEqual: boolean;
  /** True if a mask stays where nothing is stored. */
  readonly keepsMask?: boolean;
};

/** Like `sealSecrets` or `sealImported`, with another rule for which members are secrets. */
export const sealBy = (isSecret: IsSecret, sealing: Sealing): Json => {
  const { value, befores, seal, path, keepsEqual, keepsMask = false } = sealing;
  if (!someSecret(value, isSecret)) return value;
  return sealWithin(value, befores, { seal: bounded(seal), isSecret, keepsEqual, keepsMask }, path);
};

type How = {
  readonly seal: SealAt;
  readonly isSecret: IsSecret;
  readonly keepsEqual: boolean;
  readonly keepsMask: boolean;
};

const member = (value: Json, name: string): Json => (isObject(value) ? own(value, name) : undefined);

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

const sealed = (secret: Json, befores: readonly Json[], { seal, keepsEqual, keepsMask }: How, path: string): Json => {
  const found = befores.filter((before) => !isNone(before));
  // An import may have left a mask there. It counts only where there is nothing else.
  const stored = found.find((before) => before !== mask) ?? found[0];
  if (isNone(secret) || (secret === stored && isSealed(stored))) return secret;
  if (secret === mask) {
    if (stored === mask || (stored === undefined && keepsMask)) return mask;
    if (stored === undefined)
      throw new RequestError('invalid', `${mask} keeps a secret, but there is none to keep here: give it`, {
        path,
      });
    // An earlier version stored this secret in clear.
    return isSealed(stored) ? stored : seal(textOf(stored), path);
  }
  const sealedSecret = seal(textOf(secret), path);
  return keepsEqual && isSealed(stored) && stored.tag === sealedSecret.tag ? stored : sealedSecret;
};

/**
 * Replaces every secret by the mask, sealed or not, for values that may hold secrets in clear. Returns the same value
 * if it holds no secret.
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

/** An empty text is no secret. */
const isNone = (secret: Json): boolean => secret === null || secret === undefined || secret === '';
const masked = (secret: Json): Json => (isNone(secret) ? secret : mask);

/** True if the value holds a secret in clear. */
export const holdsClear = (value: Json, isSecret: IsSecret = isSecretName): boolean =>
  someSecret(value, isSecret, (secret) => secret !== mask && !isSealed(secret));

/** True if the value holds a secret of which `such` is true. */
const someSecret = (value: Json, isSecret: IsSecret, such: (secret: Json) => boolean = () => true): boolean => {
  if (Array.isArray(value)) return value.some((item) => someSecret(item, isSecret, such));
  if (!isObject(value)) return false;
  for (const name in value) {
    const memberValue = value[name];
    if (isSecret(name, value) ? !isNone(memberValue) && such(memberValue) : someSecret(memberValue, isSecret, such))
      return true;
  }
  return false;
};

/**
 * The document with what earlier versions sealed and `isSecretOfDocument` does not count, in clear. Returns the same
 * document if it has no such member. Values that were sealed with another key stay sealed.
 */
export const withDescriptions = (value: Json, unseal: (sealed: Sealed) => string): Json => {
  if (Array.isArray(value)) {
    const items = value.map((item) => withDescriptions(item, unseal));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (!isObject(value) || isSealed(value)) return value;
  const changed: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const now = isSealed(member) ? descriptionIn(member, name, value, unseal) : withDescriptions(member, unseal);
    if (now !== member) changed.push([name, now]);
  }
  return changed.length > 0 ? { ...value, ...Object.fromEntries(changed) } : value;
};

/** The value that was sealed, if it is no secret under this name; else the sealed secret. */
const descriptionIn = (sealed: Sealed, name: string, members: Members, unseal: (sealed: Sealed) => string): Json => {
  let value: Json;
  try {
    const text = unseal(sealed);
    value = /^[[{]/.test(text) ? jsonIn(text) : text;
  } catch {
    return sealed;
  }
  return isSecretOfDocument(name, { ...members, [name]: value }) ? sealed : value;
};

/** The JSON value of a text, with the marks of packages/json. Throws if the text is no JSON. */
const jsonIn = (text: string): Json => {
  JSON.parse(text);
  return exactValue(text);
};

/** Replaces every sealed secret by the mask, for answers. */
export const maskSecrets = (value: Json): Json => replaceSealed(value, () => mask);

/**
 * Removes the faults that concern masked secrets. Otherwise a caller who may change the schema could guess a hidden
 * secret character by character.
 */
export const faultsInTheOpen = <F extends { readonly path: string }>(
  faults: readonly F[],
  masked: Json,
): readonly F[] =>
  faults.filter(
    ({ path }) => stepsOf(path).reduce<Json>((value, name) => (value as Members | undefined)?.[name], masked) !== mask,
  );

/**
 * Replaces every sealed secret by its text. Only for calls to the outside, which must neither log nor store the value.
 * Throws `unprocessable` where an import has left a mask in the place of a secret.
 */
export const openSecrets = (value: Json, unseal: (sealed: Sealed) => string): Json => {
  const missing = maskAt(value);
  if (missing !== undefined)
    throw new RequestError(
      'unprocessable',
      `The secret at ${missing} is missing: only its mask is stored. Set it again`,
    );
  return clearSecrets(value, unseal);
};

/** Replaces every sealed secret by its text. A mask that an import has left stays as it is. */
export const clearSecrets = (value: Json, unseal: (sealed: Sealed) => string): Json => replaceSealed(value, unseal);

/**
 * Opens the secrets that their names seal again wherever the value is stored. A secret under another name becomes the mask.
 * Throws as `openSecrets` does.
 */
export const openNamed = <V>(value: V, unseal: (sealed: Sealed) => string): V =>
  openSecrets(maskOthers(value), unseal) as V;

const maskOthers = (value: Json): Json => {
  if (isSealed(value)) return mask;
  if (Array.isArray(value)) return value.map(maskOthers);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [
      name,
      isSealed(inside) && isSecretName(name) ? inside : maskOthers(inside),
    ]),
  );
};

/** The place of the first secret that is only a mask, as a JSON pointer; undefined if there is none. */
const maskAt = (value: Json): string | undefined => {
  if (isSealed(value) || typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (member === mask && !Array.isArray(value) && isSecretName(name)) return step(name);
    const inside = maskAt(member);
    if (inside !== undefined) return step(name) + inside;
  }
  return undefined;
};

const replaceSealed = (value: Json, by: (sealed: Sealed) => string): Json => {
  if (isSealed(value)) return by(value);
  if (Array.isArray(value)) return value.map((item) => replaceSealed(item, by));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceSealed(member, by)]));
};
