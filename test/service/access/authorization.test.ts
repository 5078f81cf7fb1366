import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { areas } from '../../../src/http/areas.ts';
import { methodIndex } from '../../../src/http/authorization/methods.ts';
import { queryOf } from '../../../src/http/engine/query.ts';
import type { ActionRoute, Call, Route } from '../../../src/http/engine/route.ts';
import type { Service } from '../../../src/http/engine/service.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, refused } from '../../support/people.ts';
import { processorTime } from '../../support/processorTime.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';

const password = 'a long enough password';
const method = (name: string, provenance = 'authorization') => ({ provenance, name });

describe('authorization over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
  let service: TestService;
  let tests = 0;
  before(async () => {
    service = await startService({}, folder);
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    tests++;
  });

  /** A name that only this test uses: most of them share one service, as each password costs time. */
  const own = (name: string) => `${name}${tests}`;

  const post = async (path: string, body: unknown) =>
    ok(await service.ask('POST', `/authorization/${path}`, body)).data;
  const asBob = (path: string, verb = 'GET', body?: unknown, headers?: Record<string, string>) =>
    service.as({ user: own('bob'), password })(verb, path, body, headers);

  describe('methods', () => {
    const list = async (query = '') => ok(await service.ask('GET', `/authorization/methods${query}`));
    it('are the rows, sorted by name, 25 unless asked otherwise', async () => {
      const { results, total } = await list();
      assert.equal(results.length, 25);
      const all = (await list('?limit=1000')).results;
      assert.equal(all.length, total);
      const names = all.map(({ name }: { name: string }) => name);
      assert.deepEqual(
        names,
        names.toSorted((a: string, b: string) =>
          a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : a < b ? -1 : 1,
        ),
      );
      assert.deepEqual(
        all.find(({ name }: { name: string }) => name === 'getAccount'),
        {
          name: 'getAccount',
          provenance: 'authorization',
          route: { path: '/accounts/:id', verb: 'GET', fullPath: '/authorization/accounts/:id' },
          deprecated: false,
        },
      );
      for (const { name, deprecated } of all) assert.equal(typeof deprecated, 'boolean', name);
      assert.ok(!all.some(({ provenance }: { provenance: string }) => provenance === 'service'));
    });
    it('say whether they are deprecated, and are found by it', () => {
      const row = (name: string, more: object) =>
        ({
          name,
          method: 'get',
          path: `/${name}`,
          summary: name,
          access: [],
          answer: {},
          run: async () => ({}),
          ...more,
        }) as Route;
      const index = methodIndex([
        { area: 'mop', prefix: '/mop', routes: [row('kept', {}), row('going', { deprecated: true })] },
      ]);
      const found = (value: string) =>
        index
          .page({ where: { field: 'deprecated', op: 'equals', value }, sort: 'name', order: 1, skip: 0, limit: 10 })
          .entries.map(({ text }) => JSON.parse(text));
      assert.deepEqual(found('true'), [
        {
          name: 'going',
          provenance: 'mop',
          route: { path: '/going', verb: 'GET', fullPath: '/mop/going' },
          deprecated: true,
        },
      ]);
      assert.deepEqual(
        found('false')
          .map(({ name, deprecated }) => [name, deprecated])
          .filter(([name]) => name === 'kept'),
        [['kept', false]],
      );
    });
    itInSoak('are listed without compiling the query schema again for each request', async () => {
      const row = areas.flatMap(({ routes: rows }) => rows).find(({ name }) => name === 'getMethods') as ActionRoute;
      const read = (querystring: string) => row.run({ querystring } as Call, {} as Service);
      await read('');
      const reading = processorTime();
      for (let skip = 0; skip < 200; skip++) await read(`skip=${skip}`);
      const ofReading = reading();
      const compiling = processorTime();
      for (let i = 0; i < 20; i++) queryOf({ query: { skip: Type.Integer() } });
      assert.ok(ofReading < compiling(), `${ofReading} ms of processor time`);
    });
    it('are filtered, paged and ordered like every list', async () => {
      const { results, total } = await list(
        '?multiEquals[provenance]=authorization&multiStartsWith[name]=GETacc&order=-1&limit=1',
      );
      assert.deepEqual([results.map(({ name }: { name: string }) => name), total], [['getAccounts'], 3]);
      const outdated = (await list('?multiEquals[deprecated]=true')).total;
      assert.ok(outdated > 0);
      assert.equal((await list('?multiEquals[deprecated]=false')).total, (await list()).total - outdated);
    });
  });

  describe('accounts', () => {
    it('are created from the document, plain or wrapped, and shown without the password', async () => {
      await post('groups', { name: own('noc') });
      const data = await post('accounts', {
        account: {
          username: own('bob'),
          password,
          firstname: 'Bob',
          memberOf: ['readers', { provenance: 'local', name: own('noc'), description: '' }],
        },
      });
      assert.match(data._id, /^[0-9a-f]{24}$/);
      const { created, lastUpdated, _id, ...rest } = data;
      assert.deepEqual(rest, {
        username: own('bob'),
        provenance: 'local',
        firstname: 'Bob',
        email: '',
        inactive: false,
        memberOf: ['readers', own('noc')],
        assignedRoles: [],
        externalGroups: [],
      });
      for (const name of [own('bob'), _id])
        assert.deepEqual(ok(await service.ask('GET', `/authorization/accounts/${name}`)), { ...data, mappings: [] });
      await post('accounts', { username: own('eve'), password });
      assert.deepEqual(ok(await service.ask('GET', `/authorization/accounts?multiEquals[memberOf]=${own('noc')}`)), {
        results: [data],
        total: 1,
      });
      assert.equal(
        ok(
          await service.ask(
            'GET',
            `/authorization/accounts?multiEquals[inactive]=false&multiContains[username]=${own('EVE')}`,
          ),
        ).total,
        1,
      );
    });
    it('are refused with the field that is wrong', async () => {
      for (const [body, field] of [
        [{ username: own('bob'), password: 'seven77' }, /password/],
        [{ username: own('bob'), password: 'ä'.repeat(600) }, /password/],
        [{ username: 'b:b', password }, /username/],
        [{ account: { username: own('bob'), password }, username: own('bob') }, /username/],
      ] as const)
        refused(await service.ask('POST', '/authorization/accounts', body), 400, field);
      refused(
        await service.ask('POST', '/authorization/accounts', {
          username: own('bob'),
          password,
          memberOf: ['x', 'readers', 'y'],
          assignedRoles: ['z'],
        }),
        404,
        /"x.*"y.*"z/s,
      );
      refused(await service.ask('GET', `/authorization/accounts/${own('bob')}`), 404);
    });
    it('have 500 external groups at most that an admin enters', async () => {
      const groups = (count: number) => Array.from({ length: count }, (_, n) => `group ${n}`);
      const account = (count: number, username: string) =>
        service.ask('POST', '/authorization/accounts', {
          username,
          password: 'a long enough password',
          externalGroups: groups(count),
        });
      assert.equal(ok(await account(500, 'typed')).data.externalGroups.length, 500);
      refused(await account(501, 'too many'), 400, /externalGroups/);
      refused(
        await service.ask('PATCH', '/authorization/accounts/typed', { externalGroups: groups(501) }),
        400,
        /externalGroups/,
      );
      assert.equal(ok(await service.ask('GET', '/authorization/accounts/typed')).externalGroups.length, 500);
    });

    it('have names of their own, however many ask at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () =>
          service.ask('POST', '/authorization/accounts', { username: own('bob'), password }),
        ),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
    });
    it('are changed by what is sent, and not when somebody else was faster', async () => {
      const { _id } = await post('accounts', { username: own('bob'), password, memberOf: ['readers'] });
      const { headers } = await service.ask('GET', `/authorization/accounts/${_id}`);
      const { data } = ok(
        await service.ask(
          'PATCH',
          `/authorization/accounts/${own('bob')}`,
          { email: 'bob@example.com' },
          { 'If-Match': headers.get('etag')! },
        ),
      );
      assert.deepEqual([data.email, data.memberOf], ['bob@example.com', ['readers']]);
      refused(
        await service.ask(
          'PATCH',
          `/authorization/accounts/${own('bob')}`,
          { email: '' },
          { 'If-Match': headers.get('etag')! },
        ),
        412,
      );
      refused(await service.ask('PATCH', `/authorization/accounts/${own('nobody')}`, { email: '' }), 404);
    });
    it('that are deactivated, or get another password, are so at the next request', async () => {
      await post('accounts', { username: own('bob'), password });
      ok(await asBob('/authorization/whoami'));
      ok(
        await service.ask('PATCH', `/authorization/accounts/${own('bob')}`, {
          account: { password: 'quite another one' },
        }),
      );
      refused(await asBob('/authorization/whoami'), 401);
      const changed = service.as({ user: own('bob'), password: 'quite another one' });
      ok(await changed('GET', '/authorization/whoami'));
      ok(await service.ask('PATCH', `/authorization/accounts/${own('bob')}`, { inactive: true }));
      refused(await changed('GET', '/authorization/whoami'), 401);
    });
    it('are deleted, and their name is free again', async () => {
      const { _id } = await post('accounts', { username: own('bob'), password });
      assert.equal(ok(await service.ask('DELETE', `/authorization/accounts/${own('bob')}`)).data._id, _id);
      refused(await service.ask('GET', `/authorization/accounts/${_id}`), 404);
      refused(await asBob('/authorization/whoami'), 401);
      assert.notEqual((await post('accounts', { username: own('bob'), password }))._id, _id);
    });
    it('leave no password in clear anywhere', async () => {
      await post('accounts', { username: own('bob'), password });
      ok(await asBob('/authorization/whoami'));
      refused(
        await service.as({ user: own('bob'), password: 'a mistyped password' })('GET', '/authorization/whoami'),
        401,
      );
      ok(await asBob('/authorization/whoami/password', 'POST', { old: password, new: 'the newest password' }));
      const answers = await Promise.all(
        ['/authorization/accounts', `/authorization/accounts/${own('bob')}`, '/health/status', '/metrics'].map(
          async (path) => (await service.ask('GET', path)).text,
        ),
      );
      service = await service.restart();
      const files = keptFiles(service.folder).map(({ bytes }) => bytes.toString('latin1'));
      for (const text of [...answers, ...service.lines, ...files])
        for (const word of [password, 'a mistyped password', 'the newest password', adminPassword, '$scrypt$'])
          assert.ok(!text.includes(word), word);
      assert.ok(files.some((text) => text.includes('accountCreated')));
    });
  });

  describe('external groups', () => {
    it('say what they give, or why they give nothing, to the account and to who asks for it', async () => {
      const mapping = (provenance: string, name: string, platformGroups: readonly string[]) =>
        service.ask('PATCH', `/group-mappings/${provenance}/${own(name)}`, { updates: { platformGroups } });
      for (const made of [
        await mapping('local', 'gives', ['readers', 'later']),
        await mapping('local', 'later', ['later']),
        await mapping('local', 'empty', []),
        await mapping('ldap', 'elsewhere', ['admins']),
      ])
        ok(made);
      const externalGroups = ['gives', 'later', 'empty', 'elsewhere', 'unknown'].map(own);
      const { _id } = await post('accounts', { username: own('bob'), password, externalGroups });
      const wanted = [
        [['readers'], /no group later/],
        [[], /no group later/],
        [[], /names no group/],
        [[], /provenance ldap, the account has local/],
        [[], /no mapping/],
      ] as const;
      for (const answer of [
        ok(await service.ask('GET', `/authorization/accounts/${_id}`)),
        ok(await asBob('/authorization/whoami')),
      ]) {
        assert.deepEqual(answer.externalGroups, externalGroups);
        answer.mappings.forEach((one: any, i: number) => {
          assert.deepEqual([one.externalGroup, one.platformGroups], [externalGroups[i], wanted[i]![0]]);
          assert.match(one.reason, wanted[i]![1]);
        });
      }
    });
  });

  describe('a deleted account', () => {
    it('keeps its name in what it has made, and in exports, which come back as they were', async () => {
      const username = own('leaver');
      const about = { username, password, memberOf: ['operators'] };
      const account = await post('accounts', about);
      const leaver = service.as({ user: username, password });
      const { ask } = service;
      const om = '/operations-manager';
      const automation = ok(await leaver('POST', `${om}/automations`, { name: own('Left') })).data;
      const common = { enabled: true, actionType: 'automations', actionId: automation._id };
      ok(await leaver('POST', `${om}/triggers`, { ...common, type: 'manual', name: 'By hand' }));
      const job = ok(await leaver('POST', `${om}/jobs/start`, { workflow: automation._id })).data;
      const model = { name: own('Left'), schema: { type: 'object' } };
      const { _id: modelId } = ok(await leaver('POST', '/lifecycle-manager/resources', model)).data;
      const exported = async () => ok(await ask('GET', `${om}/automations/${automation._id}/export`)).data;
      const before = await exported();
      ok(await ask('DELETE', `/authorization/accounts/${account._id}`));

      const left = ok(await ask('GET', `${om}/jobs/${job._id}`)).data;
      assert.deepEqual([left.created_by, left.watchers], [username, []]);
      assert.deepEqual(await exported(), before);
      assert.deepEqual([before.createdBy, before.triggers[0].lastUpdatedBy], [username, username]);
      assert.deepEqual(ok(await ask('GET', `/lifecycle-manager/resources/${modelId}`)).data.createdBy, {
        ...{ _id: account._id, username, firstname: '', provenance: 'local' },
      });

      const put = () => ask('PUT', `${om}/automations`, { automations: [before], overwrite: true });
      const revision = async () => (await ask('GET', `${om}/automations/${automation._id}`)).headers.get('etag');
      const tag = await revision();
      ok(await put());
      assert.equal(await revision(), tag);
      assert.equal(ok(await ask('GET', `${om}/automations/${automation._id}`)).data.createdBy, account._id);
      const namesake = await post('accounts', about);
      assert.equal(ok(await ask('GET', `${om}/jobs/${job._id}`)).data.created_by, username);
      assert.notEqual(namesake._id, account._id);
    });
  });

  describe('groups', () => {
    it('are created, changed, renamed and deleted', async () => {
      const data = await post('groups', { group: { name: own('noc'), description: 'At night' } });
      assert.deepEqual(
        [data.name, data.provenance, data.description, data.assignedRoles, data.memberOf],
        [own('noc'), 'local', 'At night', [], []],
      );
      assert.equal(
        ok(await service.ask('PATCH', `/authorization/groups/${own('noc')}`, { name: own('soc') })).data.description,
        'At night',
      );
      assert.equal(ok(await service.ask('GET', `/authorization/groups/${data._id}`)).name, own('soc'));
      refused(await service.ask('POST', '/authorization/groups', { name: own('soc') }), 409, /soc/);
      await post('groups', { name: own('noc') });
      ok(await service.ask('DELETE', `/authorization/groups/${own('soc')}`));
      refused(await service.ask('DELETE', `/authorization/groups/${own('soc')}`), 404);
    });
    it('cannot be made powerful by operators', async () => {
      await post('accounts', { username: own('bob'), password, memberOf: ['operators'] });
      ok(await asBob('/authorization/groups', 'POST', { name: own('mine') }));
      refused(await asBob('/authorization/groups/operators', 'PATCH', { memberOf: ['admins'] }), 403, /admins/);
      refused(await asBob('/authorization/groups', 'POST', { name: own('other'), memberOf: ['admins'] }), 403);
    });
  });

  describe('roles', () => {
    it('allow what they list, from the next request on', async () => {
      await post('roles', { role: { name: own('lister'), allowedMethods: [method('getMethods')] } });
      await post('accounts', { username: own('bob'), password, assignedRoles: [own('lister')] });
      ok(await asBob('/authorization/methods'));
      refused(await asBob('/authorization/accounts'), 403, /getAccounts/);
      ok(
        await service.ask('PATCH', `/authorization/roles/${own('lister')}`, {
          allowedMethods: [method('getAccounts')],
        }),
      );
      ok(await asBob('/authorization/accounts'));
      refused(await asBob('/authorization/methods'), 403, /getMethods/);
    });
    it('name only methods that there are', async () => {
      refused(
        await service.ask('POST', '/authorization/roles', {
          name: 'x',
          allowedMethods: [method('getMethods'), method('fly'), method('getMethods', 'mop')],
        }),
        404,
        /authorization\/fly.*mop\/getMethods/s,
      );
      refused(await service.ask('POST', '/authorization/roles', { name: 'x' }), 400, /allowedMethods/);
    });
  });

  describe('whoami', () => {
    for (const path of ['/whoami', '/authorization/whoami']) {
      it(`${path} says who calls and what they may call`, async () => {
        await post('roles', { name: own('lister'), allowedMethods: [method('getAccounts')] });
        await post('groups', { name: own('noc'), assignedRoles: [own('lister')], provenance: 'LDAP' });
        const { _id } = await post('accounts', {
          username: own('bob'),
          password,
          firstname: 'Bob',
          memberOf: [own('noc')],
        });
        assert.deepEqual(ok(await asBob(path)), {
          id: _id,
          username: own('bob'),
          provenance: 'local',
          firstname: 'Bob',
          groups: [{ name: own('noc'), provenance: 'LDAP' }],
          roles: [own('lister')],
          externalGroups: [],
          mappings: [],
          methods: {
            authorization: [
              ...['whoami', 'changePassword', 'login', 'logout', 'getAccounts', 'getAccountRights'],
              ...['getTokens', 'createToken', 'getToken', 'deleteToken'],
              ...['beginProviderLogin', 'finishProviderLogin', 'endProviderLogins'],
            ],
            customization: ['getBanner'],
          },
          via: 'password',
        });
      });
      it(`${path}/password changes the own password, and every login of the account ends`, async () => {
        await post('accounts', { username: own('bob'), password });
        const { text: token } = await service.ask('POST', '/login', { username: own('bob'), password }, {}, null);
        refused(
          await asBob(`${path}/password`, 'POST', { old: 'not this one', new: 'the newest password' }),
          403,
          /old/,
        );
        refused(await asBob(`${path}/password`, 'POST', { old: password, new: 'short' }), 400, /new/);
        ok(await asBob(`${path}/password`, 'POST', { old: password, new: 'the newest password' }));
        refused(await asBob(path), 401);
        refused(await service.ask('GET', path, undefined, { Authorization: `Bearer ${token}` }, null), 401);
        ok(await service.as({ user: own('bob'), password: 'the newest password' })('GET', path));
      });
    }
  });

  describe('logins', () => {
    const login = (body: unknown, path = '/login') => service.ask('POST', path, body, {}, null);
    const withToken = (token: string) =>
      service.ask('GET', '/authorization/whoami', undefined, { Authorization: `Bearer ${token}` }, null);
    for (const path of ['/login', '/authorization/login']) {
      it(`${path} answers a token that counts as header and as cookie, also after a restart`, async () => {
        for (const body of [
          { user: { username: 'admin', password: adminPassword } },
          { username: 'admin', password: adminPassword },
        ]) {
          const { status, text, headers } = await login(body, path);
          assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
          assert.equal(headers.get('set-cookie'), `token=${text}; Path=/; HttpOnly; SameSite=Strict`);
          assert.equal(ok(await withToken(text)).username, 'admin');
          assert.equal(
            ok(await service.ask('GET', '/authorization/whoami', undefined, { Cookie: `other=1; token=${text}` }, null))
              .username,
            'admin',
          );
          service = await service.restart();
          ok(await withToken(text));
        }
      });
    }
    for (const path of ['/logout', '/authorization/logout']) {
      it(`${path} ends the token of header or cookie`, async () => {
        for (const header of ['Authorization', 'Cookie']) {
          const { text } = await login({ username: 'admin', password: adminPassword });
          const { headers, status } = await service.ask(
            'POST',
            path,
            undefined,
            { [header]: header === 'Cookie' ? `token=${text}` : `Bearer ${text}` },
            null,
          );
          assert.equal(status, 200);
          assert.match(headers.get('set-cookie')!, /^token=; .*Max-Age=0/);
          refused(await withToken(text), 401);
        }
      });
    }
    it('are refused with the wrong password, as with an unknown name', async () => {
      const [wrong, unknown] = [
        await login({ username: 'admin', password: 'wrong' }),
        await login({ username: 'nobody', password: 'wrong' }),
      ];
      refused(wrong, 401);
      assert.match(wrong.headers.get('www-authenticate')!, /^Basic realm="automation-platform", charset="UTF-8"$/);
      assert.equal(wrong.body.message, unknown.body.message);
    });
    it('are limited, and the answer says for how long', async () => {
      for (let i = 0; i < 10; i++) refused(await login({ username: own('bob'), password: `wrong ${i}` }), 401);
      const answer = await login({ username: own('bob'), password: 'wrong' });
      refused(answer, 429);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
      refused(await asBob('/authorization/whoami'), 429);
      ok(await service.ask('GET', '/authorization/whoami'));
    });
  });
});
