import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { collecting, memoryOf } from './collecting.ts';
import { type Comparison, type Findings, inTurn, median, perSecond, scale } from './compare.ts';
import { loader } from './loader.ts';
import { startService, temporary } from './processes.ts';
import { admin, ask, basic, metricOf, request } from './requests.ts';
import { ready } from './service.ts';

const om = '/operations-manager';
const triggers = 10_000;
const topics = 1_000;
const connections = 32;

/** What a trigger waits for, by its number. */
type Wanted = { readonly topic: string; readonly schema: object };

/** One payload in a hundred has such an `n`. */
const rare = { type: 'integer', multipleOf: 100 };

/** Ten triggers wait for each topic. */
const byTopic = (trigger: number): Wanted => ({
  topic: `topic${trigger % topics}`,
  schema: { type: 'object', required: ['n'], properties: { n: rare } },
});

/** All wait for one topic, ten for each site. */
const bySite = (trigger: number): Wanted => ({
  topic: 'topic',
  schema: {
    type: 'object',
    required: ['n', 'site'],
    properties: { n: rare, site: { const: `site${trigger % topics}` } },
  },
});

/** All wait for one topic, and nothing tells them apart but their filters. */
const byNothing = (trigger: number): Wanted => ({
  topic: 'topic',
  schema: { type: 'object', required: ['n'], properties: { n: { minimum: 100 * trigger, maximum: 100 * trigger } } },
});

/** The n-th event that is published. */
const published = (n: number, oneTopic: boolean): { readonly topic: string; readonly payload: object } => ({
  topic: oneTopic ? 'topic' : `topic${(n * 7) % topics}`,
  payload: { n, site: `site${(n * 7) % topics}`, reason: 'The uplink of the site is down' },
});

/** The service with its triggers, and a load generator that publishes: `count` events, else as many as it can. */
const startWith = async (wanted: ((trigger: number) => Wanted) | undefined, oneTopic: boolean, count?: number) => {
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  const service = await startService(folder, collecting);
  await ready(service.url);
  const headers = { Authorization: basic(admin) };
  if (wanted !== undefined) {
    const automation = JSON.parse(
      (await ask(service.url, 'POST', `${om}/automations`, { body: { name: 'Look at the site' } })).body.toString(),
    ).data;
    const making = loader(
      Array.from({ length: triggers }, (_, trigger) =>
        request(
          'POST',
          `${om}/triggers`,
          headers,
          JSON.stringify({
            name: `Trigger ${trigger}`,
            type: 'eventSystem',
            enabled: true,
            actionType: 'automations',
            actionId: automation._id,
            source: 'monitor',
            jst: null,
            ...wanted(trigger),
          }),
        ),
      ),
    );
    await making.run('triggers', service, { connections, status: 200, count: triggers });
    await making.stop();
  }
  const publishing = loader(
    Array.from({ length: 20_000 }, (_, n) => {
      const { topic, payload } = published(n, oneTopic);
      return request('POST', `${om}/events/monitor/${topic}`, headers, JSON.stringify(payload));
    }),
  );
  const waits: number[] = [];
  return {
    /** How many events a second are published and decided: all jobs have been started at the end. */
    rate: async (): Promise<number> => {
      const start = performance.now();
      const done = await publishing.run('events', service, {
        connections,
        status: 200,
        ...(count === undefined ? { milliseconds: scale.milliseconds } : { count }),
      });
      waits.push(await metricOf(service.url, 'nodejs_eventloop_lag_p99_seconds'));
      while ((await metricOf(service.url, 'triggers_lag_events')) > 0) await pause(5);
      return (done.count / (performance.now() - start)) * 1000;
    },
    memory: () => memoryOf(service),
    /** The 99th percentile of the event loop's delay, in milliseconds: the median of the rounds. */
    delay: () => 1000 * median(waits),
    stop: async (): Promise<void> => {
      await publishing.stop();
      await service.stop();
    },
  };
};

/** (o) Published events among 10,000 event triggers, from the request until all that they fire has been started. */
export const firing = async (): Promise<Findings> => {
  const services = {
    none: await startWith(undefined, false),
    topics: await startWith(byTopic, false),
    sites: await startWith(bySite, true),
    // Each event tries all filters, which are more than are kept compiled: it takes seconds.
    nothing: await startWith(byNothing, true, 3),
  };
  const found = await inTurn('o', {
    none: services.none.rate,
    topics: services.topics.rate,
    sites: services.sites.rate,
    nothing: services.nothing.rate,
  });
  const compared = (
    what: string,
    ours: readonly number[],
    [comparedWith, theirs]: [string, readonly number[]],
    goal?: Comparison['goal'],
  ): Comparison => ({
    what: `(o) events published and decided, ${what}`,
    comparedWith,
    ours,
    theirs,
    shown: perSecond,
    ...(goal && { goal }),
  });
  const alone: [string, readonly number[]] = ['no triggers', found.none];
  const comparisons = [
    compared('10,000 triggers on 1,000 topics, 10 candidates each', found.topics, alone),
    compared('10,000 triggers on one topic, a member pinned', found.sites, ['on 1,000 topics', found.topics], {
      least: 1 / 3,
    }),
    compared('10,000 triggers on one topic, nothing pinned', found.nothing, alone),
  ];
  const without = await services.none.memory();
  const more = async ({ memory }: { readonly memory: () => Promise<number> }): Promise<number> =>
    Math.round((await memory()) - without);
  const notes = [
    `(o) memory with 10,000 triggers, more than without: ${await more(services.topics)} MB on 1,000 topics (goal < 150 MB), ` +
      `${await more(services.sites)} MB on one topic with a pinned member, ${await more(services.nothing)} MB with nothing pinned.`,
    `(o) delay of the event loop, p99: ${Object.entries(services)
      .map(([name, { delay }]) => `${name} ${delay().toFixed(0)} ms`)
      .join(', ')} (goal with nothing pinned: < 50 ms).`,
  ];
  for (const one of Object.values(services)) await one.stop();
  return { comparisons, notes };
};
