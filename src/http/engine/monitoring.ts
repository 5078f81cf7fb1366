import { Type } from 'typebox';
import type { ActionRoute, AreaRoutes } from './route.ts';
import { actionRoute } from './routes.ts';
import type { Service } from './service.ts';

const upOrDown = Type.Object(
  { status: Type.Union([Type.Literal('up'), Type.Literal('down')]) },
  { title: 'UpOrDown', description: 'up, or down with status 503' },
);

type Health = Pick<ActionRoute, 'name' | 'path' | 'summary'> & {
  readonly description: string;
  readonly up: (service: Service) => boolean | Promise<boolean>;
};

const health = ({ up, ...route }: Health): ActionRoute =>
  actionRoute({
    ...route,
    method: 'get',
    access: 'open',
    answer: upOrDown,
    run: async (_, service) =>
      (await up(service)) ? { body: { status: 'up' } } : { status: 503, body: { status: 'down' } },
  });

/** Health and metrics (docs/operations.md). */
export const monitoringRoutes: AreaRoutes = {
  area: 'service',
  prefix: '',
  routes: [
    health({
      name: 'live',
      path: '/health/live',
      summary: 'Tells if the process answers',
      description: 'For whoever starts it again if it does not.',
      up: () => true,
    }),
    health({
      name: 'ready',
      path: '/health/ready',
      summary: 'Tells if requests can be answered',
      description: 'For load balancers: 503 with the status down as long as requests would be refused.',
      up: (service) => service.ready(),
    }),
    actionRoute({
      name: 'status',
      method: 'get',
      path: '/health/status',
      access: 'login',
      monitoring: true,
      summary: 'Stores, projections with their lag, version',
      description:
        'Answered also while the event log or the read models are away, to who has logged in to this node before.',
      answer: Type.Record(Type.String(), Type.Any()),
      run: async (_, service) => ({ body: await service.status() }),
    }),
    actionRoute({
      name: 'metrics',
      method: 'get',
      path: '/metrics',
      access: 'login',
      monitoring: true,
      byMetricsToken: true,
      summary: 'Metrics in the Prometheus text format',
      description: 'With a login, or with METRICS_TOKEN as the Bearer token.',
      answer: Type.String({ contentMediaType: 'text/plain' }),
      run: async (_, service) => service.metrics(),
    }),
  ],
};
