import { hash, timingSafeEqual } from 'node:crypto';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StoredEvent } from '../../store/port.ts';
import type { Seen } from './appNeeds.ts';
import type { AreaRoutes } from './route.ts';

type Value = number | Promise<number>;
/** With a label, the values by it. */
type Measured = { readonly help: string } & (
  | { readonly value: () => Value; readonly label?: undefined }
  | { readonly label: string; readonly value: () => Readonly<Record<string, number>> }
);

/** Values that are read at each scrape. A name that ends in `_total` is a counter: its value never goes down. */
export type Measures = { readonly [name: string]: Measured };

type Placed = Pick<StoredEvent, 'stream' | 'type'>;

type Needs = {
  readonly areas: readonly AreaRoutes[];
  /** True if the event is one of the platform's own. */
  readonly isOwnEvent: (event: Placed) => boolean;
};

const prefix = 'automation_platform_';

const measured = (registry: Registry, name: string, measure: Measured): void => {
  const { help } = measure;
  const about = { name: prefix + name, help, registers: [registry] };
  if (measure.label !== undefined) {
    const { label, value } = measure;
    new Gauge({
      ...about,
      labelNames: [label],
      collect() {
        for (const [of, number] of Object.entries(value())) this.set({ [label]: of }, number);
      },
    });
    return;
  }
  const { value } = measure;
  if (!name.endsWith('_total'))
    new Gauge({
      ...about,
      async collect() {
        this.set(await value());
      },
    });
  else
    new Counter({
      ...about,
      async collect() {
        const total = await value();
        this.reset();
        this.inc(total);
      },
    });
};

/** Keeps one bound metric for each combination of labels, because looking labels up costs more than counting. */
const boundBy = <Labels extends readonly string[], T>(make: (...labels: Labels) => T) => {
  const bound = new Map<string, T>();
  return (...labels: Labels): T => {
    const key = labels.join(' ');
    const there = bound.get(key);
    if (there) return there;
    const metric = make(...labels);
    bound.set(key, metric);
    return metric;
  };
};

/**
 * The Prometheus metrics of one service. Labels have few values: names of routes and event types, never texts from
 * callers.
 */
export const metrics = ({ areas, isOwnEvent }: Needs) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `${prefix}${name}`, help, labelNames, registers: [registry] });

  const requests = counter('http_requests_total', 'Answered requests', ['area', 'operation', 'method', 'status']);
  const duration = new Histogram({
    name: `${prefix}http_request_duration_seconds`,
    help: 'Time to answer',
    labelNames: ['area', 'operation'],
    registers: [registry],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });
  const refusedStarts = counter(
    'refused_starts_total',
    'Requests to start a job, a session or an action that were refused',
    ['area', 'operation', 'status'],
  );
  const events = counter('events_total', 'Events that the log got since this process started, from whatever node', [
    'area',
    'topic',
  ]);

  const runs = counter('trigger_runs_total', 'Runs of triggers: started jobs, refusals by reason, and parked runs', [
    'type',
    'outcome',
  ]);

  const tasks = counter('task_runs_total', 'Runs of tasks that this process has ended since it started', [
    'kind',
    'result',
  ]);
  const taskSeconds = new Histogram({
    name: `${prefix}task_seconds`,
    help: 'Time from the moment at which a task began to wait to its end',
    labelNames: ['kind'],
    registers: [registry],
    buckets: [0.01, 0.1, 1, 10, 60, 600, 3600, 86_400],
  });

  const starting = new Set(
    areas.flatMap(({ area, routes }) => routes.filter(({ starts }) => starts).map(({ name }) => `${area} ${name}`)),
  );
  const requestsOf = boundBy((area: string, operation: string, method: string, status: string) =>
    requests.labels(area, operation, method, status),
  );
  const durationOf = boundBy((area: string, operation: string) => duration.labels(area, operation));
  const tasksOf = boundBy((kind: string, result: string) => tasks.labels(kind, result));
  const eventsOf = boundBy((type: string) => {
    const [source = '', topic = ''] = type.split(':');
    return events.labels(source.slice(source.indexOf('/') + 1), topic);
  });

  return {
    observe: ({ area, operation, method, status, milliseconds }: Seen): void => {
      requestsOf(area, operation, method, String(status)).inc();
      durationOf(area, operation).observe(milliseconds / 1000);
      if (status >= 400 && starting.has(`${area} ${operation}`))
        refusedStarts.labels(area, operation, String(status)).inc();
    },
    /** Counts what became of a run of a trigger. */
    ran: (type: string, outcome: string): void => runs.labels(type, outcome).inc(),
    /** Counts a run of a task that has ended. */
    ranTask: (kind: string, result: string, seconds: number): void => {
      tasksOf(kind, result).inc();
      if (kind !== 'instant') taskSeconds.labels(kind).observe(seconds);
    },
    show: (measures: Measures): void => {
      for (const [name, measure] of Object.entries(measures)) measured(registry, name, measure);
    },
    /** Counts one event of the log. */
    stored: (event: Placed): void => eventsOf(isOwnEvent(event) ? event.type : 'other:other').inc(),
    text: async (): Promise<{ text: string; type: string }> => ({
      text: await registry.metrics(),
      type: registry.contentType,
    }),
  };
};

export type Metrics = ReturnType<typeof metrics>;

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Makes the function that tells whether an `Authorization` header carries the token. The comparison takes the same time
 * for every wrong token, so its duration reveals nothing about the token.
 */
export const bearerOf = (token: string | undefined): ((authorization: string) => boolean) => {
  if (token === undefined) return () => false;
  const expected = digest(token);
  return (authorization) => {
    const [, given] = /^bearer +(.+)$/i.exec(authorization) ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
};
