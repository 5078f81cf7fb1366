import { type TSchema, Type } from 'typebox';

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const actor = Type.Union(
  [
    Type.Object({
      id: Type.String({ description: 'Id of the account' }),
      username: Type.String({ description: 'Its name at that time' }),
      provenance: Type.String({ description: 'Where it comes from' }),
      via: Type.Optional(
        Type.String({ description: 'How the caller has shown who they are: password, cookie, token, ldap or oidc' }),
      ),
      token: Type.Optional(Type.String({ description: 'Id of the token that was sent' })),
    }),
    Type.Null(),
  ],
  { description: 'The account that did it; null: another program wrote the event' },
);

const resource = Type.Union(
  [Type.Object({ kind: Type.String({ description: 'Kind' }), id: Type.String({ description: 'Id' }) }), Type.Null()],
  { description: 'The resource it is about; null: no resource' },
);

const facts = {
  id: Type.String({ description: 'Id of the event' }),
  position: Type.Integer({ description: 'Position in the log' }),
  source: Type.String({ description: 'Source' }),
  topic: Type.String({ description: 'Topic' }),
  at: textOrNull('When it happened'),
  actor,
  resource,
  revision: Type.Integer({ description: 'Revision of the resource' }),
  correlation: textOrNull('The event that began it all'),
  causation: textOrNull('The event or request just before'),
  operation: textOrNull('Operation or reaction'),
  requestId: textOrNull('Id of the request'),
};

const data = Type.Unknown({ description: 'The data of the event; secrets are masked' });

/** A JSON Patch. */
export const patchSchema = Type.Array(
  Type.Object({
    op: Type.Enum(['add', 'remove', 'replace'], { description: 'The operation' }),
    path: Type.String({ description: 'Where: a JSON pointer' }),
    value: Type.Optional(Type.Unknown({ description: 'The new value' })),
  }),
  { description: 'The changes of the document: a JSON Patch (RFC 6902). A secret that changed is ********' },
);

export const eventSchema = Type.Object({ ...facts, data }, { title: 'AuditEvent', description: 'An event of the log' });

export const historySchema = Type.Object(
  { ...facts, patch: patchSchema },
  { title: 'HistoryEntry', description: 'An event of a resource, and what it changed' },
);

export const traceSchema = Type.Object(
  {
    ...facts,
    data,
    children: Type.Array(Type.Unknown({ description: 'The same' }), { description: 'The events that it caused' }),
  },
  { title: 'TracedEvent', description: 'An event, and the events that it caused' },
);

export const denialSchema = Type.Object(
  {
    account: textOrNull('Id of the account; null: it is not known'),
    address: textOrNull('Address of the caller'),
    operation: textOrNull('Operation; null: the path leads to none'),
    code: textOrNull('Error code; null in a row that counts all that were too many'),
    count: Type.Integer({ description: 'How many requests' }),
    first: Type.String({ description: 'Time of the first request that was counted with these' }),
    last: Type.String({ description: 'Time of the last one' }),
  },
  { title: 'Denial', description: 'Requests that were refused' },
);

export const diffSchema = Type.Object(
  {
    from: Type.Integer({ description: 'Position of the first document' }),
    to: Type.Integer({ description: 'Position of the second document' }),
    patch: patchSchema,
  },
  { title: 'Difference', description: 'The changes between two positions' },
);

/** A page of a list without a total. */
export const pageOf = (item: TSchema) =>
  Type.Object({
    results: Type.Array(item, { description: 'The newest first' }),
    cursor: textOrNull('Where the next page begins; null: this is the last one. A page before it may be short'),
  });
