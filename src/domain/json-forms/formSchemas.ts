import { type Static, Type } from 'typebox';
import { authoredByPeople, time } from '../engine/authors.ts';
import type { SchemaData } from '../engine/core.ts';
import { namespaceSchema } from '../engine/namespaces.ts';
import { name } from '../engine/schemas.ts';
import { structSchema } from './formStructs.ts';

const any = (description: string) => Type.Unknown({ description: `${description}: any JSON, kept as given` });
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const number = (description: string) => Type.Optional(Type.Number({ description }));
const schemas = (description: string) => Type.Optional(Type.Array(Type.Any(), { description }));

/** `schema` of a form: a JSON Schema with a type and a title. */
const inputSchema = Type.Object(
  {
    type: Type.String({ description: 'Type of the values' }),
    title: Type.String({ description: 'Title' }),
    _id: Type.Optional(Type.String({ description: 'Id' })),
    description: Type.Optional(Type.String({ description: 'Its purpose' })),
    uniqueItems: flag('True: no item may come twice'),
    minItems: number('Least number of items'),
    maxItems: number('Most items'),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Members that must be there' })),
    readOnly: flag('True: it is only shown'),
    options: Type.Optional(Type.Any({ description: 'Kept as given' })),
    properties: Type.Optional(Type.Any({ description: 'Schemas of the members' })),
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
  description: Type.Union([Type.String(), Type.Null()], { description: 'Its purpose' }),
  struct: structSchema,
  schema: inputSchema,
  uiSchema: any('How the form is shown'),
  validationSchema: any('Further checks'),
  bindingSchema: any('Where choices come from'),
  version: Type.String({ description: 'Version' }),
  tags: Type.Array(Type.Any(), { description: 'Tags' }),
  namespace: Type.Union([namespaceSchema, Type.Null()], { description: 'Project that it belongs to' }),
};
const optional = Type.Partial(Type.Object(members)).properties;

const author = (description: string) => Type.String({ description });
const who = {
  created: time('When it was made'),
  createdBy: author('The account that created it'),
  lastUpdated: time('When it was last changed'),
  lastUpdatedBy: author('The account that changed it last'),
};
const signed = Type.Partial(Type.Object(who)).properties;
const ids = { _id: Type.Optional(name('Id')), id: Type.Optional(name('The same as _id')) };

/** The content of a form with defaults, without id, times and authors. Numbers may have marks (formDocuments.ts). */
const content = Type.Object(members);
export type FormContent = SchemaData<typeof content>;

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
    description: 'Changes of a form; named by _id or id, else by its name',
  },
);

const textTime = (description: string) =>
  Type.Optional(Type.String({ description: `${description}. A text that is no time in ISO 8601 is only kept` }));

/** A form in an import: with its id, times and authors, and maybe with members that the service does not know. */
export const formDocumentSchema = Type.Object(
  {
    _id: Type.Optional(Type.String({ description: 'Id' })),
    id: Type.Optional(Type.String({ description: 'Id of a form without _id' })),
    ...optional,
    name: members.name,
    ...authoredByPeople,
    created: textTime('When it was made'),
    lastUpdated: textTime('When it was last changed'),
  },
  { title: 'FormDocument', description: 'Form of any installation' },
);
export type FormDocument = Static<typeof formDocumentSchema>;

/** A form in answers. */
export const formSchema = Type.Object(
  { _id: name('Id'), id: name('The same'), ...members, ...who },
  { title: 'Form', description: 'Form' },
);
