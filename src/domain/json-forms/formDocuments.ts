import { exactEntries, exactNumber, inOrder, isObject, type Members } from '@automation-platform/json';
import { Compile } from 'typebox/compile';
import { type Person, time, usernameOf } from '../engine/authors.ts';
import { defined } from '../engine/defined.ts';
import type { Parts } from '../engine/lenientSchemas.ts';
import { name } from '../engine/schemas.ts';
import { type FormDocument, formDocumentSchema } from './formSchemas.ts';

/*
 * Forms of other installations. A member that the API document does not describe further, such as `uiSchema`, may hold
 * any JSON, and so integers that JavaScript cannot hold. These keep their marks (packages/json) in the
 * content of the form, too.
 */

/** The value as `JSON.parse` reads it, except for integers that JavaScript cannot hold. */
export const withLargeIntegers = <V>(value: V): V => keepValue(value) as V;

const keepValue = (value: unknown): unknown => {
  const number = exactNumber(value);
  if (number !== undefined) return isLarge(Number(number)) ? value : Number(number);
  if (Array.isArray(value)) return value.map(keepValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(exactEntries(value).map(([name, member]) => [name, keepValue(member)]));
};

const isLarge = (number: number): boolean => Number.isInteger(number) && !Number.isSafeInteger(number);

const isKnown = (name: string): boolean => Object.hasOwn(formDocumentSchema.properties, name);

/** Takes an imported form apart. All members that the service does not know are members of the form itself. */
export const formParts = (document: unknown): Parts<FormDocument> => {
  const entries = exactEntries(document as Members);
  const unknown = entries.filter(([name]) => !isKnown(name));
  return {
    known: withLargeIntegers(Object.fromEntries(entries.filter(([name]) => isKnown(name)))) as FormDocument,
    unknown: unknown.length > 0 ? inOrder(unknown) : undefined,
  };
};

const isName = Compile(name(''));
const isTime = Compile(time(''));

/** The id of an imported form. Undefined if it has none, or one that no form can have here. */
export const importedFormId = ({ _id, id }: Pick<FormDocument, '_id' | 'id'>): string | undefined =>
  [_id, id].find((one) => isName.Check(one));

/** The times and authors of an imported form. Those that are missing or unusable are left out. */
export const signatureOf = ({ created, createdBy, lastUpdated, lastUpdatedBy }: FormDocument) =>
  defined({
    created: timeIn(created),
    createdBy: personIn(createdBy),
    lastUpdated: timeIn(lastUpdated),
    lastUpdatedBy: personIn(lastUpdatedBy),
  });

const timeIn = (text: string | undefined): string | undefined => (isTime.Check(text) ? text : undefined);
const personIn = (person: Person | undefined): string | undefined => usernameOf(person) ?? undefined;
