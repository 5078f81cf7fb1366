import assert from 'node:assert/strict';
import { join } from 'node:path';
import { encode } from '../src/store/event.ts';
import { startBare } from './bare.ts';
import { type Comparison, type Findings, inTurn, perSecond, scale } from './compare.ts';
import { mappingOf, mappingPath, mappings } from './kinds.ts';
import { loader, type Server } from './loader.ts';
import { temporary } from './processes.ts';
import { admin, ask, basic, metricOf, request } from './requests.ts';
import { startWithMappings } from './service.ts';

const documents = 10_000;

const pathOf = (n: number): string => mappingPath(n % documents);

/** Two lists for each mapping, one after the other: every request finds the other one. */
const platformGroupsOf = (n: number): string[] => [
  `changed-${Math.floor(n / documents) % 2}`,
  'platform-001',
  'platform-002',
];
const bodyOf = (n: number) => ({ updates: { platformGroups: platformGroupsOf(n) } });

/** An event as the service stores it for such a change. */
const storedEvent = () => {
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const about = {
    $correlationId: id,
    $causationId: id,
    at: '2026-01-01T00:00:00.000Z',
    actor: { id: '0'.repeat(24), username: 'admin', provenance: 'local' },
    operation: 'updateGroupMapping',
    requestId: id,
    schemaVersion: 1,
  };
  return encode(
    { stream: `groupMapping-${mappings.id(0)}`, revision: 0, id, source: '@platform/group-mappings' },
    { topic: 'groupMappingUpdated', data: { platformGroups: platformGroupsOf(0) } },
    about,
    '',
  );
};

const countersOf = async (url: string): Promise<{ commits: number; events: number }> => ({
  commits: await metricOf(url, 'store_commits_total'),
  events: await metricOf(url, 'store_events_total'),
});

/**
 * (b) Durable changes of group mappings, compared with Koa that reads the body, and with Koa that also commits each.
 */
export const changing = async (): Promise<Findings> => {
  const service = await startWithMappings(documents);
  const load = loader(
    Array.from({ length: 2 * documents }, (_, n) =>
      request('PATCH', pathOf(n), { Authorization: basic(admin) }, JSON.stringify(bodyOf(n))),
    ),
  );
  const answer = await ask(service.url, 'PATCH', pathOf(0), {
    body: { updates: { platformGroups: platformGroupsOf(documents) } },
  });
  const bare = await startBare({ kind: 'body', answer });
  const committing = await startBare({
    kind: 'commit',
    answer,
    file: join(await temporary(), 'events.db'),
    event: storedEvent(),
  });

  const comparisons: Comparison[] = [];
  for (const connections of [1, 32, 128]) {
    const fsyncs: number[] = [];
    const ours = async (): Promise<number> => {
      const before = await countersOf(service.url);
      const { rate, count, first, body } = await load.run(`service at ${connections}`, service, {
        connections,
        status: 200,
        milliseconds: scale.milliseconds,
      });
      const after = await countersOf(service.url);
      // The log is signed meanwhile, which stores few events.
      const more = after.events - before.events - count;
      assert.ok(more >= 0 && more <= 10 + count / 100, `${count} requests store ${count + more} events`);
      assert.deepEqual(JSON.parse(Buffer.from(body).toString()).data, {
        ...mappingOf(first % documents),
        platformGroups: platformGroupsOf(first),
      });
      fsyncs.push((after.commits - before.commits) / count);
      return rate;
    };
    const theirs = (name: string, server: Server) => async (): Promise<number> => {
      const { rate, body } = await load.run(`${name} at ${connections}`, server, {
        connections,
        status: 200,
        milliseconds: scale.milliseconds,
      });
      assert.deepEqual(Buffer.from(body), answer.body);
      return rate;
    };
    const found = await inTurn(`b, ${connections} connections`, {
      service: ours,
      bare: theirs('Koa with koa-body', bare),
      committing: theirs('Koa with commits', committing),
    });
    const at128 = connections === 128;
    const what = `(b) durable PATCH of group mappings, ${connections} connection${connections === 1 ? '' : 's'}`;
    comparisons.push(
      {
        what,
        comparedWith: 'Koa + koa-body, same answer, nothing stored',
        ours: found.service,
        theirs: found.bare,
        shown: perSecond,
        ...(at128 && { goal: { least: 0.4 } }),
      },
      {
        what,
        comparedWith: 'Koa + koa-body + one FULL commit per request',
        ours: found.service,
        theirs: found.committing,
        shown: perSecond,
        ...(at128 && { goal: { least: 1.5 } }),
      },
      {
        what: `${what}: fsyncs per request`,
        comparedWith: 'one commit per request',
        ours: fsyncs.slice(-scale.rounds),
        theirs: fsyncs.slice(-scale.rounds).map(() => 1),
        shown: (figure) => figure.toFixed(4),
        ...(at128 && { goal: { most: 0.03 } }),
      },
    );
  }
  const notes = [`(b) cores in use: ${load.shares()}.`];
  for (const one of [load, bare, committing, service]) await one.stop();
  return { comparisons, notes };
};
