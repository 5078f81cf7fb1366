import assert from 'node:assert/strict';
import type { AuthContext } from 'ssh2';
import { peer } from '../../support/peer.ts';
import { ok, refused } from '../../support/people.ts';
import { type Played, play, recordedDevices } from '../../support/recordedDevices.ts';
import { fingerprint, newHostKey, speaks } from '../../support/sshPeer.ts';
import { usePeople, useService } from '../../support/useService.ts';

const other = newHostKey();
const plain = (text: string): string => text.replace(/=+$/, '');
const secret = 'recognisable-secret';

describe('Logins to devices', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const people = usePeople(service);
  const device = peer();
  const [manager, inventories] = ['/configuration_manager', '/inventory_manager/v1/inventories'];
  const recorded = recordedDevices.find(({ type }) => type === 'cisco-ios') ?? assert.fail('no device');
  type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<any>;
  const admin: Ask = (method, path, body, headers) => service.ask(method, path, body, headers);
  let logins: (readonly [username: string, password: string])[] = [];
  let n = 0;

  const serve = (hostKey?: string, loggedIn = (): void => undefined): void => {
    logins = [];
    const played: Played = { received: [], running: [...recorded.lines] };
    const auth = (context: AuthContext): void => {
      if (context.method === 'none') {
        context.reject(['password']);
        return;
      }
      logins.push([context.username, context.method === 'password' ? context.password : context.method]);
      if (context.username !== 'ops' || context.method !== 'password' || context.password !== secret) {
        context.reject([]);
        return;
      }
      context.accept();
      loggedIn();
    };
    device.behave(speaks({ ...(hostKey !== undefined && { hostKey }), shell: play(recorded, {}, played), auth }));
  };
  beforeEach(() => serve());

  const node = (attributes: object) => ({
    name: `n-${++n}`,
    attributes: { host: '127.0.0.1', port: device.port(), ostype: 'cisco-ios', keepSession: 0, ...attributes },
  });
  /** The device of a new inventory. */
  const made = async (attributes: object, more: object = {}): Promise<string> => {
    const one = node(attributes);
    ok(await admin('POST', inventories, { name: `i-${one.name}`, devices: [one], ...more }));
    return one.name;
  };
  const at = (name: string, rest = ''): string => `${manager}/devices/${name}${rest}`;
  const credential = async (name: string, more: object = {}) =>
    ok(await admin('POST', `${manager}/credentials`, { name, username: 'ops', password: secret, ...more }));

  describe('host keys', () => {
    it('are learnt, compared and pinned before a password is sent', async () => {
      const name = await made({ user: 'ops', password: secret });
      refused(await admin('GET', at(name, '/hostKey')), 404, /pinned/);
      refused(
        await admin('GET', at(name, '/configuration')),
        502,
        new RegExp(`no host key.*${plain(fingerprint).replace(/[+/]/g, '.')}`),
      );
      const asked = ok(await admin('POST', at(name, '/hostKey'), {}));
      assert.deepEqual(asked, { device: name, fingerprint: plain(fingerprint), type: 'ssh-ed25519', pinned: false });
      refused(await admin('POST', at(name, '/hostKey'), { accept: other.fingerprint }), 409, /accept/);
      assert.deepEqual(logins, []);
      assert.equal(ok(await admin('POST', at(name, '/hostKey'), { accept: fingerprint })).pinned, true);
      assert.deepEqual(ok(await admin('GET', at(name, '/hostKey'))), { ...asked, pinned: true });
      assert.deepEqual(logins, []);
      assert.match(ok(await admin('GET', at(name, '/configuration'))).config, /Loopback7/);
      assert.deepEqual(logins, [['ops', secret]]);
    });

    it('that have changed end every call before a password is sent', async () => {
      const name = await made({ user: 'ops', password: secret });
      ok(await admin('POST', at(name, '/hostKey'), { accept: fingerprint }));
      serve(other.hostKey);
      for (const path of ['/configuration', '/isAlive']) {
        const { status, text } = await admin('GET', at(name, path));
        assert.equal(status, path === '/isAlive' ? 200 : 502);
        assert.ok(text.includes(plain(other.fingerprint)), text);
      }
      refused(await admin('POST', at(name, '/configuration'), { config: { config: 'hostname x\n' } }), 502, /host key/);
      const asked = ok(await admin('POST', at(name, '/hostKey'), {}));
      assert.deepEqual([asked.pinned, asked.changed], [false, true]);
      assert.deepEqual(logins, []);
      ok(await admin('POST', at(name, '/hostKey'), { accept: other.fingerprint }));
      ok(await admin('GET', at(name, '/isAlive')));
      assert.equal(logins.length, 1);
    });

    it('that change between two calls are looked at before each one', async () => {
      const name = await made({ user: 'ops', password: secret });
      const { fingerprint: shown } = ok(await admin('POST', at(name, '/hostKey'), {}));
      serve(other.hostKey);
      refused(await admin('POST', at(name, '/hostKey'), { accept: shown }), 409, /accept/);
      refused(await admin('GET', at(name, '/hostKey')), 404);
      serve();
      ok(await admin('POST', at(name, '/hostKey'), { accept: shown }));
      const change = { config: { config: 'hostname x\n' }, options: { backup: true } };
      // The copy before the change is read with the key that is pinned, and the next session shows another one.
      serve(undefined, () => serve(other.hostKey));
      refused(await admin('POST', at(name, '/configuration'), change), 502, /not the one that is pinned/);
      assert.deepEqual(logins, []);
      assert.ok(ok(await admin('GET', `${manager}/backups?device=${name}&at=2100-01-01T00:00:00Z`)));
    });

    it('end with their host and port, and when they are removed', async () => {
      const name = await made({ user: 'ops', password: secret });
      ok(await admin('POST', at(name, '/hostKey'), { accept: fingerprint }));
      const attributes = { ...node({}).attributes, host: 'localhost', user: 'ops', password: secret };
      ok(await admin('PATCH', `${inventories}/i-${name}/nodes/${name}`, { attributes }));
      refused(await admin('GET', at(name, '/hostKey')), 404);
      ok(
        await admin('PATCH', `${inventories}/i-${name}/nodes/${name}`, {
          attributes: { ...attributes, host: '127.0.0.1' },
        }),
      );
      ok(await admin('GET', at(name, '/hostKey')));
      ok(await admin('DELETE', at(name, '/hostKey')));
      refused(await admin('GET', at(name, '/configuration')), 502, /no host key/);
      refused(await admin('DELETE', at(name, '/hostKey')), 404);
    });

    it('are not learnt of devices that have none, or that are hidden', async () => {
      refused(await admin('POST', at('lab-01', '/hostKey'), {}), 422, /SSH/);
      const name = await made({}, { groups: ['ops'] });
      for (const [method, body] of [
        ['POST', {}],
        ['GET', undefined],
        ['DELETE', undefined],
      ] as const) {
        const hidden = await people.stranger(method, at(name, '/hostKey'), body);
        const none = await people.stranger(method, at('nobody', '/hostKey'), body);
        assert.deepEqual([hidden.status, hidden.text.replaceAll(name, 'nobody')], [404, none.text]);
      }
      ok(await people.member('POST', at(name, '/hostKey'), { accept: fingerprint }));
    });
  });

  describe('credentials', () => {
    it('are sealed, masked, replaced and deleted', async () => {
      const created = (await credential('first', { enablePassword: secret, groups: ['ops'] })).data;
      assert.deepEqual([created.password, created.enablePassword, created.groups], ['********', '********', ['ops']]);
      const path = `${manager}/credentials/first`;
      const replaced = ok(await admin('PUT', path, { username: 'ann', password: '********' })).data;
      assert.deepEqual([replaced.username, replaced.password, replaced.enablePassword], ['ann', '********', undefined]);
      refused(await admin('PUT', path, { username: 'ann' }), 400, /password/);
      refused(await admin('PUT', path, { username: 'ann', password: 'p', privateKey: 'k' }), 400, /password/);
      refused(await admin('PUT', path, { username: 'ann', privateKey: '********' }), 400, /privateKey/);
      refused(await admin('PUT', path, { username: 'ann', password: 'p', groups: ['none'] }), 404, /groups/);
      refused(await admin('POST', `${manager}/credentials`, { name: 'first', username: 'a', password: 'p' }), 409);
      const { text } = await admin('GET', '/audit/events?limit=1000');
      assert.ok(!text.includes(secret));
      ok(await admin('DELETE', path));
      refused(await admin('GET', path), 404);
    });

    it('log in where nodes and adapters name them, as a whole or by member', async () => {
      await credential('shared');
      const attributes = [
        { credential: 'shared' },
        { ansible_credential: 'shared' },
        { user: '$SECRET.shared.username', password: '$SECRET.shared.password' },
      ];
      for (const one of attributes) {
        const name = await made({ hostKey: fingerprint, ...one });
        const shown = ok(await admin('GET', `${inventories}/i-${name}/nodes/${name}`)).attributes;
        for (const [member, value] of Object.entries(one)) assert.equal(shown[member], value);
        serve();
        assert.equal(ok(await admin('GET', at(name, '/isAlive'))).alive, true);
        assert.deepEqual(logins, [['ops', secret]]);
      }
      const properties = { credential: 'shared', hostKey: fingerprint, keepSession: 0 };
      const devices = [{ name: 'of-adapter', host: '127.0.0.1', port: device.port(), ostype: 'cisco-ios' }];
      const adapter = { name: 'with-credential', type: 'ssh', properties, devices };
      ok(await admin('POST', `${manager}/adapters`, adapter));
      assert.equal(ok(await admin('GET', at('of-adapter', '/isAlive'))).alive, true);
      refused(await admin('DELETE', `${manager}/credentials/shared`), 409, /adapter.*with-credential.*inventory/);
    });

    it('must be there, and be seen, when somebody names them', async () => {
      await credential('closed', { groups: ['ops'] });
      const named = [
        { credential: 'closed' },
        { password: '$SECRET.closed.password' },
        { a: [{ b: '$SECRET.closed.username' }] },
      ];
      const add = (ask: Ask, attributes: object) =>
        ask('POST', inventories, { name: `x-${++n}`, devices: [node(attributes)] });
      for (const attributes of named) {
        const text = async (ask: Ask, of: object) => {
          const { status, body } = await add(ask, of);
          return [status, JSON.stringify([body.message, body.metadata?.errors])] as const;
        };
        const [status, hidden] = await text(people.stranger, attributes);
        const none = await text(people.stranger, JSON.parse(JSON.stringify(attributes).replace('closed', 'nobody')));
        assert.deepEqual([status, hidden.replaceAll('closed', 'nobody')], [404, none[1]]);
        assert.match(hidden, /\/devices\/0\/attributes\//);
        ok(await add(people.member, attributes));
      }
      for (const reference of ['$SECRET.closed', '$SECRET.', '$SECRET.closed.groups', '$SECRET.closed.privateKey'])
        refused(await add(people.member, { password: reference }), 404, /attributes\/password/);
      const adapter = { name: 'x', type: 'ssh', properties: { credential: 'closed' }, devices: [] };
      refused(await people.stranger('POST', `${manager}/adapters`, adapter), 404, /properties\/credential/);
      const own = ok(await add(people.stranger, { user: 'u' })).result;
      const path = `${inventories}/${own._id}/nodes`;
      const { name } = ok(await people.stranger('GET', path)).result.data[0];
      refused(await people.stranger('PATCH', `${path}/${name}`, { attributes: { credential: 'closed' } }), 404);
      refused(await people.stranger('POST', path, { nodes: [node({ credential: 'closed' })] }), 404, /nodes\/0/);
      const bulk = { inventory_identifier: own._id, nodes: [node({ credential: 'closed' })] };
      refused(await people.stranger('POST', '/inventory_manager/v1/nodes/bulk', bulk), 404);
      refused(await people.stranger('GET', `${manager}/credentials/closed`), 404);
      assert.ok(!(await people.stranger('GET', `${manager}/credentials`)).text.includes('closed'));
    });

    it('must be there, and be seen, when they are used: nothing is called', async () => {
      await credential('mine', { groups: ['ops'] });
      const name = await made({ credential: 'mine', hostKey: fingerprint });
      serve();
      refused(await people.stranger('GET', at(name, '/configuration')), 409, /mine/);
      const change = { config: { config: 'hostname x\n' } };
      refused(await people.stranger('POST', at(name, '/configuration'), change), 409, /mine/);
      const alive = ok(await people.stranger('GET', at(name, '/isAlive')));
      assert.equal(alive.alive, false);
      assert.deepEqual(logins, []);
      assert.equal(ok(await people.member('GET', at(name, '/isAlive'))).alive, true);
    });
  });
});
