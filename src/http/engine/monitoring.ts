import { Type } from 'typebox';
import type { ActionRow, AreaRows } from './route.ts';
import { actionRow } from './rows.ts';

const upOrDown = Type.Object(
  { status: Type.Union([Type.Literal('up'), Type.Literal('down')]) },
  { title: 'UpOrDown', description: 'up, or down with status 503' },
);

const health = (
  name: string,
  path: string,
  summary: string,
  up: (service: Parameters<ActionRow['run']>[1]) => boolean | Promise<boolean>,
): ActionRow =>
  actionRow({
    name,
    method: 'get',
    path,
    access: 'open',
    summary,
    answer: upOrDown,
    run: async (_, service) =>
      (await up(service)) ? { body: { status: 'up' } } : { status: 503, body: { status: 'down' } },
  });

/** Health and metrics (docs/operations.md). */
export const monitoringRows: AreaRows = {
  area: 'service',
  prefix: '',
  rows: [
    health('live', '/health/live', 'Whether the process answers', () => true),
    health('ready', '/health/ready', 'Whether requests can be answered', (service) => service.ready()),
    actionRow({
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
    actionRow({
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
