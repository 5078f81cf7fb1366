import { isObject, type Members, own } from '@automation-platform/json';
import { dialectOf } from './dialects.ts';

/** The facts of a schema about the top-level members of every object that fits it. */
export type Pinned = {
  /** Members that such an object must have, each with the only values that it may have there. */
  readonly members: ReadonlyMap<string, readonly unknown[]>;
  /** True if nothing but objects fits. */
  readonly onlyObjects: boolean;
};

type Found = { readonly required: Set<string>; readonly constants: Map<string, readonly unknown[]>; objects: boolean };

const mostLevels = 32;

/**
 * The members that a schema requires and pins by `const` or `enum`, also within `allOf`. Other members may be pinned as
 * well, such as by a reference: what is found always holds, but it need not be all.
 */
export const pinnedIn = (schema: unknown): Pinned => {
  const found: Found = { required: new Set(), constants: new Map(), objects: false };
  const besideRef = besideRefIn(schema);
  if (besideRef !== undefined) look(schema, besideRef, { found, levels: mostLevels });
  return {
    members: new Map([...found.constants].filter(([name]) => found.required.has(name))),
    onlyObjects: found.objects,
  };
};

/** True if what stands beside a `$ref` counts; undefined for a schema of no dialect that is known. */
const besideRefIn = (schema: unknown): boolean | undefined => {
  try {
    return dialectOf(isObject(schema) ? own(schema, '$schema') : undefined).besideRef !== 'nothing';
  } catch {
    return undefined;
  }
};

const look = (schema: unknown, besideRef: boolean, to: { readonly found: Found; readonly levels: number }): void => {
  if (!speaks(schema, besideRef) || to.levels === 0) return;
  const { found, levels } = to;
  if (own(schema, 'type') === 'object') found.objects = true;
  for (const name of list(own(schema, 'required'))) if (typeof name === 'string') found.required.add(name);
  const properties = own(schema, 'properties');
  for (const [name, member] of isObject(properties) ? Object.entries(properties) : []) {
    const constants = constantsIn(member, besideRef, levels - 1);
    const constantValues = found.constants.get(name);
    if (constants && (!constantValues || constants.length < constantValues.length))
      found.constants.set(name, constants);
  }
  for (const part of list(own(schema, 'allOf'))) look(part, besideRef, { found, levels: levels - 1 });
};

/** Values one of which a fitting value equals; undefined if the schema lists none. */
const constantsIn = (schema: unknown, besideRef: boolean, levels: number): readonly unknown[] | undefined => {
  if (!speaks(schema, besideRef) || levels === 0) return undefined;
  if (Object.hasOwn(schema, 'const')) return [schema.const];
  const values = own(schema, 'enum');
  if (Array.isArray(values)) return values;
  for (const part of list(own(schema, 'allOf'))) {
    const constants = constantsIn(part, besideRef, levels - 1);
    if (constants) return constants;
  }
  return undefined;
};

/** True if the keywords of the schema count: beside a `$ref` of draft-07 none does. */
const speaks = (schema: unknown, besideRef: boolean): schema is Members =>
  isObject(schema) && (besideRef || !Object.hasOwn(schema, '$ref'));

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
