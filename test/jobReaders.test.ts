import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { moveJobs } from '../src/commands/operations-manager/jobMoves.ts';
import { completeJob, startJob } from '../src/commands/operations-manager/jobs.ts';
import type { Principal } from '../src/http/authentication/principal.ts';
import { type JobReaders, jobReaders, type WantedJobs } from '../src/http/operations-manager/jobReaders.ts';
import { context } from './given.ts';
import { nodesOnLog } from './node.ts';
import { openStream, type Stream } from './sse.ts';
import { until } from './until.ts';

const [first, second] = ['a'.repeat(24), 'b'.repeat(24)] as const;
const principal: Principal = {
  actor: context.actor,
  firstname: '',
  email: '',
  roles: [],
  groups: [],
  rights: 'admin',
  may: () => true,
};

/** Somebody who passes here waits while it is held. */
const gate = () => {
  let held: Promise<void> | undefined;
  let release = (): void => undefined;
  let waiting = 0;
  return {
    pass: async (): Promise<void> => {
      if (!held) return;
      waiting++;
      await held;
      waiting--;
    },
    hold: (): void => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: (): void => {
      held = undefined;
      release();
    },
    waiting: (): number => waiting,
  };
};

describe('Readers of jobs', () => {
  const { log, node } = nodesOnLog({ reacting: true });
  let server: Server;
  let readers: JobReaders;
  const streams: Stream[] = [];
  const [rights, lists] = [gate(), gate()];
  let wanted: WantedJobs;
  let heard = 0;
  beforeEach(async () => {
    wanted = { watched: false, fields: [] };
    server = createServer((_, res) => {
      res.writeHead(200);
      readers.open(res, context.actor.id, wanted);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const each of [rights, lists]) each.release();
    readers.stop();
    for (const stream of streams.splice(0)) stream.close();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  /** A node with readers of its jobs, whose rights and lists of jobs can be held up. */
  const reading = async () => {
    const started = await node(log.store, {
      onEvent: (event) => {
        readers?.onEvent(event);
        heard++;
      },
    });
    const { model } = started;
    const list: typeof model.list = async (collection, query) => {
      const page = await model.list(collection, query);
      await lists.pass();
      return page;
    };
    const viewerOf = async (): Promise<Principal> => {
      await rights.pass();
      return principal;
    };
    const warn = (message: string): void => assert.fail(message);
    readers = jobReaders({ model: { ...model, list }, viewerOf, progressOf: () => null, log: warn });
    return started;
  };
  const open = async () => {
    const stream = await openStream(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    streams.push(stream);
    return (id: string): readonly string[] =>
      stream.frames.filter(({ data }) => data.job === id).map(({ data }) => data.status);
  };
  /** Carries it out, and waits until the readers have heard of so many events. */
  const andHeard = async (events: number, work: () => Promise<unknown>): Promise<void> => {
    const before = heard;
    await work();
    await until(() => heard >= before + events, 'the events');
  };

  it('are told of a change that happens while they are told of an earlier one', async () => {
    const { command } = await reading();
    await command(startJob, first, { workflow: 'Flow' });
    const told = await open();
    await until(() => told(first).length === 1, 'the present job');
    rights.hold();
    await command(moveJobs, 'm1', { move: 'pause', jobIds: [first] });
    await until(() => rights.waiting() === 1, 'the round that tells of the pause');
    await andHeard(2, () => command(moveJobs, 'm2', { move: 'resume', jobIds: [first] }));
    rights.release();
    await until(() => told(first).at(-1) === 'running' && told(first).length > 1, 'the resumed job');
    assert.deepEqual(told(first), ['running', 'paused', 'running']);
  });

  it('are not told of a job as it was before it left the filter', async () => {
    const { command } = await reading();
    await command(startJob, first, { workflow: 'Flow' });
    wanted = { watched: false, fields: [{ field: 'status', value: 'running' }] };
    lists.hold();
    const told = await open();
    await until(() => lists.waiting() === 1, 'the list of present jobs');
    // The list of those that have not ended is read, too, and held up.
    lists.release();
    lists.hold();
    await until(() => lists.waiting() === 1, 'the list of present jobs');
    await andHeard(1, () => command(completeJob, first, {}));
    await andHeard(1, () => command(startJob, second, { workflow: 'Flow' }));
    await until(() => told(second).length === 1, 'the second job');
    lists.release();
    await andHeard(2, () => command(moveJobs, 'm', { move: 'pause', jobIds: [second] }));
    await until(() => told(second).at(-1) === 'paused', 'the paused job');
    assert.deepEqual(told(first), []);
  });
});
