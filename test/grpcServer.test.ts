import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  AccessDeniedError, binaryEvent, BACKWARDS, END, EventStoreDBClient, jsonEvent, START, StreamDeletedError, StreamNotFoundError, WrongExpectedVersionError,
} from '@eventstore/db-client';
import { openGrpcLog, type GrpcLog } from './grpcLog.ts';
import { gather, newEvent, newStream } from './store.contract.ts';

describe('the log by the protocol of EventStoreDB', () => {
  let log: GrpcLog;
  let clients: EventStoreDBClient[];
  const connect = (account?: string, password?: string): EventStoreDBClient => {
    const client = EventStoreDBClient.connectionString(log.url(account, password));
    clients.push(client);
    return client;
  };
  beforeEach(async () => {
    clients = [];
    log = await openGrpcLog();
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.dispose()));
    await log.close();
    assert.deepEqual(log.reported, []);
  });
  it('x', async () => {
    const client = connect();
    const stream = newStream();
    const e = jsonEvent({ type: '@test/things:made', data: { a: 1 }, metadata: { at: '2026-01-01T00:00:00.000Z' } });
    console.log(await client.appendToStream(stream, [e], { expectedRevision: 'no_stream' }));
    console.log(await client.appendToStream(stream, [e], { expectedRevision: 0n, credentials: { username: 'node', password: 'secret node' } }));
    for await (const x of client.readStream(stream)) console.log(x);
    await client.appendToStream(stream, [e], { expectedRevision: 7n }).catch((x) => console.log(x));
    await client.appendToStream(stream, [e], { expectedRevision: 'any' }).catch((x) => console.log(x));
    const sub = client.subscribeToAll();
    for await (const x of sub) { console.log(x.event?.streamId, x.event?.revision); if (x.event?.revision === 1n) break; }
    void [AccessDeniedError, binaryEvent, BACKWARDS, END, START, StreamDeletedError, StreamNotFoundError, WrongExpectedVersionError, randomUUID, gather, newEvent];
  });
});
