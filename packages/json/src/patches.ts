import { isObject } from './members.ts';
import { stepsOf } from './pointer.ts';

/** An operation of a JSON Patch (RFC 6902). */
export type PatchOperation = {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
};

const valueAt = (document: unknown, [name, ...rest]: readonly string[]): unknown => {
  if (name === undefined) return document;
  if (Array.isArray(document)) return valueAt(document[Number(name)], rest);
  return isObject(document) && Object.hasOwn(document, name) ? valueAt(document[name], rest) : undefined;
};

const changeAt = (document: unknown, [name, ...rest]: readonly string[], operation: PatchOperation): unknown => {
  if (name === undefined) return operation.value;
  const { op } = operation;
  const isLast = rest.length === 0;
  const inner = (one: unknown): readonly unknown[] =>
    isLast && op === 'remove' ? [] : [changeAt(one, rest, operation)];
  if (Array.isArray(document)) {
    const i = Number(name);
    return document.toSpliced(i, isLast && op === 'add' ? 0 : 1, ...inner(document[i]));
  }
  const { [name]: former, ...others } = isObject(document) ? document : {};
  return Object.fromEntries([...Object.entries(others), ...inner(former).map((one) => [name, one] as const)]);
};

/** A member of a document before and after a change. */
export type PatchedMember = { readonly path: string; readonly before: unknown; readonly after: unknown };

const membersOf = (before: unknown, { op, path, value }: PatchOperation): readonly PatchedMember[] => {
  const former = op === 'add' ? undefined : valueAt(before, stepsOf(path));
  if (path !== '' || !(isObject(former) || isObject(value))) return [{ path, before: former, after: value }];
  // The whole document: it was made, or deleted.
  const [first, second] = [former, value].map((one) => (isObject(one) ? one : {}));
  return [...new Set([...Object.keys(first ?? {}), ...Object.keys(second ?? {})])].map((name) => ({
    path: `/${name}`,
    before: first?.[name],
    after: second?.[name],
  }));
};

/** The document after a patch, and what this changed. `undefined`: the document is not known, so nothing is before. */
export const applyPatch = (
  before: unknown,
  patch: readonly PatchOperation[],
): { readonly document: unknown; readonly members: readonly PatchedMember[] } => {
  let document = before;
  const members: PatchedMember[] = [];
  for (const operation of patch) {
    members.push(...membersOf(document, operation));
    if (document !== undefined || operation.path === '')
      document = changeAt(document, stepsOf(operation.path), operation);
  }
  return { document, members };
};
