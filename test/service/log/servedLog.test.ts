import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { AccessDeniedError, EventStoreDBClient } from '@eventstore/db-client';
import { listens } from '../../../src/service/servedLog.ts';
import { freePort } from '../../support/freePort.ts';
import { type Server, startProgram, startServer, temporaryFolder } from '../../support/process.ts';
import { startService } from '../../support/service.ts';

const role = 'reader of the log';
const password = 'password-of-an-account';

describe('the log of a service that serves it', () => {
  let folder: string;
  let server: Server;
  const clients: EventStoreDBClient[] = [];
  const connect = (username: string): EventStoreDBClient => {
    const url = /event log on (\S+)/.exec(server.output().err)![1]!;
    const client = EventStoreDBClient.connectionString(url.replace('://', `://${username}:${password}@`));
    clients.push(client);
    return client;
  };
  const change = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await server.ask(method, `/authorization/${path}`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data._id;
  };
  let roleId: string;
  before(async () => {
    folder = temporaryFolder();
    server = await startServer(folder, { ESDB_PORT: '0' });
    roleId = await change('POST', 'roles', {
      name: role,
      allowedMethods: [{ provenance: 'event-log', name: 'readLog' }],
    });
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.dispose())));
  after(async () => {
    assert.equal(await server.stop(), 0);
    assert.equal(server.output().out, '', 'nothing has failed');
    rmSync(folder, { recursive: true });
  });

  const account = (username: string) => change('POST', 'accounts', { username, password, assignedRoles: [role] });
  const ends: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'is made inactive': (id) => change('PATCH', `accounts/${id}`, { inactive: true }),
    'is deleted': (id) => change('DELETE', `accounts/${id}`),
    'has another password': (id) => change('PATCH', `accounts/${id}`, { password: 'another password' }),
    'has another name': (id) => change('PATCH', `accounts/${id}`, { username: `formerly-${id}` }),
    'has the role no more': (id) => change('PATCH', `accounts/${id}`, { assignedRoles: [] }),
    'has a role that allows it no more': () => change('PATCH', `roles/${roleId}`, { allowedMethods: [] }),
  };
  for (const [n, [what, happens]] of Object.entries(ends).entries()) {
    it(`tells an account nothing more once it ${what}, although nothing else is stored`, async () => {
      const id = await account(`account${n}`);
      const reader = connect(`account${n}`);
      const subscriptions = [reader.subscribeToAll(), reader.subscribeToStream('log-identity')];
      await Promise.all(subscriptions.map((subscription) => once(subscription.resume(), 'caughtUp')));
      const errors = subscriptions.map((subscription) => once(subscription, 'error'));
      await happens(id);
      for (const [error] of await Promise.all(errors)) assert.ok(error instanceof AccessDeniedError, String(error));
    });
  }
  it('goes on telling an account in which something else changes', async () => {
    await change('PATCH', `roles/${roleId}`, { allowedMethods: [{ provenance: 'event-log', name: 'readLog' }] });
    const id = await account('steady');
    const subscription = connect('steady').subscribeToAll();
    await once(subscription.resume(), 'caughtUp');
    await change('PATCH', `accounts/${id}`, { firstname: 'Rosa' });
    // What ended the others would have come to this one too.
    const watched = connect('watched');
    const watchedId = await account('watched');
    const other = watched.subscribeToAll();
    await once(other.resume(), 'caughtUp');
    const ended = once(other, 'error');
    await change('DELETE', `accounts/${watchedId}`);
    await ended;
    const told = new Promise<void>((resolve, reject) => {
      subscription.on('data', ({ event }) => {
        if (JSON.stringify(event?.data).includes('newcomer')) resolve();
      });
      subscription.on('error', reject);
    });
    await account('newcomer');
    await told;
  });
});

describe('a service that serves its log is ready', () => {
  it('when its log is there too', async () => {
    const folder = temporaryFolder();
    const [port, logPort] = [await freePort(), await freePort()];
    const program = startProgram([], { DATA_DIR: folder, PORT: String(port), ESDB_PORT: String(logPort) });
    let ended = false;
    void program.ended.then(() => {
      ended = true;
    });
    try {
      const isReady = () =>
        fetch(`http://127.0.0.1:${port}/health/ready`).then(
          ({ status }) => status === 200,
          () => false,
        );
      while (!(await isReady())) {
        assert.ok(!ended, program.output().err);
        await pause(5);
      }
      assert.ok(await listens('127.0.0.1', logPort));
    } finally {
      program.child.kill('SIGKILL');
      await program.ended;
      rmSync(folder, { recursive: true });
    }
  });
  it('no more when its log is not, and says so', async () => {
    const service = await startService({ ESDB_PORT: '0', ESDB_HOST: '0.0.0.0' });
    try {
      const ready = async () => (await service.ask('GET', '/health/ready')).status;
      const served = async () => (await service.ask('GET', '/health/status')).body.eventStore.served;
      assert.deepEqual([await ready(), await served()], [200, true]);
      const port = Number(new URL(service.logUrl!).port);
      const { _getActiveHandles } = process as unknown as { _getActiveHandles(): unknown[] };
      const listener = _getActiveHandles().find(
        (handle): handle is NetServer =>
          handle instanceof NetServer && (handle.address() as AddressInfo | null)?.port === port,
      );
      assert.ok(listener);
      listener.close();
      assert.deepEqual([await ready(), await served()], [503, false]);
    } finally {
      await service.stop();
    }
  });
  it('without a log to serve, and shows none', async () => {
    const service = await startService();
    assert.equal((await service.ask('GET', '/health/ready')).status, 200);
    assert.equal((await service.ask('GET', '/health/status')).body.eventStore.served, null);
    await service.stop();
  });
});
