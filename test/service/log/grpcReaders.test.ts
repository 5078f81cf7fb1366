import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, { type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type ClientReadableStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { passwordOf } from '../../support/accounts.ts';
import { type GrpcLog, openGrpcLog } from '../../support/grpcLog.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { newEvent } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

// Beside these, the log has its own identity.
const events = 3000;

type From = 'beginning' | 'end';

const wholeLog = (count: string | undefined, from: From) => {
  const all = new streams.ReadReq.Options.AllOptions();
  if (from === 'end') all.setEnd(new shared.Empty());
  else all.setStart(new shared.Empty());
  const options = new streams.ReadReq.Options().setAll(all).setNoFilter(new shared.Empty());
  if (count === undefined) options.setSubscription(new streams.ReadReq.Options.SubscriptionOptions());
  else options.setCount(count);
  return new streams.ReadReq().setOptions(options);
};

describe('readers of the log over gRPC', () => {
  let log: GrpcLog;
  let clients: StreamsClient[] = [];
  let pages = 0;
  let [held, mostHeld] = [0, 0];
  before(async () => {
    log = await openGrpcLog({ takingMs: 1500 });
    for (let n = 0; n < events; n += 200)
      await log.store.append(
        `notes-${n}`,
        -1,
        Array.from({ length: 200 }, () => newEvent({ data: JSON.stringify('n'.repeat(4000)) })),
      );
    // How many readings of the log there are, and how many hold a page.
    const { follow, readAll } = log.store;
    const counted = async function* <T>(source: AsyncIterable<T>): AsyncGenerator<T> {
      pages++;
      try {
        for await (const page of source) {
          mostHeld = Math.max(mostHeld, ++held);
          try {
            yield page;
          } finally {
            held--;
          }
        }
      } finally {
        pages--;
      }
    };
    Object.assign(log.store, {
      follow: (...args: Parameters<typeof follow>) => counted(follow(...args)),
      readAll: (...args: Parameters<typeof readAll>) => counted(readAll(...args)),
    });
  });
  afterEach(() => {
    for (const client of clients) client.close();
    clients = [];
  });
  after(() => log.close());

  const as = async (account: string) => {
    const options = { 'grpc.use_local_subchannel_pool': 1 };
    const client = new StreamsClient(
      `localhost:${log.port}`,
      credentials.createSsl(await readFile(log.caFile)),
      options,
    );
    clients.push(client);
    const about = new Metadata();
    about.set('authorization', `Basic ${Buffer.from(`${account}:${passwordOf(account)}`).toString('base64')}`);
    return (count?: string, from: From = 'beginning') => client.read(wholeLog(count, from), about);
  };
  /** Reads one message, and nothing more. It ends with the code. */
  const never = async (call: ClientReadableStream<ReadResp>) => {
    const ended = new Promise<status>((resolve) => {
      call.on('error', ({ code }: ServiceError) => resolve(code));
    });
    // Without a listener, the client would take everything into its memory.
    call.on('data', () => call.pause());
    await once(call, 'data');
    return { ended };
  };

  itInSoak('who never read hold no page and up nobody, and end', async () => {
    const accounts = [await as('writer'), await as('reader')];
    const ends: Awaited<ReturnType<typeof never>>[] = [];
    for (let n = 0; n < 30; n++) {
      const read = accounts[n % 2]!;
      ends.push(await never(n % 4 < 2 ? read() : read('1000000')));
    }
    await until(() => pages === 0, 'the end of their pages');
    const other = (await as('reader'))();
    let got = 0;
    other
      .on('error', () => undefined)
      .on('data', (answer: ReadResp) => {
        if (answer.hasEvent()) got++;
      });
    const began = performance.now();
    await until(() => got > 0, 'the first event of another');
    assert.ok(performance.now() - began < 1000);
    await until(() => got >= events, 'all events of another');
    other.cancel();
    assert.ok(mostHeld <= 8, `${mostHeld} held a page`);
    for (const { ended } of ends) assert.ok([status.ABORTED, status.CANCELLED].includes(await ended));
  });

  it('may not be more than 20 of an account, unless it is that of a node', async () => {
    const read = await as('reader');
    const calls: ClientReadableStream<ReadResp>[] = [];
    const opened = async (open: typeof read) => {
      // At the end of the log nothing comes, so that a reader is not late on a busy machine.
      const call = open(undefined, 'end');
      calls.push(call);
      const failed = once(call, 'error').then(([error]) => error as ServiceError);
      return Promise.race([failed, once(call, 'data').then(() => undefined)]);
    };
    for (let n = 0; n < 20; n++) assert.equal(await opened(read), undefined);
    const refused = await opened(read);
    assert.deepEqual(
      [refused?.code, refused?.details],
      [status.RESOURCE_EXHAUSTED, 'This account has 20 streams open; end one of them first'],
    );
    const readAsNode = await as('node');
    for (let n = 0; n < 25; n++) assert.equal(await opened(readAsNode), undefined);
    for (const call of calls) call.on('error', () => undefined).cancel();
    await until(async () => (await opened(read)) === undefined, 'a place');
    for (const call of calls) call.on('error', () => undefined).cancel();
  });

  it('get every event once, though they take them slowly', async () => {
    const call = (await as('node'))();
    const revisions: string[] = [];
    call
      .on('error', () => undefined)
      .on('data', (answer: ReadResp) => {
        const event = answer.getEvent()?.getEvent();
        if (event) revisions.push(event.getId()?.getString() || JSON.stringify(event.getId()?.toObject()));
      });
    for (let n = 0; n < 6; n++) {
      const before = revisions.length;
      await until(() => revisions.length > before || revisions.length >= events);
      call.pause();
      // It is longer than who keeps up needs.
      await new Promise((resolve) => setTimeout(resolve, 300));
      call.resume();
    }
    await until(() => revisions.length > events);
    assert.equal(new Set(revisions).size, revisions.length);
    call.cancel();
  });
});
