import { exactEntries, inOrder, isObject, type Members, own, withoutOrder } from '@automation-platform/json';
import { type ImportAuthors, isSigned, signatureMembers } from './authors.ts';
import { same } from './changes.ts';
import { withoutMembers } from './exactMembers.ts';
import type { Parts } from './lenientSchemas.ts';
import { maskSecrets } from './secretFields.ts';
import { sameMark } from './strictJson.ts';

/*
 * An imported document is stored as it was written, beside the content that the service made of it. So an export can
 * give back what the service does not know, and what it says in other words (docs/behaviour/imports-and-exports.md).
 */

/** A document as it was imported, with sealed secrets and the marks of packages/json, and the content made of it. */
export type Imported<Content> = { readonly document: Members; readonly content: Content };

const sameMember = { [sameMark]: true };
const isSameMember = (value: unknown): boolean => isObject(value) && value[sameMark] === true;

/** The document for the event that has the content, too: equal members are stored once. */
export const withoutContent = (document: Members, content: object): Members =>
  inOrder(
    exactEntries(document).map(([name, member]) => {
      const equal = member === (content as Members)[name] || isCopy(member, (content as Members)[name]);
      return [name, equal && Object.hasOwn(content, name) ? sameMember : member];
    }),
  );

/** True if the values have the same JSON text, so that the order of members counts. */
const isCopy = (a: unknown, b: unknown): boolean =>
  typeof a === 'object' && a !== null ? JSON.stringify(a) === JSON.stringify(b) : a === b;

/** The document of an event, from the two parts that `withoutContent` makes. */
const withContent = (stored: Members, content: object): Members =>
  inOrder(
    exactEntries(stored).map(([name, member]) => [name, isSameMember(member) ? (content as Members)[name] : member]),
  );

/** The imported document of a stream's last import, from an event that has the content, too. */
export const importedIn = <Content extends object>(
  { imported }: { readonly imported?: Members },
  content: Content,
): { readonly imported?: Imported<Content> } =>
  imported ? { imported: { document: withContent(imported, content), content } } : {};

/** The resource now: its content, and the document that an export in our own words shows. */
export type Present = { readonly content: object; readonly shown: Members };

/** A place in the imported document, in the content made of it, in the present content and in the present export. */
type Place = {
  readonly imported: unknown;
  readonly then: unknown;
  readonly now: unknown;
  readonly shown: unknown;
};

/** The words of an export: those of the document that was imported; our own if not set. */
export type Words = 'imported' | undefined;

/** The export of a resource, with masked secrets. */
export const exported = (imported: Imported<object> | undefined, present: Present, words: Words): Members => {
  if (!imported) return present.shown;
  return maskSecrets(words === 'imported' ? asImported(imported, present) : wholeOf(imported, present)) as Members;
};

/** The members of `shown`, and those that an import brought and the service does not know. Sealed secrets stay sealed. */
export const wholeOf = (imported: Imported<object> | undefined, present: Present): Members =>
  imported ? withUnknown(imported, present) : present.shown;

type Stored<Content> = { readonly imported?: Imported<Content>; readonly content?: Content };

/**
 * True if an import of the document, which has the present content, would leave the rest of the resource as it is: the
 * unknown members and, if `authors` has a signature, times and authors.
 */
export const sameRest = <Content extends object>(
  document: unknown,
  stored: Stored<Content>,
  parts: (document: unknown) => Parts<unknown>,
  authors?: ImportAuthors,
): boolean => {
  const { unknown } = parts(document);
  if (!hasUnknown(unknown, stored, parts)) return false;
  return !authors?.signature || sameSignature(document as Members, stored, authors);
};

/** True if the unknown members are those of an export, in the words of the import or in ours, which lack some. */
const hasUnknown = (
  unknown: Members | undefined,
  { imported, content }: Stored<object>,
  parts: (document: unknown) => Parts<unknown>,
): boolean => {
  if (!imported || !content) return unknown === undefined;
  const present = { content, shown: content as Members };
  if (same(unknown, parts(asImported(imported, present)).unknown)) return true;
  const ours = withoutMembers(withUnknown(imported, present), (name) => ofEveryExport.includes(name));
  return same(withoutOrder(unknown), withoutOrder(parts(ours).unknown));
};

/** Members that every export in our own words has, in the place of what an import had there. */
const ofEveryExport: readonly string[] = ['_id', ...signatureMembers];

