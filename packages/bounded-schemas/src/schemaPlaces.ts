import { decoded, isObject, own } from '@automation-platform/json';
import { type Dialect, definitions, dialectOf } from './dialects.ts';
import { SchemaError } from './schemaError.ts';

export type Json = { readonly [member: string]: unknown };

/** A schema with an address of its own (`$id`), and its named subschemas. */
type Resource = {
  readonly base: string;
  readonly root: string;
  readonly anchors: Map<string, Place>;
  readonly dynamic: Map<string, Place>;
};

/** The subschemas under one keyword: one, a list, or one for each name. */
type Held = {
  readonly keyword: string;
  readonly form: 'one' | 'list' | 'map';
  readonly places: readonly (readonly [name: string, Place])[];
};

/** A schema within a document. `at` identifies it: the document, then a JSON pointer. */
export type Place = {
  readonly at: string;
  readonly schema: Json | boolean;
  readonly resource: Resource;
  readonly held: readonly Held[];
};

/** The schemas of a document. `target` finds the target of a reference in a place. */
export type Places = { readonly root: Place; readonly target: (from: Place, ref: string) => Place };

// The time to compile grows with both numbers, faster than linearly.
export const mostSchemas = 1000;
const mostVariants = 200;

/** The address of schemas without `$id`. */
const nowhere = 'schema:/';

type OnPattern = (text: string, path: string) => void;

/**
 * Finds the schemas in a document and calls `onPattern` for each regular expression. Throws `SchemaError` for references
 * that leave the document or have no target.
 */
export const placesIn = (document: unknown, dialect: Dialect, onPattern: OnPattern): Places => {
  const places = new Map<string, Place>();
  const resources = new Map<string, Resource>();
  const open = opener(resources);
  const references: { readonly from: Place; readonly ref: string }[] = [];

  const visit = (schema: unknown, at: string, around: Resource): Place => {
    if (typeof schema === 'boolean') return notePlace({ at, schema, resource: around, held: [] });
    if (!isObject(schema)) throw new SchemaError(`${at} is no schema`);
    requireKnown(schema, at, dialect);
    // In draft-07 no keyword beside a `$ref` counts, not even `$id`.
    const alone = dialect.besideRef === 'nothing' && '$ref' in schema;
    const [address = '', fragment = ''] = typeof schema.$id === 'string' && !alone ? schema.$id.split('#', 2) : [];
    const resource = address === '' ? around : open.at(resolved(address, around.base), at);
    const held: Held[] = [];
    const place = notePlace({ at, schema, resource, held });
    if (!alone) nameIn(resource, place, fragment);
    tellPatterns(schema, at, onPattern);
    for (const ref of [schema.$ref, schema.$dynamicRef])
      if (typeof ref === 'string') references.push({ from: place, ref });
    for (const { keyword, form, members } of heldBy(schema, dialect)) {
      if (form === 'list' && members.length > mostVariants)
        throw new SchemaError(`${at}/${keyword} may list ${mostVariants} schemas; many constants belong into one enum`);
      const within = `${at}/${escaped(keyword)}`;
      const atOf = (name: string): string => (form === 'one' ? within : `${within}/${escaped(name)}`);
      const places = members.map(([name, member]) => [name, visit(member, atOf(name), resource)] as const);
      held.push({ keyword, form, places });
    }
    return place;
  };
  const notePlace = (place: Place): Place => {
    if (places.set(place.at, place).size > mostSchemas)
      throw new SchemaError(`A schema may have ${mostSchemas} schemas within`);
    return place;
  };

  const resourceAt = (address: string): Resource | undefined => {
    if (open.isShared(address)) throw new SchemaError(`Two schemas have the $id ${JSON.stringify(address)}`);
    const definition = definitions.get(address);
    if (definition && !resources.has(address))
      visit(definition, `${address}#`, { base: address, root: '', anchors: new Map(), dynamic: new Map() });
    return resources.get(address);
  };
  const target = ({ resource: own }: Place, ref: string): Place => {
    const [address = '', fragment = ''] = ref.split('#', 2);
    const resource = address === '' ? own : resourceAt(resolved(address, own.base));
    if (!resource) throw badReference(ref, 'leaves the schema; only references within it are followed');
    const found = placeNamed(decoded(fragment) ?? fragment, resource, places);
    if (!found) throw badReference(ref, 'names no schema; definitions belong into $defs or definitions');
    return found;
  };

  const root = visit(document, '', open.at(nowhere, ''));
  for (const { from, ref } of references) target(from, ref);
  return { root, target };
};

