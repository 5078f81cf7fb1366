import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { createToken as create, deleteToken } from '../../commands/authorization/tokens.ts';
import { tokenText } from '../../commands/authorization/tokenTexts.ts';
import { newTokenSchema } from '../../domain/authorization/tokens.ts';
import { time } from '../../domain/engine/authors.ts';
import { type Token, tokens } from '../../projections/authorization/tokens.ts';
import { readableDocuments } from '../../projections/engine/documents.ts';
import { inventories } from '../../projections/inventory-manager/inventories.ts';
import { withStatus } from '../engine/envelopes.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import { people } from './people.ts';

const tokenSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the token, which events name' }),
    name: newTokenSchema.properties.name,
    account: Type.String({ description: 'Username of its account' }),
    methods: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The only methods that it may call; null: all that its account may call',
    }),
    inventories: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Names of the only inventories that are there for it; null: all that its account sees',
    }),
    created: time('When it was made'),
    expires: time('When it ends'),
    lastUsed: Type.Union([Type.Object({ day: Type.String(), address: Type.String() }), Type.Null()], {
      description: 'The day of its last use, and from where; null: none yet. It may be an hour old',
    }),
  },
  { title: 'Token', description: 'Token of a script, worker or service; its text is never shown again' },
);
const newSchema = Type.Object(
  {
    ...tokenSchema.properties,
    token: Type.Optional(Type.String({ description: 'Its text, this once: a repeated request does not have it' })),
  },
  { title: 'CreatedToken', description: 'Token that was just made' },
);

/** A token with names in the place of ids. */
const withNames: Join<Token> = async (doc, { model }, { actor }) => {
  const visibleInventories = await readableDocuments(model, inventories, doc.inventories ?? [], actor);
  return {
    ...doc,
    account: (await people(model, [doc.account])).get(doc.account)?.username ?? doc.account,
    inventories:
      doc.inventories && doc.inventories.map((id) => visibleInventories.find((one) => one._id === id)?.name ?? id),
  };
};

const envelope = withStatus(() => 'Successfully created token');
const path = '/tokens/:id';

/** The caller's own tokens; admins see all, and make those of service accounts. */
export const tokenRoutes: readonly Route[] = [
  listRoute({
    name: 'getTokens',
    path: '/tokens',
    access: 'login',
    summary: "List one's own tokens; admins: all",
    list: tokens,
    join: withNames,
    answer: listed(tokenSchema),
  }),
  actionRoute({
    name: 'createToken',
    method: 'post',
    path: '/tokens',
    access: 'login',
    summary: 'Make a token for scripts, workers and services',
    description:
      'It is sent as Authorization: Bearer, has the rights of its account, and ends on its date, with its account or by ' +
      'deleteToken. Its text is in this answer alone. A token makes no token, and neither does an access token of an issuer.',
    body: newTokenSchema,
    answer: changed(newSchema),
    run: async (call, service) => {
      const about = requestOf('createToken', call, service);
      const id = newId(about.idempotency?.key);
      const secret = randomBytes(32).toString('base64url');
      const result = await service.handle(create, { ...about, id, input: { ...call.body, secret } });
      const doc = await withNames(result.doc as Token, service, call);
      const answer = result.replayed ? doc : { ...(doc as object), token: tokenText(id, secret) };
      const { position, replayed } = result;
      return {
        text: envelope(JSON.stringify(answer), result),
        headers: { 'Cache-Control': 'no-store' },
        position,
        replayed,
      };
    },
  }),
  getRoute({
    name: 'getToken',
    path,
    access: 'login',
    summary: 'Get a token, without its text',
    get: tokens,
    key: ({ id }) => id,
    join: withNames,
    answer: tokenSchema,
  }),
  commandRoute({
    name: 'deleteToken',
    method: 'delete',
    path,
    access: 'login',
    summary: 'End a token',
    description: 'It is refused from now on, on all nodes.',
    command: deleteToken,
    key: ({ id }) => id,
    join: withNames,
    envelope: withStatus(() => 'Successfully deleted token'),
    answer: changed(tokenSchema),
  }),
];
