import { type Static, Type } from 'typebox';
import { objectId, time } from '../engine/authors.ts';
import { namespaceSchema } from '../engine/namespaces.ts';
import { name } from '../engine/schemas.ts';
import { structSchema } from './formStructs.ts';

const opaque = (description: string) =>
  Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], { description });
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const number = (description: string) => Type.Optional(Type.Number({ description }));
const schemas = (description: string) => Type.Optional(Type.Array(Type.Any(), { description }));

/** `schema` of a form: a JSON Schema with a type and a title. */
const inputSchema = Type.Object(
  {
    type: Type.String({ description: 'Type of the values' }),
    title: Type.String({ description: 'Title' }),
    _id: Type.Optional(Type.String({ description: 'Id' })),
    description: Type.Optional(Type.String({ description: 'What it is for' })),
    uniqueItems: flag('Whether no item may come twice'),
    minItems: number('Least number of items'),
    maxItems: number('Most items'),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Members that must be there' })),
    readOnly: flag('Whether it is only shown'),
    options: Type.Optional(Type.Any({ description: 'Kept as given' })),
    properties: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'Schemas of the members' })),
    items: Type.Optional(Type.Any({ description: 'Schema of the items' })),
    anyOf: schemas('Schemas of which one or more must fit'),
    oneOf: schemas('Schemas of which exactly one must fit'),
    allOf: schemas('Schemas which all must fit'),
  },
  {
    additionalProperties: true,
    title: 'FormInputSchema',
    description: 'JSON Schema, draft-07 or 2020-12, without remote references, that input must fit',
  },
);

const members = {
  name: name('Name, unique among forms'),
  description: Type.Union([Type.String(), Type.Null()], { description: 'What it is for' }),
  struct: structSchema,
  schema: inputSchema,
  uiSchema: opaque('How the form is shown, kept as given'),
  validationSchema: Type.Unknown({ description: 'Further checks: any JSON, kept as given' }),
  bindingSchema: opaque('Where choices come from, kept as given'),
  version: Type.String({ maxLength: 256, description: 'Version' }),
  tags: Type.Array(Type.Any(), { maxItems: 1000, description: 'Tags' }),
  namespace: Type.Union([namespaceSchema, Type.Null()], { description: 'Project that it belongs to' }),
};
const optional = Type.Partial(Type.Object(members)).properties;
const author = (description: string) => Type.String({ description });
const who = {
  created: time('When it was made'),
  createdBy: author('Who made it'),
  lastUpdated: time('When it was last changed'),
  lastUpdatedBy: author('Who last changed it'),
};
const signed = Type.Partial(Type.Object(who)).properties;
const ids = { _id: Type.Optional(objectId('Id')), id: Type.Optional(objectId('The same as _id')) };

/** The content of a form with defaults, without id, times and authors. */
const content = Type.Object(members);
export type FormContent = Static<typeof content>;

/** A form in a create request. Times and authors are accepted and ignored, so that clients can send a copy. */
export const newFormSchema = Type.Object(
  { ...optional, name: members.name, ...signed },
  { additionalProperties: false, title: 'NewForm', description: 'New form' },
);

/** A change of a form. `_id` or `id`, or else the name, identifies the form. Omitted fields stay as they are. */
export const formPatchSchema = Type.Object(
  { ...ids, ...optional, ...signed },
  {
    additionalProperties: false,
    title: 'FormPatch',
    description: 'What changes of a form; named by _id or id, else by its name',
  },
);

/** A form in an import: with its id, times and authors. */
export const formDocumentSchema = Type.Object(
  { ...ids, ...optional, name: members.name, ...signed },
  { additionalProperties: false, title: 'FormDocument', description: 'Form as it was read' },
);
export type FormDocument = Static<typeof formDocumentSchema>;

/** A form in answers. */
export const formSchema = Type.Object(
  { _id: objectId('Id'), id: objectId('The same'), ...members, ...who },
  { title: 'Form', description: 'Form' },
);
