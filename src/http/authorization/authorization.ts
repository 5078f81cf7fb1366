import { Type } from 'typebox';
import { results } from '../engine/envelopes.ts';
import type { ActionRow, AreaRows } from '../engine/route.ts';
import { actionRow } from '../engine/rows.ts';
import { listed } from '../engine/schemas.ts';
import { listQueryOf } from '../engine/rowQuery.ts';
import { accountRows } from './accounts.ts';
import { groupRows } from './groups.ts';
import { loginRows } from './login.ts';
import { methodIndex, methodList } from './methods.ts';
import { roleRows } from './roles.ts';
import { whoamiRows } from './whoami.ts';

const methodSchema = Type.Object(
  {
    name: Type.String(),
    provenance: Type.String({ description: 'Area' }),
    route: Type.Object({
      path: Type.String({ description: 'Within the area' }),
      verb: Type.String(),
      fullPath: Type.String(),
    }),
    deprecated: Type.Boolean({ description: 'Whether it may go in a later version' }),
  },
  { title: 'Method', description: 'Authorization method' },
);

/** Operation 1: the route table itself. `areas` gives all rows once the table is complete. */
const getMethods = (areas: () => readonly AreaRows[]): ActionRow => {
  let index: ReturnType<typeof methodIndex> | undefined;
  let parse: ReturnType<typeof listQueryOf> | undefined;
  return actionRow({
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

/** Accounts, groups, roles, methods, logins. `areas` gives all rows once the table is complete. */
export const authorizationRows = (areas: () => readonly AreaRows[]): AreaRows => ({
  area: 'authorization',
  prefix: '/authorization',
  rows: [getMethods(areas), ...whoamiRows(areas), ...loginRows, ...accountRows, ...groupRows, ...roleRows],
});
