import { exactEntries, inOrder, isObject, type Members, step } from '@automation-platform/json';
import { isSealed } from './sealed.ts';
import { bounded, isSecretOfDocument, mask, type Seal } from './secretFields.ts';

/*
 * Secrets in imported documents, at places that the service does not know. A text that is not empty is a secret if its
 * member has a secret's name. Schemas and layouts describe data: a field of theirs named `password` is no password.
 */

/** The members that describe data. They hold no secrets. */
const descriptions = new Set(['schema', 'uiSchema', 'bindingSchema', 'validationSchema', 'struct', 'children']);

const isSecret = (name: string, members: Members): boolean =>
  typeof members[name] === 'string' && members[name] !== '' && isSecretOfDocument(name, members);

const isOpen = (name: string): boolean => !descriptions.has(name);

/**
 * The document with every secret sealed. The mask keeps the secret that one of `befores` has in the same place; the
 * first one counts. A mask stays where nothing is stored: `missingSecrets` finds it.
 */
export const sealDocument = <Document>(document: Document, befores: readonly unknown[], seal: Seal): Document =>
  sealed(document, befores, bounded(seal), '') as Document;

type SealAt = ReturnType<typeof bounded>;

const inside = (befores: readonly unknown[], name: string | number): readonly unknown[] =>
  befores.flatMap((before) =>
    typeof before === 'object' && before !== null && Object.hasOwn(before, name)
      ? [(before as Readonly<Record<string | number, unknown>>)[name]]
      : [],
  );

const sealed = (value: unknown, befores: readonly unknown[], seal: SealAt, path: string): unknown => {
  if (Array.isArray(value)) return value.map((item, i) => sealed(item, inside(befores, i), seal, path + step(i)));
  if (!isObject(value) || isSealed(value)) return value;
  return inOrder(
    exactEntries(value).map(([name, member]) => {
      const at = path + step(name);
      const stored = inside(befores, name);
      if (!isSecret(name, value)) return [name, isOpen(name) ? sealed(member, stored, seal, at) : member];
      return [name, member === mask ? (stored.find(isSealed) ?? mask) : seal(String(member), at)];
    }),
  );
};

/** The places of the secrets that are masked and not stored, as JSON pointers. */
export const missingSecrets = (document: unknown, path = ''): readonly string[] => {
  if (Array.isArray(document)) return document.flatMap((item, i) => missingSecrets(item, path + step(i)));
  if (!isObject(document) || isSealed(document)) return [];
  return Object.entries(document).flatMap(([name, member]) => {
    const at = path + step(name);
    if (isSecret(name, document)) return member === mask ? [at] : [];
    return isOpen(name) ? missingSecrets(member, at) : [];
  });
};

/** The document with every secret masked, sealed or in clear. Returns the same document if it has none. */
export const maskDocument = (document: unknown): unknown =>
  hasSecret(document, () => true) ? masked(document) : document;

const masked = (document: unknown): unknown => {
  if (isSealed(document)) return mask;
  if (Array.isArray(document)) return document.map(masked);
  if (!isObject(document)) return document;
  return Object.fromEntries(
    Object.entries(document).map(([name, member]) => {
      if (isSecret(name, document)) return [name, mask];
      return [name, isOpen(name) ? masked(member) : member];
    }),
  );
};

/** True if the document has a secret in clear. */
export const hasClearSecret = (document: unknown): boolean =>
  hasSecret(document, (secret) => secret !== mask && !isSealed(secret));

/** True if the document has a secret of which `such` is true. */
const hasSecret = (document: unknown, such: (secret: unknown) => boolean): boolean => {
  if (typeof document !== 'object' || document === null) return false;
  if (Array.isArray(document)) return document.some((item) => hasSecret(item, such));
  if (isSealed(document)) return such(document);
  for (const name in document) {
    const member = (document as Members)[name];
    if (isSecret(name, document as Members) ? such(member) : isOpen(name) && hasSecret(member, such)) return true;
  }
  return false;
};
