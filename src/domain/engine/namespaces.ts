import { Type } from 'typebox';

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
          read: texts('Who may read'),
          execute: texts('Who may run'),
          write: texts('Who may change'),
          manage: texts('Who may manage'),
        },
        { additionalProperties: true, description: 'Who may do what within it' },
      ),
    ),
  },
  { additionalProperties: true, title: 'Namespace', description: 'Project that it belongs to' },
);
