import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from '../src/store/event.ts';
import { startBare } from './bare.ts';
import { type Comparison, type Findings, inTurn, perSecond, scale } from './compare.ts';
import { type Loader, loader, type Server } from './loader.ts';
import { startService, temporary } from './processes.ts';
import { admin, ask, basic, request } from './requests.ts';
import { ready } from './service.ts';

const om = '/operations-manager';
const body = { site: 'Bonn', ports: [1, 2, 3], reason: 'The uplink of the site is down' };

const made = async (url: string, path: string, document: object): Promise<{ readonly _id: string }> =>
  JSON.parse((await ask(url, 'POST', `${om}${path}`, { body: document })).body.toString()).data;

/** The service with an automation and an endpoint trigger of it, which has a schema. */
const startWithTrigger = async () => {
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  const service = await startService(folder);
  await ready(service.url);
  const automation = await made(service.url, '/automations', { name: 'Look at the site' });
  await made(service.url, '/triggers', {
    name: 'The site is down',
    type: 'endpoint',
    enabled: true,
    actionType: 'automations',
    actionId: automation._id,
    verb: 'POST',
    routeName: 'down',
    schema: { type: 'object', required: ['site'], properties: { site: { type: 'string' } } },
    jst: null,
  });
  return { service, automation };
};

/** The start of a job as the service stores it. */
const storedEvent = (job: Readonly<Record<string, unknown>>) => {
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const about = {
    $correlationId: id,
    $causationId: id,
    at: '2026-01-01T00:00:00.000Z',
    actor: { id: '0'.repeat(24), username: 'admin', provenance: 'local' },
    operation: 'runEndpointTrigger',
    requestId: id,
    schemaVersion: 1,
  };
  const { _id, status, created, created_by, last_updated, metrics, error, ...data } = job;
  return encode(
    { stream: `job-${'0'.repeat(24)}`, revision: 0, id, source: '@platform/operations-manager' },
    { topic: 'jobStarted', data: { ...data, execution: null, workflow: null } },
    about,
    '',
  );
};

/** (n) An endpoint trigger, from the request to the durable job. */
export const triggering = async (): Promise<Findings> => {
  const { service, automation } = await startWithTrigger();
  const post = (path: string, document: object): Loader =>
    loader([request('POST', `${om}${path}`, { Authorization: basic(admin) }, JSON.stringify(document))]);
  const fire = post('/triggers/endpoint/down', body);
  const start = post('/jobs/start', { workflow: automation._id, options: { variables: body } });
  const answer = await ask(service.url, 'POST', `${om}/triggers/endpoint/down`, { body });
  const bare = await startBare({ kind: 'body', answer });
  const committing = await startBare({
    kind: 'commit',
    answer,
    file: join(await temporary(), 'events.db'),
    event: storedEvent(JSON.parse(answer.body.toString()).data),
  });

  const comparisons: Comparison[] = [];
  for (const connections of [1, 32]) {
    const rate = (load: Loader, name: string, server: Server, check: (text: string) => void) => async () => {
      const done = await load.run(`${name} at ${connections}`, server, {
        connections,
        status: 200,
        milliseconds: scale.milliseconds,
      });
      check(Buffer.from(done.body).toString());
      return done.rate;
    };
    const isJob = (text: string): void => assert.equal(JSON.parse(text).data.variables.site, 'Bonn');
    const found = await inTurn(`n, ${connections} connections`, {
      trigger: rate(fire, 'endpoint trigger', service, isJob),
      start: rate(start, 'POST /jobs/start', service, isJob),
      bare: rate(fire, 'Koa with koa-body', bare, isJob),
      committing: rate(fire, 'Koa with commits', committing, isJob),
    });
    const against = (comparedWith: string, theirs: readonly number[], least: number): Comparison => ({
      what: `(n) endpoint trigger to durable job, ${connections} connection${connections === 1 ? '' : 's'}`,
      comparedWith,
      ours: found.trigger,
      theirs,
      shown: perSecond,
      ...(connections > 1 && { goal: { least } }),
    });
    comparisons.push(
      against('Koa + koa-body, same answer, nothing stored', found.bare, 0.4),
      against('Koa + koa-body + one FULL commit per request', found.committing, 1.5),
      against('POST /jobs/start of the same automation', found.start, 0.8),
    );
  }
  const notes = [`(n) cores in use: ${fire.shares()}; ${start.shares()}.`];
  for (const one of [fire, start, bare, committing, service]) await one.stop();
  return { comparisons, notes };
};
