import { step } from '../domain/pointer.ts';
import { Refusal } from '../domain/refusal.ts';

type Node = { [keyword: string]: any }; // a JSON Schema object that a user wrote

// What each keyword holds; those in none of these lists are annotations, or unknown, and say nothing about values.
const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const schemas = words('items additionalItems contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties not if then else allOf anyOf oneOf prefixItems');
const maps = words('properties patternProperties definitions $defs dependentSchemas dependencies');
const values = words('type const enum required dependentRequired format pattern multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength maxItems minItems uniqueItems maxContains minContains maxProperties minProperties $ref $anchor');
const foreign = words('$dynamicRef $recursiveRef');
// Subschemas that look at the same value as the schema around them.
const sameValue = ['$ref', 'not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies'];

// Compiling takes a time that grows with both, faster than in proportion.
const mostSchemas = 1000;
const mostVariants = 200;

/**
 * A user's schema with nothing in it but keywords that check values, its references followed: throws `invalid` for those
 * that leave the document, lead nowhere, or come back to themselves without going into the value. `mark` is put into
 * each schema within; `pattern` is asked about each regular expression.
 */
export const schemaCopy = (schema: unknown, mark: Node, pattern: (text: string) => void): unknown => {
  const nodes = new Set<unknown>([true, false]);
  const anchors = new Map<string, Node>();

  const copy = (of: any, path: string): any => { // a user's JSON, and ours of the same form
    if (Array.isArray(of)) {
      if (of.length > mostVariants) throw new Refusal('invalid', `${path} may list ${mostVariants} schemas; many constants belong into one enum`);
      return of.map((item, i) => copy(item, path + step(i)));
    }
    if (typeof of !== 'object' || of === null) return of;
    const node: Node = {};
    if (nodes.add(node).size > mostSchemas) throw new Refusal('invalid', `A schema may have ${mostSchemas} schemas within`);
    for (const [keyword, value] of Object.entries(of as Node)) {
      const here = path + step(keyword);
      if (foreign.has(keyword) || (keyword === '$id' && path !== '')) throw new Refusal('invalid', `${here} is not supported`);
      if (values.has(keyword)) node[keyword] = value;
      if (schemas.has(keyword)) node[keyword] = copy(value, here);
      if (maps.has(keyword)) node[keyword] = Object.fromEntries(Object.entries(value as Node).map(([name, member]) => [name, isNames(member) ? member : copy(member, here + step(name))]));
    }
    for (const text of [node.pattern, ...Object.keys(node.patternProperties ?? {})]) if (text !== undefined) pattern(text);
    if (node.$anchor !== undefined) anchors.set(node.$anchor, node);
    return Object.keys(node).length > 0 ? Object.assign(node, mark) : node;
  };

  const root = copy(schema, '');

  const target = (ref: string): unknown => {
    if (!ref.startsWith('#')) throw new Refusal('invalid', `$ref ${JSON.stringify(ref)} leaves the schema; only references within it are followed`);
    const fragment = decoded(ref.slice(1));
    const found = anchors.get(fragment) ?? (/^(?:\/|$)/.test(fragment) ? at(root, fragment) : undefined);
    if (!nodes.has(found)) throw new Refusal('invalid', `$ref ${JSON.stringify(ref)} names no schema; definitions belong into $defs or definitions`);
    return found;
  };

  const done = new Set<unknown>();
  const follow = (node: unknown, above: ReadonlySet<unknown>): void => {
    if (done.has(node) || typeof node !== 'object' || node === null) return;
    if (above.has(node)) throw new Refusal('invalid', 'The schema refers to itself without an end');
    above = new Set([...above, node]);
    for (const keyword of sameValue) {
      const value = (node as Node)[keyword];
      const parts = keyword === '$ref' && value !== undefined ? [target(value)] : nodes.has(value) ? [value] : Object.values(value ?? {});
      for (const part of parts) if (nodes.has(part)) follow(part, above);
    }
    done.add(node);
  };
  for (const node of nodes) follow(node, new Set());
  return root;
};

/** Of `dependencies`: names of other members instead of a schema. */
const isNames = (value: unknown): boolean => Array.isArray(value);

const at = (value: unknown, pointer: string): unknown =>
  pointer.split('/').slice(1).reduce<any>((within, key) => { // any place in a schema
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof within === 'object' && within !== null && Object.hasOwn(within, name) ? within[name] : undefined;
  }, value);

const decoded = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};