/** Opens schemas with an address. An address that two of them have names neither: only a reference to it is a fault. */
const opener = (resources: Map<string, Resource>) => {
  const shared = new Set<string>();
  return {
    at: (base: string, root: string): Resource => {
      const resource = { base, root, anchors: new Map(), dynamic: new Map() };
      if (resources.has(base)) shared.add(base);
      resources.set(base, resource);
      return resource;
    },
    isShared: (base: string): boolean => shared.has(base),
  };
};

const tellPatterns = ({ pattern, patternProperties }: Json, at: string, onPattern: OnPattern): void => {
  if (typeof pattern === 'string') onPattern(pattern, `${at}/pattern`);
  if (isObject(patternProperties))
    for (const text of Object.keys(patternProperties)) onPattern(text, `${at}/patternProperties`);
};

const badReference = (ref: string, what: string): SchemaError => new SchemaError(`$ref ${JSON.stringify(ref)} ${what}`);

/** The place that the fragment of a reference names: a JSON pointer or an anchor. */
const placeNamed = (name: string, { root, anchors }: Resource, places: ReadonlyMap<string, Place>) =>
  name === '' || name.startsWith('/') ? places.get(root + name) : anchors.get(name);

const requireKnown = ({ $schema, $id, $ref, $recursiveRef, $dynamicRef }: Json, at: string, dialect: Dialect): void => {
  const refuse = (keyword: string, why: string): never => {
    throw new SchemaError(`${at}/${keyword} ${why}`);
  };
  if ($recursiveRef !== undefined) refuse('$recursiveRef', 'is not supported');
  if ($dynamicRef !== undefined && dialect.besideRef === 'nothing') refuse('$dynamicRef', 'is not known in draft-07');
  if ($id !== undefined && $ref !== undefined && dialect.besideRef === 'noId')
    refuse(
      '$id',
      'beside a $ref says nothing in draft-07, and does in 2020-12: the schema must say which it is in $schema',
    );
  const isWithin = at.startsWith('/');
  if (isWithin && $schema !== undefined && dialectOf($schema) !== dialect)
    refuse('$schema', 'must be that of the whole schema');
};

const nameIn = ({ anchors, dynamic }: Resource, place: Place, fragment: string): void => {
  if (typeof place.schema === 'boolean') return;
  const { $anchor, $dynamicAnchor } = place.schema;
  for (const name of [fragment, $anchor, $dynamicAnchor]) {
    if (typeof name !== 'string' || name === '') continue;
    if (anchors.has(name)) throw new SchemaError(`Two schemas are called ${JSON.stringify(`#${name}`)}`);
    anchors.set(name, place);
  }
  if (typeof $dynamicAnchor === 'string') dynamic.set($dynamicAnchor, place);
};

const heldBy = (schema: Json, { schemas, maps }: Dialect) => {
  const held: {
    readonly keyword: string;
    readonly form: Held['form'];
    readonly members: readonly (readonly [string, unknown])[];
  }[] = [];
  for (const keyword of schemas) {
    const value = own(schema, keyword);
    if (Array.isArray(value))
      held.push({ keyword, form: 'list', members: value.map((member, i) => [String(i), member]) });
    else if (value !== undefined) held.push({ keyword, form: 'one', members: [[keyword, value]] });
  }
  for (const keyword of maps) {
    const value = own(schema, keyword);
    // In `dependencies` a member may be a list of names instead of a schema.
    if (isObject(value))
      held.push({
        keyword,
        form: 'map',
        members: Object.entries(value).filter(([, member]) => !Array.isArray(member)),
      });
  }
  return held;
};

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

const resolved = (address: string, base: string): string => {
  if (!URL.canParse(address, base)) throw new SchemaError(`${JSON.stringify(address)} is no address of a schema`);
  return new URL(address, base).href;
};