/** True if times and authors of the document are those of an export, in the words of the import or in ours. */
const sameSignature = (document: Members, { imported, content }: Stored<object>, authors: ImportAuthors): boolean => {
  const isUnchanged = imported !== undefined && same(imported.content, content);
  return signatureMembers.every((member) => {
    const isKept = isUnchanged || document[member] === undefined || !lastChange.includes(member);
    return (isKept && same(document[member], imported?.document[member])) || isSigned(document, member, authors);
  });
};

/** The export in our own words: the members that the service knows, and then the unknown ones of the import. */
const withUnknown = ({ document, content: then }: Imported<object>, { content: now, shown }: Present): Members =>
  inOurWords({ imported: document, then, now, shown }) as Members;

/** The members that say when and by whom a resource was last changed. */
const lastChange = ['lastUpdated', 'lastUpdatedBy'];

/**
 * The export in the words of the import: the document itself, except for members of the content that have changed since.
 * Members that the document did not have are left out until they change.
 */
const asImported = ({ document, content: then }: Imported<object>, { content: now, shown }: Present): Members => {
  if (same(then, now)) return document;
  const merged = inTheirWords({ imported: document, then, now, shown }) as Members;
  return inOrder(
    exactEntries(merged).map(([name, member]) => [
      name,
      lastChange.includes(name) && Object.hasOwn(shown, name) ? shown[name] : member,
    ]),
  );
};

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined);

const has = (value: unknown, name: string): boolean => isObject(value) && Object.hasOwn(value, name);

const member = ({ imported, then, now, shown }: Place, name: string): Place => ({
  imported: memberOf(imported, name),
  then: memberOf(then, name),
  now: memberOf(now, name),
  shown: memberOf(shown, name),
});

/** True if the service knows the member. */
const isKnown = ({ then, now, shown }: Place, name: string): boolean =>
  has(shown, name) || has(then, name) || has(now, name);

const inOurWords = (place: Place): unknown => {
  const { imported, shown } = place;
  if (Array.isArray(shown)) return eachItem(place, inOurWords);
  if (!isObject(shown) || !isObject(imported)) return shown;
  return inOrder([
    ...exactEntries(shown).map(([name]) => [name, inOurWords(member(place, name))] as const),
    ...exactEntries(imported).filter(([name]) => !isKnown(place, name)),
  ]);
};

const inTheirWords = (place: Place): unknown => {
  const { imported, then, now, shown } = place;
  if (same(then, now)) return imported;
  if (Array.isArray(shown)) return eachItem(place, inTheirWords);
  if (!isObject(shown) || !isObject(imported)) return shown;
  const entriesToKeep = exactEntries(imported).filter(
    ([name]) => !isKnown(place, name) || has(now, name) || !has(then, name),
  );
  const added = exactEntries(shown).filter(
    ([name]) => !has(imported, name) && !same(memberOf(then, name), memberOf(now, name)),
  );
  return inOrder([...entriesToKeep.map(([name]) => [name, inTheirWords(member(place, name))] as const), ...added]);
};

/** The present items of a list. An item that comes from an item of the import is merged with it. */
const eachItem = ({ imported, then, now, shown }: Place, merge: (place: Place) => unknown): readonly unknown[] => {
  const items = shown as readonly unknown[];
  if (!Array.isArray(imported) || !Array.isArray(then) || !Array.isArray(now)) return items;
  if (imported.length !== then.length || items.length !== now.length) return items;
  const origins = originsOf(now, then);
  return items.map((item, i) => {
    const origin = origins[i];
    return origin === undefined
      ? item
      : merge({ imported: imported[origin], then: then[origin], now: now[i], shown: item });
  });
};

/** The members that name an item of a list. */
const naming = ['_id', 'id', 'nodeId', 'configId', 'name'];

/** For each present item the index of the earlier item that it comes from. No two come from the same one. */
const originsOf = (now: readonly unknown[], then: readonly unknown[]): readonly (number | undefined)[] => {
  const free = new Set(then.keys());
  const origins: (number | undefined)[] = now.map((): undefined => undefined);
  const assign = (fits: (item: unknown, earlier: unknown, i: number, j: number) => boolean): void => {
    for (const [i, item] of now.entries()) {
      if (origins[i] !== undefined) continue;
      const found = [i, ...free].find((j) => free.has(j) && fits(item, then[j], i, j));
      if (found === undefined) continue;
      origins[i] = found;
      free.delete(found);
    }
  };
  assign((item, earlier) => same(item, earlier));
  assign((item, earlier) =>
    naming.some((name) => has(item, name) && same(memberOf(item, name), memberOf(earlier, name))),
  );
  if (now.length === then.length) assign((_, __, i, j) => i === j);
  return origins;
};
