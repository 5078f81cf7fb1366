import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

type Request = readonly [method: string, path: string, body?: unknown];

const rounds = Number(process.env.SOAK_ROUNDS ?? 3);

describe('kill -9 under load', function () {
  this.timeout(rounds * 120_000);
  let folder: string;
  let server: Server;
  before(() => {
    folder = temporaryFolder();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it(`loses nothing acknowledged and stores nothing twice, ${rounds} times`, async () => {
    /** What must be there: the last acknowledged list of each mapping, and the one whose fate is open. */
    const known = new Map<string, { stored?: string; open?: string }>();
    const open: { name: string; key: string; body: unknown }[] = [];
    /** Changes of what is gone or called otherwise since, and what was answered; undefined: their fate is open. */
    const passed: { request: Request; key: string; answer?: unknown }[] = [];

    for (let round = 0; round < rounds; round++) {
      server = await startServer(folder);

      // What was open when the last process died is settled by trying again under the same key.
      for (const { name, key, body } of open.splice(0)) {
        const { status, body: answer } = await server.ask('POST', '/operations-manager/automations', body, {
          'Idempotency-Key': key,
        });
        assert.equal(status, 200, JSON.stringify(answer));
        const { body: list } = await server.ask('GET', `/operations-manager/automations?multiEquals[name]=${name}`);
        assert.deepEqual(
          list.data.map(({ _id }: { _id: string }) => _id),
          [answer.data._id],
          `${name} is there once`,
        );
      }
      for (const { request, key, answer } of passed.splice(0)) {
        const again = await server.ask(request[0], request[1], request[2], { 'Idempotency-Key': key });
        assert.equal(again.status, 200, `${request.join(' ')} ${again.text}`);
        if (answer === undefined) continue;
        assert.deepEqual(again.body, answer);
        assert.equal(again.headers.get('idempotency-replayed'), 'true', request.join(' '));
      }
      for (const [name, { stored, open }] of known) {
        const { status, body } = await server.ask('GET', `/group-mappings/ldap/${name}`);
        const value = status === 200 ? body.platformGroups[0] : undefined;
        assert.ok(
          value === stored || (open !== undefined && value === open),
          `${name}: found ${value}, stored ${stored}, open ${open}`,
        );
        known.set(name, { stored: value });
      }

      let acknowledged = 0;
      let dead = false;
      const updating = async (client: number): Promise<void> => {
        for (let i = 0; !dead; i++) {
          const name = `m${client}-${i % 3}`;
          const value = `${round}-${client}-${i}`;
          const before = known.get(name)?.stored;
          known.set(name, { ...(before !== undefined && { stored: before }), open: value });
          const { status } = await server.ask('PATCH', `/group-mappings/ldap/${name}`, {
            updates: { platformGroups: [value] },
          });
          if (status !== 200) return;
          known.set(name, { stored: value });
          acknowledged++;
        }
      };
      const creating = async (client: number): Promise<void> => {
        for (let i = 0; !dead; i++) {
          const name = `automation-${round}-${client}-${i}`;
          const { status } = await server.ask(
            'POST',
            '/operations-manager/automations',
            { name },
            { 'Idempotency-Key': name },
          );
          if (status !== 200) return void open.push({ name, key: name, body: { name } });
        }
      };
      const path = '/operations-manager/automations';
      const passing = async (client: number): Promise<void> => {
        for (let i = 0; !dead; i++) {
          const name = `passing-${round}-${client}-${i}`;
          const requests: readonly Request[] = [
            ['POST', path, { name }],
            ['PATCH', `${path}/${name}`, { name: `${name}-renamed` }],
            ['DELETE', `${path}/${name}-renamed`],
          ];
          for (const request of requests) {
            const key = `${name}-${request[0]}`;
            const { status, body } = await server.ask(request[0], request[1], request[2], { 'Idempotency-Key': key });
            passed.push({ request, key, ...(status === 200 && { answer: body }) });
            if (status !== 200) return;
          }
        }
      };
      const clients = Promise.all([
        ...Array.from({ length: 12 }, (_, n) => updating(n)),
        ...Array.from({ length: 4 }, (_, n) => creating(n)),
        ...Array.from({ length: 4 }, (_, n) => passing(n)),
      ]);
      const enough = 50 + Math.random() * 200;
      await until(() => acknowledged >= enough);
      await server.stop('SIGKILL');
      dead = true;
      await clients;
    }
  });
});
