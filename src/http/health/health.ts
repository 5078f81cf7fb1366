import { Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import type { Compared } from '../../projections/foldLog.ts';
import type { AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Compares the read models with the log, and puts right what differs. */
    readonly rebuild: () => Promise<readonly Compared[]>;
    /** The operator says that the clock of this node is right. */
    readonly confirmClock: (actor: Actor) => void;
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

const confirmed = Type.Object(
  { clock: Type.Object({ jumped: Type.Null(), until: Type.Null(), why: Type.Null() }) },
  { title: 'ClockConfirmed', description: 'The clock as /health/status shows it' },
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
    actionRoute({
      name: 'confirmClock',
      method: 'post',
      path: '/clock',
      access: [],
      summary: 'Confirm that the clock of this node is right',
      description:
        'After a jump, and after a start with a clock that is much later than the newest event of the log, nothing that ' +
        'cannot be taken back is done for a while. This ends the wait, on the node that answers. See docs/operations.md.',
      answer: confirmed,
      run: async ({ actor }, service) => {
        service.confirmClock(actor);
        return { body: { clock: { jumped: null, until: null, why: null } } };
      },
    }),
  ],
};
