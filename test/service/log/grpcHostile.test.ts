import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { May } from '@automation-platform/esdb-server';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, { type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { type GrpcLog, openGrpcLog } from '../../support/grpcLog.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { longestTurn } from '../../support/processorTime.ts';
import { gather, newEvent, newEvents, newStream } from '../../support/store.contract.ts';

const service = '/event_store.client.streams.Streams';

/** Some bytes after their length, as they are. */
const raw = (bytes: Buffer): Buffer => bytes;

const identifier = (name: string | Uint8Array) =>
  new shared.StreamIdentifier().setStreamName(typeof name === 'string' ? Buffer.from(name) : name);

const uuid = (text: string = randomUUID()) => new shared.UUID().setString(text);

const appendOptions = (name: string | Uint8Array) =>
  new streams.AppendReq().setOptions(
    new streams.AppendReq.Options().setStreamIdentifier(identifier(name)).setAny(new shared.Empty()),
  );

const proposed = (
  about: Record<string, string> = { type: 'noteTaken', 'content-type': 'application/json' },
  data: Uint8Array = Buffer.from('{}'),
) => {
  const message = new streams.AppendReq.ProposedMessage().setId(uuid()).setData(data);
  for (const [name, value] of Object.entries(about)) message.getMetadataMap().set(name, value);
  return message;
};

const batch = (id: string, data: readonly Uint8Array[], isFinal: boolean, name: string | undefined = 'notes-1') => {
  const request = new streams.BatchAppendReq().setCorrelationId(uuid(id)).setIsFinal(isFinal);
  if (name !== undefined)
    request.setOptions(
      new streams.BatchAppendReq.Options().setStreamIdentifier(identifier(name)).setAny(new empty.Empty()),
    );
  for (const bytes of data) {
    const message = new streams.BatchAppendReq.ProposedMessage().setId(uuid()).setData(bytes);
    message.getMetadataMap().set('type', 'noteTaken').set('content-type', 'application/octet-stream');
    request.addProposedMessages(message);
  }
  return request;
};

const readOptions = (change: (options: InstanceType<typeof streams.ReadReq.Options>) => unknown) => {
  const options = new streams.ReadReq.Options();
  change(options);
  return new streams.ReadReq().setOptions(options);
};

const wholeLog = (options: InstanceType<typeof streams.ReadReq.Options>) =>
  options
    .setAll(new streams.ReadReq.Options.AllOptions().setStart(new shared.Empty()))
    .setCount('1000000')
    .setNoFilter(new shared.Empty());

const subscription = () =>
  readOptions((options) => wholeLog(options).setSubscription(new streams.ReadReq.Options.SubscriptionOptions()));

describe('whatever comes over gRPC', () => {
  let log: GrpcLog;
  let client: StreamsClient;
  let asNode: Metadata;
  let authorize: () => Promise<May>;
  let reported: number;

  beforeEach(async () => {
    reported = 0;
    authorize = async () => () => true;
    log = await openGrpcLog({ authorize: () => authorize() });
    client = new StreamsClient(`localhost:${log.port}`, credentials.createSsl(await readFile(log.caFile)), {
      'grpc.max_send_message_length': -1,
    });
    asNode = new Metadata();
    asNode.set('authorization', 'Basic bm9kZTp4');
  });
  afterEach(async () => {
    client.close();
    await log.close();
    assert.equal(log.reported.length, reported, String(log.reported));
  });

  /** How a call ends: the error with its code, undefined when it ends well. */
  const endOf = (call: NodeJS.EventEmitter): Promise<ServiceError | undefined> =>
    new Promise((resolve) => {
      call.on('data', () => undefined);
      call.on('error', resolve);
      call.on('end', () => resolve(undefined));
    });
  const append = (...requests: InstanceType<typeof streams.AppendReq>[]): Promise<ServiceError | undefined> =>
    new Promise((resolve) => {
      const call = client.append(asNode, (error) => resolve(error ?? undefined));
      for (const request of requests) call.write(request);
      call.end();
    });
  const isAlive = async (): Promise<void> =>
    assert.equal(
      await append(appendOptions('notes-alive'), new streams.AppendReq().setProposedMessage(proposed())),
      undefined,
    );

  it('of noise or of endless size, it is refused and the server goes on', async () => {
    const anything = client as unknown as Client;
    for (const [noise, codes] of [
      [randomBytes(200), [status.INTERNAL, status.INVALID_ARGUMENT]],
      [Buffer.alloc(5 * 1024 * 1024), [status.RESOURCE_EXHAUSTED]],
      [Buffer.alloc(0), [status.INVALID_ARGUMENT]],
    ] as const) {
      for (const method of ['Read', 'Append', 'Delete', 'Tombstone', 'BatchAppend']) {
        const call = anything.makeBidiStreamRequest(`${service}/${method}`, raw, raw, asNode);
        const ended = endOf(call);
        call.write(noise);
        call.end();
        assert.ok(
          (codes as readonly (status | undefined)[]).includes((await ended)?.code),
          `${method}: ${noise.length} bytes: ${await ended}`,
        );
      }
    }
    assert.equal(
      (
        await endOf(
          anything.makeServerStreamRequest(
            '/event_store.client.persistent_subscriptions.PersistentSubscriptions/Read',
            raw,
            raw,
            Buffer.alloc(0),
            asNode,
          ),
        )
      )?.code,
      status.UNIMPLEMENTED,
    );
    await isAlive();
  });
  it('of the right form without what it needs, it is told so', async () => {
    const event = (about?: Record<string, string>) => new streams.AppendReq().setProposedMessage(proposed(about));
    for (const [requests, code, message] of [
      [[], status.INVALID_ARGUMENT, /options/],
      [[event()], status.INVALID_ARGUMENT, /options/],
      [[appendOptions('a'), appendOptions('a')], status.INVALID_ARGUMENT, /options/],
      [[appendOptions('a')], status.INVALID_ARGUMENT, /at least one/],
      [[appendOptions(new Uint8Array([0xff])), event()], status.INVALID_ARGUMENT, /UTF-8/],
      [[appendOptions('a'), event({ type: 'x' })], status.INVALID_ARGUMENT, /content-type/],
      [[appendOptions('a'), event({ type: 'x\0', 'content-type': 'y' })], status.INVALID_ARGUMENT, /control/],
      [
        [appendOptions('a'), new streams.AppendReq().setProposedMessage(proposed().setId(uuid('nonsense')))],
        status.INVALID_ARGUMENT,
        /UUID/,
      ],
      [
        [
          new streams.AppendReq().setOptions(new streams.AppendReq.Options().setStreamIdentifier(identifier('a'))),
          event(),
        ],
        status.INVALID_ARGUMENT,
        /expected revision/,
      ],
    ] as const) {
      const error = await append(...requests);
      assert.equal(error?.code, code);
      assert.match(error!.details, message);
    }
    const missing = await append(appendOptions('a'), event({ type: 'x' }));
    assert.deepEqual(missing!.metadata.getMap(), {
      ...missing!.metadata.getMap(),
      exception: 'missing-required-metadata-property',
      'required-metadata-properties': 'content-type',
    });
    for (const request of [
      new streams.ReadReq(),
      readOptions(() => undefined),
      readOptions((options) => wholeLog(options).setFilter(new streams.ReadReq.Options.FilterOptions())),
      readOptions((options) => options.setAll(new streams.ReadReq.Options.AllOptions()).setCount('1')),
      readOptions((options) =>
        options.setStream(new streams.ReadReq.Options.StreamOptions().setStart(new shared.Empty())),
      ),
      subscription().setOptions(subscription().getOptions()!.setReadDirection(1)),
    ])
      assert.equal((await endOf(client.read(request, asNode)))?.code, status.INVALID_ARGUMENT);
    assert.equal(await log.store.head(), 1);
  });
  it('with half characters, it is told so', async () => {
    // Half characters in UTF-8 as some encoders write them: the text is the same length when they are put in
    // afterwards.
    const patched = (message: { serializeBinary(): Uint8Array }): Buffer =>
      Buffer.from(
        Buffer.from(message.serializeBinary()).toString('latin1').replaceAll('@@@', '\u00ed\u00a0\u0080'),
        'latin1',
      );
    const anything = client as unknown as Client;
    for (const [type, contentType] of [
      ['x@@@', 'y'],
      ['$@@@', 'y'],
      ['@platform/@@@', 'y'],
      ['x', '@@@'],
    ] as const) {
      const call = anything.makeBidiStreamRequest(`${service}/Append`, raw, raw, asNode);
      const ended = endOf(call);
      call.write(Buffer.from(appendOptions('notes-1').serializeBinary()));
      call.write(patched(new streams.AppendReq().setProposedMessage(proposed({ type, 'content-type': contentType }))));
      call.end();
      assert.equal((await ended)?.code, status.INVALID_ARGUMENT);
    }
    const filter = (regex: string) =>
      new streams.ReadReq.Options.FilterOptions()
        .setCount(new shared.Empty())
        .setCheckpointintervalmultiplier(1)
        .setEventType(new streams.ReadReq.Options.FilterOptions.Expression().setRegex(regex));
    for (const regex of ['(@@@', '[@@@']) {
      const call = anything.makeBidiStreamRequest(`${service}/Read`, raw, raw, asNode);
      const ended = endOf(call);
      call.write(patched(readOptions((options) => wholeLog(options).setFilter(filter(regex)))));
      call.end();
      assert.equal((await ended)?.code, status.INVALID_ARGUMENT);
    }
    assert.equal(
      (
        await append(
          new streams.AppendReq().setOptions(
            new streams.AppendReq.Options()
              .setStreamIdentifier(identifier('notes-1'))
              .setRevision('18446744073709551615'),
          ),
          new streams.AppendReq().setProposedMessage(proposed()),
        )
      )?.code,
      status.INVALID_ARGUMENT,
    );
    await isAlive();
  });
  it('in batches that never end, it is bounded', async () => {
    const half = [Buffer.alloc(500 * 1024)];
    const many = client.batchAppend(asNode);
    const tooMany = endOf(many);
    for (let n = 0; n <= 64; n++) many.write(batch(randomUUID(), [], false));
    assert.equal((await tooMany)?.code, status.RESOURCE_EXHAUSTED);
    const large = client.batchAppend(asNode);
    const tooLarge = endOf(large);
    for (let n = 0; n < 20; n++) large.write(batch(randomUUID(), half, false));
    assert.equal((await tooLarge)?.code, status.RESOURCE_EXHAUSTED);
    const endless = client.batchAppend(asNode);
    const id = randomUUID();
    const answered = once(endless, 'data');
    for (let n = 0; n < 40; n++) endless.write(batch(id, half, n === 39));
    const [answer] = await answered;
    assert.equal(answer.getError().getDetails().getTypeName(), 'event_store.client.MaximumAppendSizeExceeded');
    assert.equal(answer.getStreamIdentifier().getStreamName_asU8().length, 7);
    endless.write(batch(id, [Buffer.from('x')], true));
    const [next] = await once(endless, 'data');
    assert.ok(next.hasSuccess());
    endless.end();
    await isAlive();
  });
  it('in a batch without options or without an id, it ends the call', async () => {
    for (const request of [
      batch(randomUUID(), [], true, undefined).clearOptions(),
      new streams.BatchAppendReq().setIsFinal(true),
    ]) {
      const call = client.batchAppend(asNode);
      const ended = endOf(call);
      call.write(request as InstanceType<typeof streams.BatchAppendReq>);
      assert.equal((await ended)?.code, status.INVALID_ARGUMENT);
    }
  });
  it('to delete a stream that is to exist, it is told how it is', async () => {
    const change = (method: 'delete' | 'tombstone', name: string) =>
      new Promise<unknown>((resolve) => {
        const done = (error: ServiceError | null) => resolve(error?.metadata.get('exception')[0]);
        const options = { delete: new streams.DeleteReq.Options(), tombstone: new streams.TombstoneReq.Options() };
        for (const each of Object.values(options))
          each.setStreamIdentifier(identifier(name)).setStreamExists(new shared.Empty());
        if (method === 'delete') client.delete(new streams.DeleteReq().setOptions(options.delete), asNode, done);
        else client.tombstone(new streams.TombstoneReq().setOptions(options.tombstone), asNode, done);
      });
    assert.deepEqual(
      [await change('delete', 'notes-1'), await change('tombstone', 'notes-1')],
      ['wrong-expected-version', 'wrong-expected-version'],
    );
    assert.equal(
      await append(appendOptions('notes-1'), new streams.AppendReq().setProposedMessage(proposed())),
      undefined,
    );
    assert.deepEqual(
      [await change('delete', 'notes-1'), await change('delete', 'notes-1'), await change('tombstone', 'notes-1')],
      [undefined, 'stream-deleted', 'stream-deleted'],
    );
  });
  it('with ids in two numbers, it is the same as with ids in text', async () => {
    for (const id of [
      '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
      'ffffffff-ffff-4fff-bfff-ffffffffffff',
      '00000000-0000-4000-8000-000000000001',
    ]) {
      const half = (hex: string): string => BigInt.asIntN(64, BigInt(`0x${hex}`)).toString();
      const hex = id.replaceAll('-', '');
      const structured = new shared.UUID().setStructured(
        new shared.UUID.Structured()
          .setMostSignificantBits(half(hex.slice(0, 16)))
          .setLeastSignificantBits(half(hex.slice(16))),
      );
      const stream = `notes-${id}`;
      assert.equal(
        await append(appendOptions(stream), new streams.AppendReq().setProposedMessage(proposed().setId(structured))),
        undefined,
      );
      assert.equal((await gather(log.store.read(stream)))[0]!.id, id);
      const options = (option: InstanceType<typeof streams.ReadReq.Options.UUIDOption>) =>
        readOptions((all) =>
          all
            .setStream(
              new streams.ReadReq.Options.StreamOptions()
                .setStreamIdentifier(identifier(stream))
                .setStart(new shared.Empty()),
            )
            .setCount('1')
            .setNoFilter(new shared.Empty())
            .setUuidOption(option),
        );
      const read = async (option: InstanceType<typeof streams.ReadReq.Options.UUIDOption>) =>
        ((await once(client.read(options(option), asNode), 'data'))[0] as ReadResp)
          .getEvent()!
          .getEvent()!
          .getId()!
          .toObject();
      assert.equal((await read(new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty()))).string, id);
      assert.deepEqual(
        (await read(new streams.ReadReq.Options.UUIDOption().setStructured(new shared.Empty()))).structured,
        structured.toObject().structured,
      );
    }
  });

  /** Resolves when the next reader that follows the log has stopped doing so. */
  const followingEnds = (): Promise<void> =>
    new Promise((resolve) => {
      const { follow } = log.store;
      log.store.follow = async function* (...args) {
        try {
          yield* follow(...args);
        } finally {
          resolve();
        }
      };
    });
  it('when it is cancelled, its reading ends', async () => {
    await log.store.append(newStream(), -1, newEvents(2000).slice(0, 1500));
    for (const when of ['data', 'end'] as const) {
      const ended = followingEnds();
      const call = client.read(subscription(), asNode);
      call.on('error', () => undefined);
      let count = 0;
      await new Promise<void>((resolve) =>
        call.on('data', () => {
          if (++count === (when === 'data' ? 3 : 1502)) resolve();
        }),
      );
      call.cancel();
      await ended;
    }
  });
  it('when its deadline passes, its reading ends', async () => {
    const ended = followingEnds();
    const call = client.read(subscription(), asNode, { deadline: Date.now() + 3000 });
    assert.equal((await endOf(call))?.code, status.DEADLINE_EXCEEDED);
    await ended;
  });
  it('when it does not read what it is sent, the server closes all the same', async () => {
    for (let n = 0; n < 40; n++) await log.store.append(newStream(), -1, [newEvent('x'.repeat(400_000))]);
    const call = client.read(subscription(), asNode);
    call.on('error', () => undefined);
    await once(call, 'metadata');
    await log.close();
  });
  it('from an account that may no longer, a read ends also while nobody takes what was read', async () => {
    for (let n = 0; n < 40; n++) await log.store.append(newStream(), -1, [newEvent('x'.repeat(400_000))]);
    const { readAll } = log.store;
    const ended = new Promise<void>((resolve) => {
      log.store.readAll = async function* (...args) {
        try {
          yield* readAll(...args);
        } finally {
          resolve();
        }
      };
    });
    const call = client.read(readOptions(wholeLog), asNode);
    call.on('error', () => undefined);
    await once(call, 'metadata');
    authorize = async () => () => false;
    await ended;
  });
  it('from an account that may no longer, it ends', async () => {
    const call = client.read(subscription(), asNode);
    const ended = endOf(call);
    await once(call, 'data');
    const batches = client.batchAppend(asNode);
    batches.write(batch(randomUUID(), [Buffer.from('x')], true));
    await once(batches, 'data');
    authorize = async () => () => false;
    const answered = once(batches, 'data');
    batches.write(batch(randomUUID(), [Buffer.from('x')], true));
    assert.equal((await answered)[0].getError().getDetails().getTypeName(), 'event_store.client.AccessDenied');
    batches.end();
    assert.equal((await ended)?.code, status.PERMISSION_DENIED);
  });
  it('from an account that may no longer log in, whatever is under way ends, an append before it is stored', async () => {
    const idle = client.batchAppend(asNode);
    const appending = new Promise<ServiceError | null>((resolve) => {
      const call = client.append(asNode, resolve);
      call.write(appendOptions('notes-1'));
      void once(idle, 'error').then(() => {
        call.write(new streams.AppendReq().setProposedMessage(proposed()));
        call.end();
      });
    });
    idle.write(batch(randomUUID(), [Buffer.from('x')], true, 'notes-2'));
    await once(idle, 'data');
    authorize = async () => {
      throw new RequestError('unauthenticated', 'Gone');
    };
    assert.equal((await endOf(idle))?.code, status.UNAUTHENTICATED);
    assert.equal((await appending)?.code, status.UNAUTHENTICATED);
    assert.deepEqual(await gather(log.store.read('notes-1')), []);
  });
  it('that cannot be answered is told why', async () => {
    for (const [code, right] of [
      ['unauthenticated', status.UNAUTHENTICATED],
      ['limited', status.RESOURCE_EXHAUSTED],
      ['unavailable', status.UNAVAILABLE],
    ] as const) {
      authorize = async () => {
        throw new RequestError(code, 'Because');
      };
      assert.deepEqual(await append(appendOptions('notes-1')).then((error) => [error?.code, error?.details]), [
        right,
        'Because',
      ]);
      assert.equal((await endOf(client.read(subscription(), asNode)))?.code, right);
      assert.equal((await endOf(client.batchAppend(asNode)))?.code, right);
    }
    authorize = async () => {
      throw new TypeError('secret');
    };
    assert.deepEqual(await append(appendOptions('notes-1')).then((error) => [error?.code, error?.details]), [
      status.INTERNAL,
      'The server has failed',
    ]);
    reported = 1;
  });
  it('while the log takes nothing, it hears that nobody knows what became of it', async () => {
    log.store.append = async () => {
      throw new RequestError('unavailable', 'The log has stopped');
    };
    const call = client.batchAppend(asNode);
    const ended = endOf(call);
    call.write(batch(randomUUID(), [Buffer.from('x')], true));
    assert.equal((await ended)?.code, status.UNAVAILABLE);
    assert.equal(
      (await append(appendOptions('notes-1'), new streams.AppendReq().setProposedMessage(proposed())))?.code,
      status.UNAVAILABLE,
    );
  });
  itInSoak('however much of it, does not hold up the others', async () => {
    for (let n = 0; n < 40; n++) await log.store.append(newStream(), -1, newEvents(500));
    const longest = longestTurn();
    const filter = new streams.ReadReq.Options.FilterOptions()
      .setCount(new shared.Empty())
      .setCheckpointintervalmultiplier(1)
      .setEventType(
        new streams.ReadReq.Options.FilterOptions.Expression().setRegex('(([a-z]+:)?[a-zA-Z/@]*x?){10}never'),
      );
    const reads = Array.from({ length: 4 }, () =>
      endOf(
        client.read(
          readOptions((options) => wholeLog(options).setFilter(filter)),
          asNode,
        ),
      ),
    );
    assert.deepEqual(await Promise.all(reads), [undefined, undefined, undefined, undefined]);
    const heldUp = longest();
    assert.ok(heldUp < 2000, `held up for ${heldUp} ms of processor time`);
  });
});
