import type { NeededMethod } from '../../domain/engine/keptDocuments.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { AreaRoutes, Call } from './route.ts';

/**
 * Throws `forbidden` with the tasks and methods unless the caller may call all methods that a document takes. Those that
 * are not there need no right.
 */
export const refuseNeeded = (
  needed: readonly NeededMethod[],
  { principal }: Pick<Call, 'principal'>,
  areas: readonly AreaRoutes[],
): void => {
  const missing = needed.filter(({ area, method }) => {
    const route = areas.find((one) => one.area === area)?.routes.find(({ name }) => name === method);
    return route !== undefined && !principal?.may(area, route);
  });
  if (missing.length === 0) return;
  const methods = [...new Set(missing.map(({ area, method }) => `${method} of ${area}`))].join(', ');
  throw new RequestError('forbidden', `To save such tasks takes the methods of what they do, too: ${methods}`, {
    faults: missing.map(({ task, area, method }) => ({
      message: `The task ${JSON.stringify(task)} takes the method ${method} of ${area}`,
      path: `/tasks/${task}`,
      task,
      area,
      method,
    })),
  });
};
