import assert from 'node:assert/strict';
import { mask } from '../../../src/domain/engine/secretFields.ts';
import { profileDocument } from '../../../src/domain/profiles/profiles.ts';
import { ok, refused } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

describe('profiles over HTTP', function () {
  this.timeout(300_000);
  const service = useService();
  const put = (name: string, properties: unknown, headers = {}) =>
    service.ask('PUT', `/profiles/${encodeURIComponent(name)}`, { properties }, headers);
  const get = async (name: string) => ok(await service.ask('GET', `/profiles/${encodeURIComponent(name)}`));

  // Of fields that are more than a type and its bounds: values that are accepted, and values that are rejected.
  const fields: readonly [group: string, names: string, good: readonly unknown[], bad: readonly unknown[]][] = [
    ['', 'redisProps', [{ any: { thing: [1] } }], ['x', []]],
    [
      'authenticationProps',
      'admins',
      [[], ['admins'], [{ group: 'admins', provenance: 'local', anything: 1 }], [{ name: 'admins' }]],
      ['admins', [1], [''], [{ group: 1 }]],
    ],
    [
      'authenticationProps',
      'cookieName',
      ['session', '__Host-token', 'a.b'],
      ['', 'a b', 'a;b', 'a=b', 'a\nb', 'ä', 'x'.repeat(65)],
    ],
    [
      'expressProps',
      'access_control_allow_origin',
      ['*', 'https://a.example'],
      ['', 'a\r\nSet-Cookie: x', 'a b', 'ä', 1],
    ],
    [
      'expressProps',
      'allowedHttpOptionalVerbs',
      [
        [],
        'ACL BIND CHECKOUT CONNECT COPY LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE M-SEARCH NOTIFY PROPFIND PROPPATCH PURGE REBIND REPORT SEARCH SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'.split(
          ' ',
        ),
      ],
      [['GET'], ['acl'], 'ACL'],
    ],
    [
      'loggerProps',
      'log_level console_level',
      ['error', 'warn', 'info', 'debug', 'trace', 'spam'],
      ['fatal', 'WARN', '', 1],
    ],
    [
      '',
      'alarmProps',
      [
        [],
        [{ description: 'd', ip: '192.0.2.1', type: 'trap' }],
        [{ ip: '2001:db8::1', type: 'inform', properties: { ip: 'a.example' } }],
      ],
      [{}, [{ type: 'poll' }], [{ ip: 'a b' }], [{ properties: { x: 1 } }], [{ x: 1 }]],
    ],
    ['adapterStrategy', 'device', [{}, { order: ['a'] }, { order: ['b'], anything: 1 }], [[], { order: 'a' }]],
  ];
  for (const [group, names, good, bad] of fields) {
    for (const field of names.split(' ')) {
      it(`takes what ${group && `${group}.`}${field} may be, shows it, removes it, and refuses the rest`, async () => {
        const around = (value: unknown) => (group === '' ? { [field]: value } : { [group]: { [field]: value } });
        const path = `/properties/${group === '' ? '' : `${group}/`}${field}`;
        const shownIn = (doc: any) => (group === '' ? doc : (doc[group] ?? {}))[field]; // a profile
        for (const value of good) {
          assert.deepEqual(shownIn(ok(await put('fields', around(value))).data), value);
          assert.deepEqual(shownIn(await get('fields')), value);
        }
        for (const value of bad) {
          const answer = await put('fields', around(value));
          assert.equal(answer.status, 400, `${JSON.stringify(value)}: ${answer.text}`);
          assert.ok(
            answer.body.metadata.errors.every((fault: any) => fault.path.startsWith(path)),
            answer.text,
          ); // as the contract has it
        }
        assert.deepEqual(shownIn(await get('fields')), good.at(-1), 'what is refused changes nothing');
        ok(await put('fields', around(null)));
        assert.deepEqual(shownIn(await get('fields')), shownIn(profileDocument({ id: 'fields' })));
      });
    }
  }

  it('refuses unknown fields, prebuiltProps and another id, each with its place', async () => {
    for (const [properties, path] of [
      [{ uiProp: {} }, '/properties/uiProp'],
      [{ uiProps: { hom: 'x' } }, '/properties/uiProps/hom'],
      [{ prebuiltProps: {} }, '/properties/prebuiltProps'],
      [{ id: 'other' }, '/properties/id'],
      [
        { alarmProps: [{ properties: { properties: { properties: { properties: { properties: {} } } } } }] },
        '/properties/alarmProps/0/properties/properties/properties/properties/properties',
      ],
    ] as const)
      refused(await put('never', properties), 400, new RegExp(`"path":"${path}"`));
    refused(await service.ask('PUT', '/profiles/never', {}), 400, /\/properties/);
    refused(await service.ask('PUT', '/profiles/active', { properties: {} }), 400, /active/);
    refused(await service.ask('POST', '/profiles', { description: 'without an id' }), 400, /\/id/);
    refused(await service.ask('GET', '/profiles/never'), 404);
  });

  it('creates once, wrapped or not, lists, updates and deletes', async () => {
    for (const [name, body] of [
      ['first', { id: 'first', description: 'One' }],
      ['second', { properties: { id: 'second', description: 'Two', services: ['x'] } }],
    ] as const) {
      const answer = ok(await service.ask('POST', '/profiles', body));
      assert.deepEqual([answer.status, answer.data.id, answer.data.prebuiltProps], ['Created', name, {}]);
      refused(await service.ask('POST', '/profiles', body), 409);
    }
    const { results, total } = ok(await service.ask('GET', '/profiles?multiContains[id]=s&multiEquals[services]=x'));
    assert.deepEqual([results.map((one: { id: string }) => one.id), total], [['second'], 1]);
    const same = await put('second', { description: 'Two', id: 'second' });
    assert.deepEqual([ok(same).status, same.headers.get('etag')?.split('-')[0]], ['OK', '"0']);
    refused(await put('second', { description: 'Three' }, { 'If-Match': '"7"' }), 412);
    assert.equal(
      ok(await put('second', { description: 'Three' }, { 'If-Match': same.headers.get('etag') })).data.description,
      'Three',
    );
    assert.equal(ok(await service.ask('DELETE', '/profiles/second')).data.description, 'Three');
    refused(await service.ask('GET', '/profiles/second'), 404);
    assert.equal(ok(await put('second', {})).status, 'Created');
  });

  it('have any name', async () => {
    for (const name of ['a/b', 'Zürich 1', '50%', 'constructor', '-']) {
      assert.equal(ok(await put(name, { description: name })).status, 'Created');
      assert.deepEqual([(await get(name)).id, (await get(name)).description], [name, name]);
    }
  });

  it('seal their secrets: shown as a mask, which means unchanged', async () => {
    const secret = {
      redisProps: { host: 'h', password: 'p1', sentinels: [{ auth: 'p2' }] },
      alarmProps: [
        { ip: 'a', community: 'c1' },
        { ip: 'b', type: 'trap', community: 'c2' },
      ],
      loggerProps: { syslog: { nested: { 'API-Key': 1, token: 'p3' } } },
    };
    const made = await put('secret', secret);
    assert.doesNotMatch(made.text, /p1|p2|p3|c1|c2/);
    const first = ok(made).data;
    assert.deepEqual(
      [first.redisProps, first.alarmProps[0]],
      [
        { host: 'h', password: mask, sentinels: [{ auth: mask }] },
        { ip: 'a', community: mask },
      ],
    );
    const masked = {
      redisProps: first.redisProps,
      alarmProps: first.alarmProps,
      loggerProps: { syslog: first.loggerProps.syslog },
    };
    for (const properties of [secret, masked])
      assert.equal(
        (await put('secret', properties)).headers.get('x-event-position'),
        made.headers.get('x-event-position'),
        'no event',
      );
    // The receiver moves up, and its secret with it: to say it in clear changes nothing.
    const moved = await put('secret', { alarmProps: [{ ip: 'b', type: 'trap', community: mask }] });
    assert.notEqual(moved.headers.get('x-event-position'), made.headers.get('x-event-position'));
    assert.equal(
      (await put('secret', { alarmProps: [{ ip: 'b', type: 'trap', community: 'c2' }] })).headers.get(
        'x-event-position',
      ),
      moved.headers.get('x-event-position'),
    );
    refused(
      await put('secret', { alarmProps: [{ ip: 'elsewhere', type: 'trap', community: mask }] }),
      400,
      /\/properties\/alarmProps\/0\/community/,
    );
    refused(await put('secret', { expressProps: { express_https: { key: mask } } }), 400, /express_https\/key/);
    assert.notEqual(
      (await put('secret', { redisProps: { password: 'p4' } })).headers.get('etag'),
      moved.headers.get('etag'),
    );
    assert.deepEqual(ok(await put('secret', { redisProps: { password: null } })).data.redisProps, {
      host: 'h',
      sentinels: [{ auth: mask }],
    });
  });
});
