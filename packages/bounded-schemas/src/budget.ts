import { _, type Ajv, type CodeKeywordDefinition } from 'ajv';

/** Bounds the time of a check, in steps of about a tenth of a microsecond. */
export type Budget = {
  /** Runs the work with this number of steps. Returns undefined if the steps or the stack did not suffice. */
  readonly within: <T>(steps: number, work: () => T) => T | undefined;
  /** Uses up steps. Throws if none are left. */
  readonly spend: (steps: number) => void;
};

const spent = new Error('No steps left');

export const budgetOf = (): Budget => {
  let remaining = 0;
  return {
    within: (steps, work) => {
      remaining = steps;
      try {
        return work();
      } catch (error) {
        if (error === spent || error instanceof RangeError) return undefined;
        throw error;
      }
    },
    spend: (steps) => {
      remaining -= steps;
      if (remaining < 0) throw spent;
    },
  };
};

/** A keyword for schemas: each check of a value against such a schema uses up steps. */
export const costMark = { $cost: true };

/** Makes a validator use up steps for its checks. */
export const payFrom = (spend: Budget['spend'], ajv: Ajv): void => {
  const cost: CodeKeywordDefinition = {
    keyword: '$cost',
    before: '$ref',
    code: ({ gen, data, parentSchema }) => {
      const pay = gen.scopeValue('func', { ref: spend });
      const size = gen.scopeValue('func', { ref: sizeOf });
      const fixed = weightOf(parentSchema);
      gen.code(
        dependsOnSize.some((keyword) => keyword in parentSchema)
          ? _`${pay}(${fixed} + ${size}(${data}))`
          : _`${pay}(${fixed})`,
      );
    },
  };
  ajv.addKeyword(cost);
};

/** The fixed cost of one check against the schema, without its subschemas. */
const weightOf = (schema: object): number => {
  let weight = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'const' || keyword === 'enum') weight += JSON.stringify(value).length >> 4;
    else if (typeof value === 'object' && value !== null) weight += Object.keys(value).length;
  }
  return weight;
};

const dependsOnSize = [
  'minLength',
  'maxLength',
  'format',
  'const',
  'enum',
  'minProperties',
  'maxProperties',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
];

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length >> 2;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? 8 * Object.keys(value).length : 0;
};
