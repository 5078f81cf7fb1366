import { type Static, type TSchema, Type } from 'typebox';
import { authored, authoredByPeople, objectId } from '../engine/authors.ts';
import type { SchemaData } from '../engine/core.ts';
import { asWritten, ifItFits, lenient, partsBy } from '../engine/lenientSchemas.ts';
import { name } from '../engine/schemas.ts';

const types = ['jinja2', 'textfsm'] as const;
export const isTemplateType = (type: string): boolean => types.some((name) => name === type);

const members = {
  name: name('Name, unique among templates'),
  type: Type.String({
    description:
      'jinja2: can be rendered; textfsm: kept only; a template of another installation may have others, likewise',
  }),
  template: Type.String({ description: 'Text of the template; whether it parses shows when it is rendered' }),
  description: Type.String({ description: 'Its purpose' }),
  command: Type.String({ description: 'Command whose output it is about' }),
  data: Type.Union(
    [Type.Null(), Type.String(), Type.Object({}, { additionalProperties: true }), Type.Array(Type.Any())],
    { description: 'Sample data to try it with, kept as given' },
  ),
  group: Type.String({ description: 'Group that it is shown in' }),
  tags: Type.Array(Type.Any(), { maxItems: 1000, description: 'Tags' }),
};
const { name: nameMember, template, ...rest } = members;
const optional = Type.Partial(Type.Object(rest)).properties;
const id = Type.Optional(objectId('Id'));

/** The content of a template with defaults, without id, times and authors. */
const content = Type.Object(members);
export type TemplateContent = SchemaData<typeof content>;

export const newTemplateSchema = Type.Object(
  {
    name: nameMember,
    template,
    ...optional,
    type: Type.Optional(Type.Enum([...types], { description: 'jinja2: can be rendered; textfsm: kept only' })),
  },
  { additionalProperties: false, title: 'NewTemplate', description: 'New template' },
);

/**
 * A change of a template. Omitted fields stay as they are. Id, times and authors are accepted and ignored, so that
 * clients can send a copy.
 */
export const templatePatchSchema = Type.Object(
  { _id: id, ...Type.Partial(Type.Object(members)).properties, ...authored },
  { additionalProperties: false, title: 'TemplatePatch', description: 'Changes of a template' },
);

const loose = <S extends TSchema>(schema: S): S => ({ ...schema, [ifItFits]: true });
const strictDocument = Type.Object(
  {
    _id: Type.Optional(loose(objectId('Id'))),
    name: nameMember,
    template,
    type: optional.type,
    description: Type.Optional(loose(members.description)),
    command: Type.Optional(loose(members.command)),
    data: Type.Optional({ ...loose(members.data), [asWritten]: true }),
    group: Type.Optional(loose(members.group)),
    tags: Type.Optional(loose(members.tags)),
    ...authoredByPeople,
    created: Type.Optional(loose(authored.created)),
    lastUpdated: Type.Optional(loose(authored.lastUpdated)),
  },
  { additionalProperties: false, title: 'TemplateDocument', description: 'Template of any installation' },
);

/** A template in an import: with its id, times and authors. */
export const templateDocumentSchema = lenient(strictDocument);
export type TemplateDocument = Static<typeof templateDocumentSchema>;

/** Takes an imported document apart. */
export const templateParts = partsBy(strictDocument);

/** A template in answers. */
export const templateSchema = Type.Object(
  { _id: objectId('Id'), ...members, ...authored },
  { title: 'Template', description: 'Template' },
);
