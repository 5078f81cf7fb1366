import type { Dialect } from './dialects.ts';
import { SchemaError } from './schemaError.ts';
import { type Json, mostSchemas, type Place, type Places } from './schemaPlaces.ts';
import { type Draft, setTupleApart, tellItems, tellProto } from './schemaRewrites.ts';

/** A schema that has only keywords that check values. Each `$ref` names another part. */
export type Part = { readonly [keyword: string]: unknown } | boolean;

/** A user's schema in parts, by name. References name parts. */
export type Parts = ReadonlyMap<string, Part>;
export const rootPart = 'part:0';

type Reference = { readonly $ref: string };

/**
 * The places that `$dynamicRef` can refer to, by the name of their `$dynamicAnchor`. If several resources on the path
 * to a schema have the name, the outermost one counts.
 */
type Scope = ReadonlyMap<string, Place>;

// With these keywords in a schema, the subschemas under `deciding` keywords become parts, because each must be checked
// on its own.
const unevaluated = ['unevaluatedProperties', 'unevaluatedItems'];
const deciding = new Set(['anyOf', 'oneOf', 'if', 'contains', ...unevaluated]);

// Keywords that only hold definitions. These check nothing until a reference uses them.
const containers = new Set(['definitions', '$defs']);

/**
 * Divides a schema into parts and adds `mark` to each subschema. Throws `SchemaError` for a schema that refers to itself
 * for the same value.
 */
export const partsOf = ({ root, target }: Places, dialect: Dialect, mark: object): Parts => {
  const parts = new Map<string, Part>();
  const names = new Map<string, string>();
  const waiting: { readonly name: string; readonly place: Place; readonly scope: Scope }[] = [];
  const { referred, hasDynamic, hasUnevaluated } = reachable(root, target);
  let count = 0;

  const entered = (place: Place, scope: Scope): Scope => {
    const news = hasDynamic ? [...place.resource.dynamic].filter(([name]) => !scope.has(name)) : [];
    return news.length === 0 ? scope : new Map([...scope, ...news]);
  };
  const referTo = (place: Place, around: Scope): Reference => {
    const scope = entered(place, around);
    const key = JSON.stringify([place.at, [...scope].map(([name, { at }]) => [name, at]).sort()]);
    const name = names.get(key) ?? `part:${names.size}`;
    if (!names.has(key)) waiting.push({ name, place, scope });
    names.set(key, name);
    return { $ref: name };
  };
  const heldPart = (keyword: string, place: Place, scope: Scope): Part => {
    if (typeof place.schema === 'boolean') return place.schema;
    return referred.has(place) || (hasUnevaluated && deciding.has(keyword))
      ? referTo(place, scope)
      : written(place, entered(place, scope));
  };

  const written = (place: Place, scope: Scope): Part => {
    const { schema, held } = place;
    if (typeof schema === 'boolean') return schema;
    count += 1;
    if (count > mostSchemas)
      throw new SchemaError(
        `A schema may have ${mostSchemas} schemas within, those counted again that mean something else elsewhere`,
      );
    const [first, second] = meantBy(place, scope, target).map((meant) => referTo(meant, scope));
    if (dialect.besideRef === 'nothing' && first) return { ...first, ...mark };
    const part: Draft = {};
    for (const keyword of dialect.values) if (Object.hasOwn(schema, keyword)) part[keyword] = schema[keyword];
    for (const { keyword, form, places } of held) {
      const members = places.map(([name, member]) => [name, heldPart(keyword, member, scope)] as const);
      if (form === 'one') part[keyword] = members[0]?.[1];
      else if (form === 'list') part[keyword] = members.map(([, member]) => member);
      else if (!containers.has(keyword))
        part[keyword] = { ...(schema[keyword] as Json), ...Object.fromEntries(members) };
    }
    tellItems(part);
    setTupleApart(part, mark);
    tellProto(part);
    Object.assign(part, first);
    if (second) part.allOf = [...((part.allOf as Part[] | undefined) ?? []), second];
    return Object.keys(part).length > 0 ? { ...part, ...mark } : part;
  };

  referTo(root, new Map());
  for (const { name, place, scope } of waiting) parts.set(name, written(place, scope));
  refuseEndless(parts);
  return parts;
};

/** The targets of the references in a schema. */
const meantBy = (place: Place, scope: Scope, target: Places['target']): readonly Place[] => {
  const { $ref, $dynamicRef } = place.schema as Json;
  const meant: Place[] = [];
  if (typeof $ref === 'string') meant.push(target(place, $ref));
  if (typeof $dynamicRef === 'string') {
    const found = target(place, $dynamicRef);
    const name = $dynamicRef.slice($dynamicRef.indexOf('#') + 1);
    const isDynamic = found.resource.dynamic.get(name) === found;
    meant.push(isDynamic ? (scope.get(name) ?? found) : found);
  }
  return meant;
};

/**
 * The places that references use, in the schema and in the definitions of dialects that it refers to. Also whether any
 * of these schemas has `$dynamicRef` or an unevaluated keyword.
 */
const reachable = (root: Place, target: Places['target']) => {
  const everything = new Set([root]);
  const referred = new Set<Place>();
  for (const place of everything) {
    for (const { places } of place.held) for (const [, member] of places) everything.add(member);
    const { $ref, $dynamicRef } = typeof place.schema === 'object' ? place.schema : {};
    for (const ref of [$ref, $dynamicRef]) {
      if (typeof ref !== 'string') continue;
      const found = target(place, ref);
      everything.add(found);
      referred.add(found);
    }
  }
  return {
    referred,
    hasDynamic: [...everything].some(({ schema }) => typeof schema === 'object' && '$dynamicRef' in schema),
    hasUnevaluated: [...everything].some(({ held }) => held.some(({ keyword }) => unevaluated.includes(keyword))),
  };
};

// Keywords whose subschemas check the same value as the schema around them.
const sameValue = ['$ref', 'not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies'];

const refuseEndless = (parts: Parts): void => {
  const visited = new Set<unknown>();
  const follow = (part: Part | undefined, above: ReadonlySet<Part>): void => {
    if (typeof part !== 'object' || visited.has(part)) return;
    if (above.has(part)) throw new SchemaError('The schema refers to itself without an end');
    const around = new Set([...above, part]);
    for (const keyword of sameValue) for (const next of heldIn(part, keyword, parts)) follow(next, around);
    visited.add(part);
  };
  for (const part of parts.values()) follow(part, new Set());
};

const heldIn = (part: Exclude<Part, boolean>, keyword: string, parts: Parts): readonly (Part | undefined)[] => {
  const value = part[keyword];
  if (typeof value === 'string') return [parts.get(value)];
  if (typeof value !== 'object' || value === null) return [];
  if (keyword === 'not' || keyword === 'if' || keyword === 'then' || keyword === 'else') return [value as Part];
  return Object.values(value).filter((value) => !Array.isArray(value));
};
