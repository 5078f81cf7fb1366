import { Type } from 'typebox';
import type { Followed } from './core.ts';

/** The words before the names of a project's components. */
export const prefixOf = (id: string): string => `@${id}: `;

/** The name without the project that it begins with. */
export const nameInProject = (name: string): string => name.replace(/^@[^:]+: /, '');

/** The id of the project that a name begins with; undefined: it begins with none. */
export const projectInName = (name: string | undefined): string | undefined =>
  /^@([0-9a-f]{24}): /.exec(name ?? '')?.[1];

/** The project that a resource of this name follows. */
export const followsProject = (name: string | undefined): Followed | undefined => {
  const id = projectInName(name);
  return id === undefined ? undefined : { category: 'project', id };
};

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

/** The project that a document belongs to, stored as sent. */
export const namespaceSchema = Type.Object(
  {
    type: Type.Optional(Type.Any({ description: 'Kind of namespace' })),
    _id: Type.Optional(Type.String({ description: 'Id' })),
    name: Type.Optional(Type.String({ description: 'Name' })),
    accessControl: Type.Optional(
      Type.Object(
        {
          read: texts('Accounts and groups that may read'),
          execute: texts('Accounts and groups that may run'),
          write: texts('Accounts and groups that may change'),
          manage: texts('Accounts and groups that may manage'),
        },
        { additionalProperties: true, description: 'Rights within it' },
      ),
    ),
  },
  { additionalProperties: true, title: 'Namespace', description: 'Project that it belongs to' },
);
