import type { GroupMapping } from '../src/domain/group-mappings/groupMappings.ts';

// Lists of group mappings as (f) asks for them, each with the slow way to work out its answer.

const operations = {
  multiEquals: (own: string, value: string) => own === value,
  multiStartsWith: (own: string, value: string) => own.toLowerCase().startsWith(value.toLowerCase()),
  multiContains: (own: string, value: string) => own.toLowerCase().includes(value.toLowerCase()),
};
type Operation = keyof typeof operations;
type Field = 'externalGroup' | 'name' | 'provenance' | 'platformGroups';

export type Query = {
  readonly skip: number;
  readonly filter?: { readonly operation: Operation; readonly field: Field; readonly value: string };
};

/**
 * A kind of query: the `n`th of it on so many mappings. Neighbours differ in what they look for, not in how much they
 * find.
 */
export type QueryKind = {
  readonly title: string;
  readonly filtered: boolean;
  /** How many are asked in a round. */
  readonly count: number;
  readonly query: (n: number, documents: number) => Query;
};

// As many as differ with 1,000 documents: a page takes so little time that hiccups of the machine would decide among
// fewer.
const pages = 900;
const perPage = 25;

const digits = (n: number, length: number): string => String(n % 10 ** length).padStart(length, '0');
const nameField = (n: number): Field => (n % 2 === 0 ? 'externalGroup' : 'name');

const unfiltered = (title: string, skip: (n: number, documents: number) => number): QueryKind => ({
  title,
  filtered: false,
  count: pages,
  query: (n, documents) => ({ skip: skip(n, documents) }),
});

const filtered = (
  operation: Operation,
  on: string,
  field: (n: number) => Field,
  value: (n: number, documents: number) => string,
): QueryKind => ({
  title: `${operation} ${on}`,
  filtered: true,
  count: 300,
  query: (n, documents) => ({ skip: n % 7, filter: { operation, field: field(n), value: value(n, documents) } }),
});

export const queryKinds: readonly QueryKind[] = [
  unfiltered('first page', (n) => n),
  unfiltered('middle page', (n, documents) => documents / 2 - pages / 2 + n),
  unfiltered('last page', (n, documents) => documents - perPage - n),
  filtered(
    'multiEquals',
    'externalGroup/name',
    nameField,
    (n, documents) => `team-${digits((n * 7919) % documents, 6)}`,
  ),
  filtered(
    'multiStartsWith',
    'externalGroup/name',
    nameField,
    (n, documents) => `TEAM-${digits((n * 7919) % documents, 6).slice(0, 5)}`,
  ),
  filtered('multiContains', 'externalGroup/name', nameField, (n) => digits(n * 7919, 3)),
  filtered(
    'multiEquals',
    'provenance',
    () => 'provenance',
    (n) => `ldap-${digits(n, 2)}`,
  ),
  filtered(
    'multiStartsWith',
    'provenance',
    () => 'provenance',
    (n) => `LDAP-${digits(n, 2)}`,
  ),
  filtered(
    'multiContains',
    'provenance',
    () => 'provenance',
    (n) => `P-${digits(n, 2)}`,
  ),
  filtered(
    'multiEquals',
    'platformGroups',
    () => 'platformGroups',
    (n) => `platform-${digits(n % 500, 3)}`,
  ),
  filtered(
    'multiStartsWith',
    'platformGroups',
    () => 'platformGroups',
    (n) => `PLATFORM-${digits(n % 50, 2)}`,
  ),
  filtered(
    'multiContains',
    'platformGroups',
    () => 'platformGroups',
    (n) => `M-${digits(n % 500, 3)}`,
  ),
];

export const pathOf = ({ skip, filter }: Query): string =>
  `/group-mappings?skip=${skip}${filter ? `&${filter.operation}[${filter.field}]=${filter.value}` : ''}`;

/** The answer, from all mappings in order. */
export const expected = (
  all: readonly GroupMapping[],
  { skip, filter }: Query,
): { readonly results: readonly GroupMapping[]; readonly total: number } => {
  const valuesOf = (doc: GroupMapping, field: Field): readonly string[] =>
    [doc[field === 'name' ? 'externalGroup' : field]].flat();
  const found = filter
    ? all.filter((doc) => valuesOf(doc, filter.field).some((own) => operations[filter.operation](own, filter.value)))
    : all;
  return { results: found.slice(skip, skip + perPage), total: found.length };
};
