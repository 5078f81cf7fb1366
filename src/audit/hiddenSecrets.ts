import { isObject } from '@automation-platform/json';
import { isSealed, type Sealed } from '../domain/engine/sealed.ts';
import { isSecretOfDocument, mask, maskNamed, maskSecrets } from '../domain/engine/secretFields.ts';

// Earlier versions stored secrets of these in clear.
const inClear = new Set(['plan', 'prebuilt', 'template', 'tree']);

/** Data of an event, or a document, with its secrets masked. `kind` is the category of the stream. */
export const masked = (kind: string, value: unknown): unknown => {
  const hidden = maskSecrets(value);
  return inClear.has(kind) ? maskNamed(hidden, isSecretOfDocument) : hidden;
};

const begin = '\u0000secret ';

/**
 * Data of an event with a text in the place of each secret. Two texts are the same if the secrets are. Documents are
 * made of such data to see which secrets have changed: documents themselves may hold only masks.
 */
export const withTokens = (kind: string, value: unknown): unknown => {
  const inside = (value: unknown): unknown => {
    if (isSealed(value)) return tokenOf(value);
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        typeof member === 'string' && member !== '' && inClear.has(kind) && isSecretOfDocument(name, value)
          ? begin + member
          : inside(member),
      ]),
    );
  };
  return inside(value);
};

const tokenOf = ({ tag }: Sealed): string => begin + tag;

/** The value with masks in the place of those texts. */
export const withoutTokens = (value: unknown): unknown => {
  if (typeof value === 'string') return value.startsWith(begin) ? mask : value;
  if (Array.isArray(value)) return value.map(withoutTokens);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutTokens(member)]));
};
