import {
  exactEntries,
  exactNumber,
  inOrder,
  isObject,
  type Members,
  plainValue,
  step,
} from '@automation-platform/json';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { isMembers } from './exactMembers.ts';
import { RequestError } from './requestError.ts';

/*
 * A document that a person types is checked by a strict schema: an unknown member is an error. A document of another
 * installation is checked by the lenient form of the same schema: the known members must fit, the unknown ones are kept
 * (docs/behaviour/imports-and-exports.md).
 */

/**
 * Marks the schema of a member that only this service has, or that other programs use in other ways. An imported
 * document may have any value there; one that does not fit counts as unknown.
 */
export const ifItFits = Symbol('ifItFits');

/** Marks the schema of a member that stays as it was written, with the marks of packages/json. */
export const asWritten = Symbol('asWritten');

/** A schema as plain JSON Schema. The functions here look only at these keywords. */
type Keywords = {
  readonly properties?: Readonly<Record<string, Keywords>>;
  readonly additionalProperties?: boolean | object;
  readonly items?: Keywords;
  readonly anyOf?: readonly Keywords[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly [ifItFits]?: boolean;
  readonly [asWritten]?: boolean;
};

/**
 * The same schema, except that objects may have unknown members. Schemas within it that have a title get another one,
 * because the strict ones keep theirs.
 */
export const lenient = <S extends TSchema>(schema: S): S => opened(schema) as S;

const opened = (schema: unknown): unknown => {
  if (!isObject(schema)) return schema;
  if (ifItFits in schema) return { description: schema.description };
  const { additionalProperties, ...keywords } = schema;
  const open = additionalProperties === undefined || additionalProperties === false;
  const copy: Record<string, unknown> = open ? keywords : { ...keywords, additionalProperties };
  if (isObject(copy.properties))
    copy.properties = Object.fromEntries(Object.entries(copy.properties).map(([name, one]) => [name, openedPart(one)]));
  if (copy.items !== undefined) copy.items = openedPart(copy.items);
  if (Array.isArray(copy.anyOf)) copy.anyOf = copy.anyOf.map(openedPart);
  return copy;
};

const openedPart = (schema: unknown): unknown => {
  const part = opened(schema);
  return isObject(part) && typeof part.title === 'string' ? { ...part, title: `Imported${part.title}` } : part;
};

/** The two parts of a document. */
export type Parts<Known> = {
  /** The document without the members that the schema does not name. Its numbers are plain. */
  readonly known: Known;
  /** The other members, in objects that also stand for arrays; undefined if there are none. */
  readonly unknown: Members | undefined;
};

/**
 * Makes the function that takes a document apart, by its strict schema. The document may have the marks of
 * packages/json. Throws `invalid` with the path for a known integer that JavaScript cannot hold; `path` points
 * to the document in the request.
 */
export const partsBy =
  <S extends TSchema>(schema: S): ((document: unknown, path?: string) => Parts<Static<S>>) =>
  (document, path = '') =>
    split(schema as Keywords, document, path) as Parts<Static<S>>;

const split = (schema: Keywords, value: unknown, path: string): Parts<unknown> => {
  if (schema[asWritten]) return { known: value, unknown: undefined };
  if (schema.anyOf) {
    const variant = schema.anyOf.find((one) => suits(one, value));
    if (variant) return split(variant, value, path);
  } else if (schema.items && Array.isArray(value)) return splitList(schema.items, value, path);
  else if (schema.properties && schema.additionalProperties === false && isMembers(value))
    return splitObject(schema.properties, value, path);
  return { known: plain(value, path), unknown: undefined };
};

/** True if the variant is the one that describes the value. Literals, such as `type`, tell variants apart. */
const suits = ({ properties, items }: Keywords, value: unknown): boolean => {
  if (Array.isArray(value)) return items !== undefined;
  if (!isMembers(value) || !properties) return false;
  return Object.entries(properties).every(([name, one]) => {
    const literals = one.const === undefined ? one.enum : [one.const];
    return !literals || !Object.hasOwn(value, name) || literals.includes(value[name]);
  });
};

const splitList = (items: Keywords, list: readonly unknown[], path: string): Parts<unknown> => {
  const parts = list.map((item, i) => split(items, item, path + step(i)));
  return {
    known: parts.map(({ known }) => known),
    unknown: membersOf(parts.map(({ unknown }, i) => [String(i), unknown])),
  };
};

const splitObject = (
  properties: NonNullable<Keywords['properties']>,
  object: Members,
  path: string,
): Parts<unknown> => {
  const knownMembers: [string, unknown][] = [];
  const unknown: [string, unknown][] = [];
  for (const [name, member] of exactEntries(object)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!schema || (schema[ifItFits] && !fits(schema, member))) {
      unknown.push([name, member]);
      continue;
    }
    const parts = split(schema, member, path + step(name));
    knownMembers.push([name, parts.known]);
    unknown.push([name, parts.unknown]);
  }
  return { known: Object.fromEntries(knownMembers), unknown: membersOf(unknown) };
};

const compiled = new WeakMap<Keywords, (value: unknown) => boolean>();

const fits = (schema: Keywords, value: unknown): boolean => {
  let check = compiled.get(schema);
  if (!check) {
    const validator = Compile(schema as TSchema);
    check = (one) => validator.Check(one);
    compiled.set(schema, check);
  }
  return check(plainValue(value)) && (schema[asWritten] === true || unsafeIn(value) === undefined);
};

const membersOf = (entries: readonly (readonly [string, unknown])[]): Members | undefined => {
  const there = entries.filter(([, member]) => member !== undefined);
  return there.length > 0 ? inOrder(there) : undefined;
};

const plain = (value: unknown, path: string): unknown => {
  const unsafe = unsafeIn(value);
  if (unsafe !== undefined) throw new RequestError('invalid', 'The integer is beyond 2^53-1', { path: path + unsafe });
  return plainValue(value);
};

/** The place of the first integer that JavaScript cannot hold; undefined if there is none. */
export const unsafeIn = (value: unknown): string | undefined => {
  const number = exactNumber(value);
  if (number !== undefined) return /^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number)) ? '' : undefined;
  if (!Array.isArray(value) && !isObject(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const inside = unsafeIn(member);
    if (inside !== undefined) return step(name) + inside;
  }
  return undefined;
};
