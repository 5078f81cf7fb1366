import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { audit, subscribe, WorkRefused, work } from '@automation-platform/client';
import { publishEvent } from '../../../src/cli/commands/eventsPublish.ts';
import { migrateAll } from '../../../src/cli/commands/migrate.ts';
import { askRebuild } from '../../../src/cli/commands/rebuild.ts';
import { until } from '../../support/until.ts';

const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eno\nroot#';
const tame = /^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e]*$/;

describe('Programs that ask a hostile server', () => {
  let answer: (req: IncomingMessage, res: ServerResponse) => void;
  let url: string;
  let asked = 0;
  const server = createServer((req, res) => {
    asked++;
    res.on('error', () => undefined);
    req.resume();
    answer(req, res);
  });
  const says = (body: unknown, status = 200) => {
    answer = (_, res) => {
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
  };
  /** Never ends what it says. */
  const floods = (type: string, begin: string) => {
    answer = (_, res) => {
      res.writeHead(200, { 'Content-Type': type });
      res.write(begin);
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const more = (): void => {
        if (!res.destroyed) res.write(piece, more);
      };
      more();
    };
  };
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const never = new AbortController().signal;
  const auth = { username: 'admin', password: 'p' };
  const access = () => ({ url, auth });
  const first = async (events: AsyncIterable<unknown>) => {
    for await (const event of events) return event;
    return undefined;
  };
  const nowhere = () => new PassThrough().resume();
  const migrating = () =>
    migrateAll({ source: url, sourceAuth: auth, target: access(), dryRun: true, overwrite: false }, never, {
      report: nowhere(),
      progress: nowhere(),
    });
  const nothing = { documents: [], kinds: {}, missing: [], ready: [] };
  const doors: Readonly<Record<string, () => Promise<unknown>>> = {
    'subscribe()': () => first(subscribe({ url, auth, from: 'start' })),
    'audit()': () => first(audit({ url, auth }).events()),
    'events publish': () => publishEvent({ source: 's', topic: 't', payload: '1' }, access(), never, nowhere()),
    rebuild: () => askRebuild(access(), never),
    migrate: migrating,
  };

  for (const [name, run] of Object.entries(doors)) {
    it(`${name}: the message of a refusal is one plain line`, async () => {
      says({ message: evil.repeat(500) }, 403);
      await assert.rejects(run(), ({ message }: Error) => {
        assert.match(message, tame);
        assert.match(message, /owned/);
        return message.length < 1200;
      });
    });

    it(`${name}: what is no answer is said to be none`, async () => {
      const frames = name === 'subscribe()' ? ['data: null', 'data: 7', 'data: {"position":"7"}', 'data: {'] : [];
      for (const frame of frames) {
        answer = (_, res) => void res.writeHead(200).end(`${frame}\n\n`);
        await assert.rejects(run(), /is no event/);
      }
      if (frames.length > 0) return;
      for (const body of [null, { data: null, results: null, collections: null }, [], 'text']) {
        says(body);
        if (name === 'migrate') assert.deepEqual(await run(), nothing, 'there are no documents');
        else await assert.rejects(run(), /is no answer/, JSON.stringify(body));
      }
    });
  }

  it('an answer and an event without end are given up', async () => {
    floods('text/event-stream', 'data: ');
    await assert.rejects(doors['subscribe()']!(), /an event of more than 64 MiB/);
    floods('application/json', '{"x": "');
    for (const name of ['audit()', 'events publish'])
      await assert.rejects(doors[name]!(), /an answer of more than 128 MiB/, name);
  });

  it('pages without end are given up', async () => {
    says({ results: [], cursor: 'again' });
    await assert.rejects(doors['audit()']!(), /is no answer/);
    const page = Array.from({ length: 100 }, (_, n) => ({ _id: `id ${n}`, name: 'n' }));
    says({ data: page, results: page });
    await assert.rejects(migrating(), /lists the same .*s again and again/);
    let n = 0;
    answer = (_, res) => {
      const data = page.map(() => ({ _id: `id ${n++}` }));
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ data, results: data }));
    };
    await assert.rejects(migrating(), /lists more than 100000 /);
  });

  it('a worker goes on, without haste', async () => {
    for (const body of [null, { data: null }, { data: [null] }, { data: [{ job: null, claim: 1 }] }]) {
      const [before, end] = [asked, new AbortController()];
      says(body);
      const working = work({ url, auth, components: ['x'], run: async () => ({}), signal: end.signal });
      await until(() => asked > before);
      await new Promise((resolve) => setTimeout(resolve, 50));
      end.abort();
      await working;
      assert.ok(asked < before + 5, `${asked - before} requests at ${JSON.stringify(body)}`);
    }
    says({ message: evil }, 400);
    const refused = work({ url, auth, components: ['x'], run: async () => ({}) });
    await assert.rejects(refused, (error: Error) => error instanceof WorkRefused && tame.test(error.message));
  });
});
