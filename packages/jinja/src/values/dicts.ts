import { exactEntries, exactNumber } from '@automation-platform/json';
import { typeError } from '../errors.ts';
import { type Dict, typeName, type Value } from './values.ts';

const textKey = (text: string): string => (text.startsWith('\0') ? `\0s${text}` : text);

/**
 * A key for JavaScript's Map. It is the same for keys that are equal in Python, such as 1, 1.0 and True. Throws for
 * values that Python cannot hash.
 */
export const keyOf = (key: Value): unknown => {
  switch (typeof key) {
    case 'string':
      return textKey(key);
    case 'boolean':
      return BigInt(key);
    case 'number':
      return Number.isInteger(key) ? BigInt(key) : key;
    case 'bigint':
      return key;
  }
  if (key === null) return key;
  if (Array.isArray(key) || key.kind === 'dict') throw typeError(`unhashable type: '${typeName(key)}'`);
  switch (key.kind) {
    case 'markup':
      return textKey(key.text);
    case 'undefined':
      return '\0u';
    case 'tuple':
      return `\0t${key.items
        .map((item) => {
          const part = keyOf(item);
          if (typeof part === 'object' && part !== null) throw typeError(`unhashable type: '${typeName(item)}'`);
          return `${typeof part}${String(part).length}:${String(part)}`;
        })
        .join(',')}`;
    default:
      return key;
  }
};

export const newDict = (pairs: Iterable<readonly [Value, Value]> = []): Dict => {
  const dict: Dict = { kind: 'dict', entries: new Map() };
  for (const [key, value] of pairs) setKey(dict, key, value);
  return dict;
};

export const getKey = (dict: Dict, key: Value): Value | undefined => dict.entries.get(keyOf(key))?.[1];

/** Sets the value of a key. If the dict has an equal key, that key stays. */
export const setKey = ({ entries }: Dict, key: Value, value: Value): void => {
  const hashed = keyOf(key);
  entries.set(hashed, [entries.get(hashed)?.[0] ?? key, value]);
};

/** Removes a key. Returns its value, or undefined if the dict had no such key. */
export const deleteKey = ({ entries }: Dict, key: Value): Value | undefined => {
  const hashed = keyOf(key);
  const found = entries.get(hashed);
  entries.delete(hashed);
  return found?.[1];
};

/** An integer that JavaScript prints without an exponent becomes an int. Other numbers become floats. */
const fromNumber = (value: number): Value =>
  Number.isInteger(value) && Math.abs(value) < 1e21 && !Object.is(value, -0) ? BigInt(value) : value;

/** Converts a value of JSON, which may have marks (exactValue), to a value of Python. */
export const fromJson = (value: unknown): Value => {
  const written = exactNumber(value);
  if (written !== undefined) return /^-?\d+$/.test(written) ? BigInt(written) : Number(written);
  if (typeof value === 'number') return fromNumber(value);
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value === 'object' && value !== null)
    return newDict(
      exactEntries(value as Readonly<Record<string, unknown>>).map(([key, member]) => [key, fromJson(member)]),
    );
  return value === undefined ? null : (value as string | boolean | null | bigint);
};
