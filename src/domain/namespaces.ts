import { type Static, Type } from 'typebox';

const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

/** api.md, Namespace: where a document belongs. Kept as given; access follows roles alone. */
export const namespaceSchema = Type.Object({
  type: Type.Optional(Type.Any({ description: 'What it is' })),
  _id: Type.Optional(Type.String({ description: 'Id' })),
  name: Type.Optional(Type.String({ description: 'Name' })),
  accessControl: Type.Optional(Type.Object(
    { read: names('Who reads'), execute: names('Who runs'), write: names('Who changes'), manage: names('Who manages') },
    { additionalProperties: false, description: 'Kept as given' },
  )),
}, { additionalProperties: false, title: 'Namespace', description: 'What a document belongs to' });

export type Namespace = Static<typeof namespaceSchema>;
