import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Type } from 'typebox';
import type { Seen } from './app.ts';
import type { ActionRow, AreaRows } from './route.ts';

/** What the gauges show, asked at each scrape. */
export type Gauges = { readonly [name: string]: { readonly help: string; readonly value: () => number | Promise<number> } };

/** Prometheus metrics of one service. `observe` is told each request. */
export const metrics = (gauges: Gauges) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({ name: 'http_requests_total', help: 'Answered requests', labelNames: ['operation', 'method', 'status'], registers: [registry] });
  const duration = new Histogram({
    name: 'http_request_duration_seconds', help: 'Time to answer', labelNames: ['operation'], registers: [registry],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });
  for (const [name, { help, value }] of Object.entries(gauges)) new Gauge({ name, help, registers: [registry], async collect() { this.set(await value()); } });

  // Bound once per combination of labels: making them up again costs more than counting.
  const counters = new Map<string, ReturnType<typeof requests.labels>>();
  const histograms = new Map<string, ReturnType<typeof duration.labels>>();
  const bound = <T>(known: Map<string, T>, key: string, make: () => T): T => {
    const there = known.get(key);
    if (there) return there;
    const made = make();
    known.set(key, made);
    return made;
  };

  return {
    observe: ({ operation, method, status, milliseconds }: Seen): void => {
      bound(counters, `${operation} ${method} ${status}`, () => requests.labels(operation, method, String(status))).inc();
      bound(histograms, operation, () => duration.labels(operation)).observe(milliseconds / 1000);
    },
    text: async (): Promise<{ text: string; type: string }> => ({ text: await registry.metrics(), type: registry.contentType }),
  };
};

const upOrDown = Type.Object({ status: Type.Union([Type.Literal('up'), Type.Literal('down')]) }, { title: 'UpOrDown', description: 'up, or down with status 503' });

const health = (name: string, path: string, summary: string, up: (service: Parameters<ActionRow['run']>[1]) => boolean): ActionRow => ({
  name, method: 'get', path, access: 'open', summary, answer: upOrDown,
  run: async (_, service) => (up(service) ? { body: { status: 'up' } } : { status: 503, body: { status: 'down' } }),
});

/** Health and metrics (neighbours.md, service). */
export const monitoringRows: AreaRows = {
  area: 'service',
  prefix: '',
  rows: [
    health('live', '/health/live', 'Whether the process answers', () => true),
    health('ready', '/health/ready', 'Whether requests can be answered', (service) => service.ready()),
    {
      name: 'status', method: 'get', path: '/health/status', access: 'login', summary: 'Stores, projections with their lag, version',
      answer: Type.Record(Type.String(), Type.Any()), run: async (_, service) => ({ body: await service.status() }),
    },
    {
      name: 'metrics', method: 'get', path: '/metrics', access: 'login', summary: 'Metrics in the Prometheus text format',
      answer: Type.String({ contentMediaType: 'text/plain' }), run: async (_, service) => service.metrics(),
    },
  ],
};
