import type { Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';

const text = (description: string) => Type.String({ description });
const optional = (description: string) => Type.Optional(text(description));

/** Types of components, and the types that the same documents have in packages. */
const componentTypes: ReadonlyMap<string, string> = new Map([
  ['workflow', 'workflow'],
  ['template', 'template'],
  ['transformation', 'transformation'],
  ['jsonForm', 'json-forms'],
  ['mopCommandTemplate', 'mop-template'],
  ['mopAnalyticTemplate', 'mop-analytic-template'],
]);

/** The type that documents of a type of components have in packages; undefined: only the project keeps them. */
export const bundleTypeOf = (type: string): string | undefined => componentTypes.get(type);

/** A component of a project in an import: the members around the document are kept. */
const importedComponentSchema = Type.Object(
  {
    type: Type.String({ maxLength: 256, description: `Its kind: ${[...componentTypes.keys()].join(', ')}` }),
    document: Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description: 'The document' })),
  },
  { additionalProperties: true, title: 'ImportedComponent', description: 'Component of a project' },
);

/** A project of any installation. All its members are kept. */
export const projectDocumentSchema = Type.Unsafe<ProjectDocument>(
  Type.Object(
    {
      name: name('Name'),
      components: Type.Array(importedComponentSchema, { maxItems: 10_000, description: 'Its documents' }),
    },
    { additionalProperties: true, title: 'ProjectDocument', description: 'Project with its components' },
  ),
);
export type ProjectDocument = Members & {
  readonly name: string;
  readonly components: readonly ComponentDocument[];
};
export type ComponentDocument = Members & { readonly type: string; readonly document: Members };

const about = {
  name: name('Name'),
  description: text('Its purpose'),
  thumbnail: text('Picture, as a data URL'),
  backgroundColor: text('Colour behind the picture'),
};
const { name: named, ...others } = about;

export const memberRoles = ['owner', 'editor', 'operator', 'viewer'] as const;

/** A member in requests: an account or group that is here. Further members of other programs are kept. */
const memberSchema = Type.Object(
  {
    type: Type.Enum(['account', 'user', 'group'], { description: 'Kind of the member; user means account' }),
    reference: optional('Id'),
    username: optional('Username of an account'),
    name: optional('Name of a group, or username'),
    provenance: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Where it comes from' })),
    role: Type.Enum([...memberRoles], {
      description:
        'Rights: a viewer reads, an operator runs the components as well, an editor changes them, an owner ' +
        'changes the project and its members',
    }),
  },
  { additionalProperties: true, title: 'ProjectMember', description: 'Member of a project' },
);

const members = Type.Optional(
  Type.Array(memberSchema, {
    maxItems: 1000,
    description: 'Members and their rights; empty: whoever may call the methods',
  }),
);

/** A project that is made by hand. */
export const newProjectSchema = Type.Object(
  {
    name: named,
    ...Type.Partial(Type.Object(others)).properties,
    components: Type.Optional(
      Type.Array(Type.Unknown(), { maxItems: 0, description: 'Empty: imports bring components' }),
    ),
  },
  { additionalProperties: false, title: 'NewProject', description: 'Project to make' },
);
export type NewProject = Static<typeof newProjectSchema>;

export const projectPatchSchema = Type.Object(
  { ...Type.Partial(Type.Object(about)).properties, members },
  { additionalProperties: false, title: 'ProjectPatch', description: 'Changes of a project' },
);
export type ProjectPatch = Static<typeof projectPatchSchema>;

const component = {
  type: text('Its kind'),
  reference: optional('Its id here'),
  iid: Type.Optional(Type.Integer({ description: 'Its number in the project' })),
  folder: optional('Folder of the project'),
};

const projectMembers = {
  _id: objectId('Id'),
  name: text('Name'),
  members: Type.Array(
    Type.Object(
      {
        type: text('account or group'),
        reference: text('Id'),
        provenance: text('Where it comes from'),
        username: optional('Username, of an account'),
        name: text('Name'),
        role: text('Rights of the member'),
      },
      { title: 'ShownMember', description: 'Member who is here' },
    ),
    { description: 'Members and their rights; empty: whoever may call the methods' },
  ),
  ...authored,
};

/** A project in lists. */
export const projectSummarySchema = Type.Object(
  {
    ...projectMembers,
    components: Type.Array(
      Type.Object(component, { additionalProperties: true, title: 'ComponentSummary', description: 'Component' }),
      { description: 'Its components' },
    ),
  },
  { additionalProperties: true, title: 'ProjectSummary', description: 'Project without its documents' },
);

export const projectSchema = Type.Object(
  {
    ...projectMembers,
    components: Type.Array(
      Type.Object(
        {
          ...component,
          name: optional('Its name'),
          document: Type.Object({}, { additionalProperties: true, description: 'The document as it is now' }),
        },
        { additionalProperties: true, title: 'Component', description: 'Component as it is now' },
      ),
      { description: 'Its components' },
    ),
  },
  { additionalProperties: true, title: 'Project', description: 'Project with its components as they are now' },
);

const outcome = (title: string, more: Readonly<Record<string, ReturnType<typeof text>>>, description: string) =>
  Type.Array(
    Type.Object({ type: text('Its kind'), name: text('Its name'), ...more }, { title, description: 'Component' }),
    { description },
  );
const reason = text('Why, in a sentence');

/** The outcome of an import for its components. */
export const projectImportedSchema = Type.Object({
  total: Type.Integer({ description: 'How many components the document has' }),
  installed: outcome(
    'ComponentInstalled',
    { _id: text('Id that it has here') },
    'Components that the platform has now',
  ),
  kept: outcome('ComponentKept', { reason }, 'Components that are only stored: in the project, or outside of it'),
  failedComponents: outcome(
    'ComponentFailed',
    { code: text('Code of the error'), reason },
    'Components that stayed out',
  ),
});

/** The outcome of a deletion for the components. */
export const projectDeletedSchema = Type.Object({
  total: Type.Integer({ description: 'How many components it had' }),
  deletedComponents: outcome('ComponentDeleted', { _id: text('Id that it had') }, 'Components that were deleted'),
  kept: outcome('ComponentLeft', { reason }, 'Components that stay'),
});
