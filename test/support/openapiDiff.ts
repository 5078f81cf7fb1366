import { isDeepStrictEqual } from 'node:util';

type Json = { readonly [name: string]: any }; // an OpenAPI document

/** A change that breaks clients: the operation as `GET /path/{id}`, its name, and what is different. */
export type Break = { readonly operation: string; readonly name: string; readonly change: string };

/** Whether a schema is of what clients send or of what they are answered. */
type Direction = 'sent' | 'answered';
type Compared = { readonly before: any; readonly after: any; readonly at: string }; // parts of JSON Schemas

/**
 * What a client of the first document can no longer do, or can no longer rely on, by the second one. Failures that are
 * documented no longer break nobody, nor do new members of answers and new values of an enum in them.
 */
export const breaks = (before: Json, after: Json): readonly Break[] => {
  const now = operationsOf(after);
  return [...operationsOf(before)].flatMap(([place, was]) => {
    const is = now.get(place);
    const changes = is ? operationChanges(comparer(before, after), was, is) : ['the operation is gone'];
    return changes.map((change) => ({
      operation: was.operation,
      name: was.described['x-operation'] as string,
      change,
    }));
  });
};

type Operation = { readonly operation: string; readonly described: Json };

/** The operations by method and path, whatever the parameters in it are called. */
const operationsOf = ({ paths }: Json): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(paths as Json).flatMap(([path, methods]) =>
      Object.entries(methods as Json).map(([method, described]) => [
        `${method} ${path.replace(/\{\w+\}/g, '{}')}`,
        { operation: `${method.toUpperCase()} ${path}`, described: described as Json },
      ]),
    ),
  );

const operationChanges = (compare: Comparer, { described: was }: Operation, { described: is }: Operation): string[] => [
  ...parameterChanges(compare, was, is),
  ...bodyChanges(compare, was.requestBody, is.requestBody),
  ...answerChanges(compare, was.responses, is.responses),
];

const parameterChanges = ({ before, after, schema }: Comparer, was: Json, is: Json): string[] => {
  // Those of the path stand in the path.
  const named = (all: Json[], resolve: Resolve) =>
    new Map(
      all.map((one) => resolve(one)).flatMap((one) => (one.in === 'path' ? [] : [[`${one.in} ${one.name}`, one]])),
    );
  const then = named(was.parameters ?? [], before);
  const now = named(is.parameters ?? [], after);
  const changes: string[] = [];
  for (const [name, { schema: old }] of then) {
    const parameter = now.get(name);
    if (parameter) changes.push(...schema('sent', { before: old, after: parameter.schema, at: name }));
    else changes.push(`${name} is gone`);
  }
  for (const [name, { required }] of now)
    if (required && !then.get(name)?.required) changes.push(`${name} is required now`);
  return changes;
};

const bodyChanges = ({ schema }: Comparer, was: Json | undefined, is: Json | undefined): string[] => {
  if (!was) return is?.required ? ['the body is required now'] : [];
  if (!is) return ['the body is gone'];
  const changes = is.required && !was.required ? ['the body is required now'] : [];
  return [...changes, ...contentChanges(was.content, is.content, (pair) => schema('sent', pair), 'body')];
};

const answerChanges = ({ before, after, schema }: Comparer, was: Json, is: Json): string[] =>
  Object.keys(was)
    .filter((status) => /^[23]/.test(status))
    .flatMap((status) => {
      if (!is[status]) return [`status ${status} is gone`];
      const [old, now] = [before(was[status]), after(is[status])];
      return contentChanges(old.content ?? {}, now.content ?? {}, (pair) => schema('answered', pair), 'answer');
    });

const contentChanges = (was: Json, is: Json, compare: (pair: Compared) => string[], at: string): string[] =>
  Object.entries(was).flatMap(([type, { schema }]) =>
    is[type] ? compare({ before: schema, after: is[type].schema, at }) : [`${at} as ${type} is gone`],
  );

type Resolve = (part: Json) => Json;
type Comparer = {
  readonly before: Resolve;
  readonly after: Resolve;
  readonly schema: (direction: Direction, pair: Compared) => string[];
};

/** Compares schemas of two documents, whose references it follows; a schema within itself only once. */
const comparer = (documentBefore: Json, documentAfter: Json): Comparer => {
  const before = resolver(documentBefore);
  const after = resolver(documentAfter);
  const compare = (direction: Direction, pair: Compared, above: ReadonlySet<string>): string[] => {
    const pairOfNames = `${pair.before?.$ref} ${pair.after?.$ref}`;
    if (above.has(pairOfNames)) return [];
    const within = pair.before?.$ref === undefined ? above : new Set([...above, pairOfNames]);
    const resolved = { before: before(pair.before ?? {}), after: after(pair.after ?? {}), at: pair.at };
    const inner = (one: Compared): string[] => compare(direction, one, within);
    return unionChanges(resolved, direction, inner) ?? plainChanges(resolved, direction, inner);
  };
  return { before, after, schema: (direction, pair) => compare(direction, pair, new Set()) };
};

