import { type Static, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';

const type = Type.Enum(['jinja2', 'textfsm'], { description: 'jinja2: can be rendered; textfsm: kept only' });

const members = {
  name: name('Name, unique among templates'),
  type,
  template: Type.String({ description: 'Text of the template; whether it parses shows when it is rendered' }),
  description: Type.String({ description: 'What it is for' }),
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
export type TemplateContent = Static<typeof content>;

export const newTemplateSchema = Type.Object(
  { name: nameMember, template, ...optional },
  { additionalProperties: false, title: 'NewTemplate', description: 'New template' },
);

/**
 * A change of a template. Omitted fields stay as they are. Id, times and authors are accepted and ignored, so that
 * clients can send a copy.
 */
export const templatePatchSchema = Type.Object(
  { _id: id, ...Type.Partial(Type.Object(members)).properties, ...authored },
  { additionalProperties: false, title: 'TemplatePatch', description: 'What changes of a template' },
);

/** A template in an import: with its id, times and authors. */
export const templateDocumentSchema = Type.Object(
  { _id: id, name: nameMember, template, ...optional, ...authored },
  { additionalProperties: false, title: 'TemplateDocument', description: 'Template as it was read' },
);
export type TemplateDocument = Static<typeof templateDocumentSchema>;

/** A template in answers. */
export const templateSchema = Type.Object(
  { _id: objectId('Id'), ...members, ...authored },
  { title: 'Template', description: 'Template' },
);
