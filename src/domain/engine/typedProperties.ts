import type { TSchema } from 'typebox';
import { defined } from './defined.ts';

type Schemas = Readonly<Record<string, TSchema & { readonly required?: readonly string[] | undefined }>>;

/** The schema, with the `properties` that each `type` needs. */
export const withTypedProperties = <S extends TSchema>(schema: S, propertiesOf: Schemas): S => ({
  ...schema,
  allOf: Object.entries(propertiesOf).map(([type, properties]) => ({
    if: { type: 'object', required: ['type'], properties: { type: { const: type } } },
    then: {
      type: 'object',
      properties: { properties },
      ...defined({ required: properties.required?.length ? ['properties'] : undefined }),
    },
  })),
});
