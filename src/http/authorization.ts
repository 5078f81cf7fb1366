import { Type } from 'typebox';
import { setPassword } from '../commands/accounts.ts';
import { passwordSchema } from '../domain/accounts.ts';
import { Refusal } from '../domain/refusal.ts';
import { accountRows } from './accounts.ts';
import { results } from './envelopes.ts';
import { groupRows } from './groups.ts';
import { loginRows } from './login.ts';
import { callable, methodIndex, methodList } from './methods.ts';
import { roleRows } from './roles.ts';
import type { ActionRow, AreaRows } from './route.ts';
import { listed } from './schemas.ts';
import { queryOf, requestOf } from './serve.ts';

const methodSchema = Type.Object({
  name: Type.String(),
  provenance: Type.String({ description: 'Area' }),
  route: Type.Object({
    path: Type.String({ description: 'Within the area' }),
    verb: Type.String(),
    fullPath: Type.String(),
  }),
}, { title: 'Method', description: 'Authorization method' });

/** Operation 1: the route table itself. `areas` gives all rows once the table is complete. */
const getMethods = (areas: () => readonly AreaRows[]): ActionRow => {
  let index: ReturnType<typeof methodIndex> | undefined;
  const row: ActionRow = {
    name: 'getMethods', method: 'get', path: '/methods', reading: true, summary: 'List authorization methods',
    list: methodList, answer: listed(methodSchema),
    run: async ({ querystring }) => {
      index ??= methodIndex(areas());
      const page = queryOf(row)(querystring).page!;
      const { entries, total } = index.page(page);
      return { text: results(entries.map(({ text }) => text), { ...page, total }) };
    },
  };
  return row;
};

const whoami = (areas: () => readonly AreaRows[]): ActionRow => ({
  name: 'whoami', method: 'get', path: '/whoami', reading: true, access: 'login', summary: 'Who is calling, and what they may call',
  answer: Type.Object({
    id: Type.String(), username: Type.String(), provenance: Type.String(), firstname: Type.String(),
    groups: Type.Array(Type.Object({ name: Type.String(), provenance: Type.String() })),
    roles: Type.Array(Type.String()),
    methods: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Names of the methods that may be called, by area' }),
  }),
  run: async ({ principal }) => {
    const { actor: { id, username, provenance }, firstname, groups, roles } = principal!;
    return { body: { id, username, provenance, firstname, groups, roles, methods: callable(areas(), principal!) } };
  },
});

const changePassword: ActionRow = {
  name: 'changePassword', method: 'post', path: '/whoami/password', access: 'login', summary: 'Change one\'s own password',
  description: 'Ends all logins of the account. A wrong old password is 403 and counts as a failed login.',
  body: Type.Object({ old: Type.String({ description: 'The password so far', maxLength: 1024 }), new: passwordSchema }, { additionalProperties: false }),
  answer: Type.Object({ status: Type.Literal('OK'), message: Type.String(), data: Type.Null() }),
  run: async (call, service) => {
    const { actor, address, body } = call;
    const about = requestOf('changePassword', call, service);
    await service.auth.verify({ username: actor.username, password: body.old }, address).catch((error) => {
      throw error instanceof Refusal && error.code === 'unauthenticated' ? new Refusal('forbidden', 'The old password is wrong', { path: '/old' }) : error;
    });
    const { position, replayed } = await service.handle(setPassword, { ...about, id: actor.id, input: { password: body.new } });
    return { body: { status: 'OK', message: 'Successfully changed password', data: null }, position, replayed };
  },
};

/** Authorization: api.md, operation 1, and its neighbours. `areas` gives all rows once the table is complete. */
export const authorizationRows = (areas: () => readonly AreaRows[]): AreaRows => ({
  area: 'authorization',
  prefix: '/authorization',
  rows: [getMethods(areas), whoami(areas), changePassword, ...loginRows, ...accountRows, ...groupRows, ...roleRows],
});
