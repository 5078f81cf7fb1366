import type { TSchema } from 'typebox';
import { defined } from './defined.ts';

/** The schema, with the `properties` that each `type` needs; the types in `optional` may go without. */
export const withTypedProperties = <S extends TSchema>(
  schema: S,
  propertiesOf: Readonly<Record<string, TSchema>>,
  optional: readonly string[] = [],
): S => ({
  ...schema,
  allOf: Object.entries(propertiesOf).map(([type, properties]) => ({
    if: { type: 'object', required: ['type'], properties: { type: { const: type } } },
    then: {
      type: 'object',
      properties: { properties },
      ...defined({ required: optional.includes(type) ? undefined : ['properties'] }),
    },
  })),
});
