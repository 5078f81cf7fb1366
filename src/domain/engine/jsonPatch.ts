import { exactNumber, isObject, type Members, mark } from '@automation-platform/json';
import { same } from './changes.ts';

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

const pathTo = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * The operations that make the second JSON value of the first one. In lists, what is the same at both ends stays; the
 * items between are compared one by one.
 */
export const patchBetween = (before: unknown, after: unknown, path = ''): readonly PatchOperation[] => {
  if (same(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return betweenLists(before, after, path);
  const isRecord = (value: unknown): value is Members => isObject(value) && exactNumber(value) === undefined;
  if (isRecord(before) && isRecord(after)) return betweenObjects(before, after, path);
  return [{ op: 'replace', path, value: after }];
};

const betweenObjects = (before: Members, after: Members, path: string): readonly PatchOperation[] => {
  // The mark says in which order the members were written. That is no difference in JSON.
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => name !== mark);
  return names.flatMap((name): readonly PatchOperation[] => {
    const at = pathTo(path, name);
    const [isBefore, isAfter] = [before, after].map((one) => Object.hasOwn(one, name) && one[name] !== undefined);
    if (!isAfter) return isBefore ? [{ op: 'remove', path: at }] : [];
    return isBefore ? patchBetween(before[name], after[name], at) : [{ op: 'add', path: at, value: after[name] }];
  });
};

const betweenLists = (
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): readonly PatchOperation[] => {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && same(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && same(before.at(-1 - end), after.at(-1 - end))) end++;
  const [removed, added] = [before.length - start - end, after.length - start - end];
  const both = Math.min(removed, added);
  const operations: PatchOperation[] = [];
  for (let i = start; i < start + both; i++) operations.push(...patchBetween(before[i], after[i], pathTo(path, i)));
  for (let i = both; i < removed; i++) operations.push({ op: 'remove', path: pathTo(path, start + both) });
  for (let i = start + both; i < start + added; i++)
    operations.push({ op: 'add', path: pathTo(path, i), value: after[i] });
  return operations;
};
