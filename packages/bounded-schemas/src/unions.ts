type Schema = { [keyword: string]: any }; // any JSON Schema, even a user's

// Keywords that hold data, and schemas that never cause a message.
const untouched = new Set(['const', 'enum', 'default', 'examples', 'not', 'if']);

/**
 * Rewrites a schema so that its unions first choose a variant: by JSON type, then by a member that is constant in each
 * variant. So a validator reports the faults of that variant only. The result is for messages only: a union without
 * such a difference stays as it is, and `oneOf` becomes `anyOf`.
 */
export const toldApart = <T>(schema: T): T => separate(schema) as T;

const separate = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(separate);
  if (typeof schema !== 'object' || schema === null) return schema;
  const apart: Schema = {};
  for (const [keyword, value] of Object.entries(schema))
    apart[keyword] = untouched.has(keyword) ? value : separate(value);
  for (const keyword of ['anyOf', 'oneOf']) {
    const variants: unknown = apart[keyword];
    const choice =
      Array.isArray(variants) && variants.every((variant) => typeof variant === 'object')
        ? chooseVariant(variants)
        : undefined;
    if (!choice) continue;
    delete apart[keyword];
    if (Object.keys(choice).some((other) => other in apart)) apart.allOf = [...(apart.allOf ?? []), choice];
    else Object.assign(apart, choice);
  }
  return apart;
};

const chooseVariant = (variants: readonly Schema[]): Schema | undefined =>
  variants.length > 1 ? (byValue(variants) ?? byType(variants) ?? byTag(variants)) : variants[0];

const constants = (schema: Schema | boolean | undefined): readonly unknown[] | undefined => {
  if (typeof schema !== 'object') return undefined;
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
};

const byValue = (variants: readonly Schema[]): Schema | undefined => {
  const values = variants.map(constants);
  return values.every((some) => some !== undefined) ? { enum: [...new Set(values.flat())] } : undefined;
};

const byType = (variants: readonly Schema[]): Schema | undefined => {
  const types = variants.map(typesOf);
  const all = new Set(types.flat());
  if (all.size < 2 || all.has(undefined)) return undefined;
  const choices = [...all].map((type) => {
    const possible = variants.filter((_, i) => types[i]?.includes(type));
    // If all variants are still possible, another round would never end.
    const narrower = possible.length < variants.length ? chooseVariant(possible) : undefined;
    return { if: { type }, then: narrower ?? { anyOf: possible } };
  });
  return { type: [...all], allOf: choices };
};

/** The JSON types that the schema allows; an integer counts as a number. [undefined] if they are unknown. */
const typesOf = (schema: Schema): readonly (string | undefined)[] => {
  const types: readonly unknown[] = [schema.type ?? constants(schema)?.map(typeOf)].flat();
  return types.map((type) => {
    if (type === 'integer') return 'number';
    return typeof type === 'string' ? type : undefined;
  });
};

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const byTag = (variants: readonly Schema[]): Schema | undefined => {
  const names = ['type', ...Object.keys(variants[0]?.properties ?? {})];
  for (const name of names) {
    const tags = variants.map(({ properties }) => constants(properties?.[name]));
    const all = tags.flat();
    if (tags.includes(undefined) || new Set(all).size < all.length) continue;
    const only = (values: unknown) => ({ type: 'object', required: [name], properties: { [name]: { enum: values } } });
    return { ...only(all), allOf: variants.map((variant, i) => ({ if: only(tags[i]), then: variant })) };
  }
  return undefined;
};
