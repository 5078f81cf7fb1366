import type { Change, Entry, Page, Query, Where } from '../../src/projections/engine/port.ts';

const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const matches = (where: Where, entry: Entry): boolean => {
  if ('all' in where) return where.all.every((part) => matches(part, entry));
  if ('any' in where) return where.any.some((part) => matches(part, entry));
  const { field, op, value } = where;
  if (/[\0-\x1f\x7f]/.test(value)) return false;
  return entry.filters[field]!.some((own) =>
    op === 'equals'
      ? own === value
      : op === 'startsWith'
        ? own.toLowerCase().startsWith(value.toLowerCase())
        : own.toLowerCase().includes(value.toLowerCase()),
  );
};

/** One collection of a read store, written down as plainly as can be: what the adapters are compared with. */
export const naiveStore = () => {
  let entries: Entry[] = [];
  const sorted = (sort: string): Entry[] =>
    entries.toSorted((a, b) => {
      const [one, other] = [a.sorts[sort]!, b.sorts[sort]!];
      return bytes(one.toLowerCase(), other.toLowerCase()) || bytes(one, other) || bytes(a.id, b.id);
    });
  return {
    apply(changes: readonly Change[]): void {
      for (const { id, entry } of changes) {
        entries = entries.filter((other) => other.id !== id);
        if (entry) entries.push(entry);
      }
    },
    get: (id: string): Entry | undefined => entries.find((entry) => entry.id === id),
    guard(id: string): string | null | undefined {
      const entry = entries.find((entry) => entry.id === id);
      return entry && (entry.guard ?? null);
    },
    idsNamed: (name: string): string[] =>
      sorted('name')
        .filter((entry) => entry.sorts['name'] === name)
        .map(({ id }) => id),
    list({ where, sort, order, skip, limit, may }: Query): Page {
      const found = sorted(sort).filter(
        (entry) => (!where || matches(where, entry)) && (!may || entry.guard === undefined || may(entry.guard)),
      );
      if (order === -1) found.reverse();
      return {
        entries: found.slice(skip, skip + limit).map(({ id, text, revision }) => ({ id, text, revision })),
        total: found.length,
      };
    },
  };
};