const resolver =
  (document: Json): Resolve =>
  (part) => {
    if (typeof part?.$ref !== 'string') return part;
    const names = part.$ref.slice(2).split('/');
    return names.reduce((at: Json, name: string) => at[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  };

type Inner = (pair: Compared) => string[];

/**
 * Alternatives: each that could be sent still can be, each that is answered now could be answered before. Undefined:
 * there are none.
 */
const unionChanges = ({ before, after, at }: Compared, direction: Direction, inner: Inner): string[] | undefined => {
  const alternatives = (schema: Json): Json[] => {
    if (schema.if && schema.then && schema.else) return [schema.then, schema.else].flatMap(alternatives);
    return schema.anyOf ?? schema.oneOf ?? [schema];
  };
  const [then, now] = [alternatives(before), alternatives(after)];
  if (then.length === 1 && now.length === 1 && then[0] === before && now[0] === after) return undefined;
  const isKept =
    direction === 'sent'
      ? then.every((old) => now.some((one) => inner({ before: old, after: one, at }).length === 0))
      : now.every((one) => then.some((old) => inner({ before: old, after: one, at }).length === 0));
  if (isKept) return [];
  return [direction === 'sent' ? `${at}: an alternative is gone or narrower` : `${at}: there is another alternative`];
};

const plainChanges = (pair: Compared, direction: Direction, inner: Inner): string[] => [
  ...typeChanges(pair, direction),
  ...memberChanges(pair, direction, inner),
  ...(direction === 'sent' ? limitChanges(pair) : []),
  ...partChanges(pair, inner),
];

const typesOf = ({ type, const: value, enum: values }: Json): ReadonlySet<string> | undefined => {
  if (type !== undefined) return new Set([type].flat());
  const known = value === undefined ? values : [value];
  return known && new Set(known.map((one: unknown) => (one === null ? 'null' : typeof one)));
};

/** Whether all that has the first types has one of the second; undefined: anything. */
const isWithin = (types: ReadonlySet<string> | undefined, others: ReadonlySet<string> | undefined): boolean => {
  if (others === undefined) return true;
  if (types === undefined) return false;
  return [...types].every((type) => others.has(type) || (type === 'integer' && others.has('number')));
};

const typeChanges = ({ before, after, at }: Compared, direction: Direction): string[] => {
  const [was, is] = [typesOf(before), typesOf(after)];
  const words = (types: ReadonlySet<string> | undefined) => (types ? [...types].join(' or ') : 'anything');
  const fits = direction === 'sent' ? isWithin(was, is) : isWithin(is, was);
  return fits ? [] : [`${at} is ${words(is)} and not ${words(was)}`];
};

const memberChanges = ({ before, after, at }: Compared, direction: Direction, inner: Inner): string[] => {
  const changes: string[] = [];
  const was: Json = before.properties ?? {};
  const is: Json = after.properties ?? {};
  for (const [name, schema] of Object.entries(was)) {
    const place = `${at}/${name}`;
    if (Object.hasOwn(is, name)) changes.push(...inner({ before: schema, after: is[name], at: place }));
    else changes.push(`${place} is gone`);
  }
  const required: readonly string[] = before.required ?? [];
  const requiredNow: readonly string[] = after.required ?? [];
  for (const name of requiredNow)
    if (direction === 'sent' && !required.includes(name)) changes.push(`${at}/${name} is required now`);
  for (const name of required)
    if (direction === 'answered' && Object.hasOwn(is, name) && !requiredNow.includes(name))
      changes.push(`${at}/${name} may be missing now`);
  return changes;
};

const lower = ['maxLength', 'maxItems', 'maxProperties', 'maximum', 'exclusiveMaximum'];
const higher = ['minLength', 'minItems', 'minProperties', 'minimum', 'exclusiveMinimum'];

/** Limits of what may be sent that are narrower. */
const limitChanges = ({ before, after, at }: Compared): string[] => {
  const changes: string[] = [];
  for (const name of lower) if ((after[name] ?? Infinity) < (before[name] ?? Infinity)) changes.push(name);
  for (const name of higher) if ((after[name] ?? -Infinity) > (before[name] ?? -Infinity)) changes.push(name);
  for (const name of ['pattern', 'format', 'propertyNames', 'not', 'if', 'allOf', 'uniqueItems'])
    if (after[name] !== undefined && !isDeepStrictEqual(after[name], before[name])) changes.push(name);
  const valuesOf = (schema: Json): unknown[] | undefined => (schema.const === undefined ? schema.enum : [schema.const]);
  const [was, is] = [valuesOf(before), valuesOf(after)];
  if (is && !was?.every((value) => is.some((one) => isDeepStrictEqual(one, value)))) changes.push('its values');
  if (after.additionalProperties === false && before.additionalProperties !== false && before.type === 'object')
    changes.push('no other members');
  return changes.map((change) => `${at} is narrower: ${change}`);
};

/** Schemas within that stand at the same place in both. */
const partChanges = ({ before, after, at }: Compared, inner: Inner): string[] => {
  const parts = [
    ['items', '/*'],
    ['additionalProperties', '/*'],
    ['then', ''],
    ['else', ''],
  ] as const;
  return parts.flatMap(([name, place]) => {
    const [was, is] = [before[name], after[name]];
    const areSchemas = typeof was === 'object' && typeof is === 'object';
    return areSchemas ? inner({ before: was, after: is, at: at + place }) : [];
  });
};
