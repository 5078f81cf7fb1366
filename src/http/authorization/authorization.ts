import { Type } from 'typebox';
import { results } from '../engine/envelopes.ts';
import { listQueryOf } from '../engine/query.ts';
import type { ActionRoute, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { listed } from '../engine/schemas.ts';
import { accountRights, accountRoutes } from './accounts.ts';
import { groupRoutes } from './groups.ts';
import { loginRoutes } from './login.ts';
import { methodIndex, methodList } from './methods.ts';
import { openIdRoutes } from './openId.ts';
import { providerRoutes } from './providers.ts';
import { roleRoutes } from './roles.ts';
import { tokenRoutes } from './tokens.ts';
import { whoamiRoutes } from './whoami.ts';

const methodSchema = Type.Object(
  {
    name: Type.String(),
    provenance: Type.String({ description: 'Area' }),
    route: Type.Object({
      path: Type.String({ description: 'Within the area' }),
      verb: Type.String(),
      fullPath: Type.String(),
    }),
    deprecated: Type.Boolean({ description: 'True if it may go in a later version' }),
  },
  { title: 'Method', description: 'Authorization method' },
);

/** Operation 1 lists the table of routes itself. `areas` gives all routes once the table is complete. */
const getMethods = (areas: () => readonly AreaRoutes[]): ActionRoute => {
  let index: ReturnType<typeof methodIndex> | undefined;
  let parse: ReturnType<typeof listQueryOf> | undefined;
  return actionRoute({
    name: 'getMethods',
    method: 'get',
    path: '/methods',
    access: ['operators', 'readers'],
    summary: 'List authorization methods',
    list: methodList,
    answer: listed(methodSchema),
    run: async ({ querystring }) => {
      index ??= methodIndex(areas());
      parse ??= listQueryOf({ list: methodList });
      const { page } = parse(querystring);
      const { entries, total } = index.page(page);
      return {
        text: results(
          entries.map(({ text }) => text),
          { ...page, total },
        ),
      };
    },
  });
};

/** Accounts, groups, roles, methods, logins. `areas` gives all routes once the table is complete. */
export const authorizationRoutes = (areas: () => readonly AreaRoutes[]): AreaRoutes => ({
  area: 'authorization',
  prefix: '/authorization',
  routes: [
    getMethods(areas),
    ...whoamiRoutes(areas),
    ...loginRoutes,
    ...accountRoutes,
    accountRights(areas),
    ...groupRoutes,
    ...roleRoutes,
    ...tokenRoutes,
    ...providerRoutes,
    ...openIdRoutes,
  ],
});
