import { Type } from 'typebox';
import type { Compared } from '../../projections/compareFolds.ts';
import type { AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Compares the read models with the log, and puts right what differs. */
    readonly rebuild: () => Promise<readonly Compared[]>;
  }
}

const rebuilt = Type.Object(
  {
    collections: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the collection' }),
        documents: Type.Integer({ description: 'How many documents the log gives it' }),
        differences: Type.Array(Type.String(), {
          description: 'Ids of the documents that differed, were missing or too many',
        }),
      }),
    ),
  },
  { title: 'Rebuilt', description: 'All collections, compared document by document' },
);

/** Operations on the node itself that only admins may call. */
export const healthRoutes: AreaRoutes = {
  area: 'health',
  prefix: '/health',
  routes: [
    actionRoute({
      name: 'rebuildReadModels',
      method: 'post',
      path: '/rebuild',
      access: [],
      untimed: true,
      summary: 'Make the read models anew from the log',
      description:
        'Folds the log beside the read models, compares them document by document, and puts those right that differ. ' +
        'The service goes on meanwhile. It answers when that is done; 409 on a node that does not write the read models.',
      answer: rebuilt,
      run: async (_, service) => ({ body: { collections: await service.rebuild() } }),
    }),
  ],
};
