import assert from 'node:assert/strict';
import { builtInOf } from '../../support/builtIn.ts';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';
import { ours, workflow } from '../../support/workflowSamples.ts';

describe('Devices of inventories', () => {
  const service = useService();
  const people = usePeople(service);
  const [inventories, manager] = ['/inventory_manager/v1', '/configuration_manager'];
  type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<any>;
  const admin: Ask = (method, path, body, headers) => service.ask(method, path, body, headers);
  const lab = (name: string, more: object = {}) => ({
    name,
    attributes: { host: '192.0.2.77', protocol: 'lab', ...more },
  });
  const make = async (name: string, devices: readonly object[], more: object = {}): Promise<string> =>
    ok(await admin('POST', `${inventories}/inventories`, { name, devices, ...more })).result._id;
  const listed = async (options: object = {}, ask = admin) =>
    ok(await ask('POST', `${manager}/devices`, { options: { limit: 1000, ...options } }));
  let n = 0;
  const names = ({ list }: { readonly list: readonly { readonly name: string }[] }) => list.map(({ name }) => name);
  const at = (name: string, rest = ''): string => `${manager}/devices/${encodeURIComponent(name)}${rest}`;

  before(async () => {
    await make('alpha', [
      { ...lab('Core-2', { ostype: 'eos' }), tags: ['Core', 'fra'] },
      { ...lab('core-1'), tags: ['core'] },
      { name: 'no device', attributes: { site: 'x' } },
    ]);
    await make('beta', [lab('core-1', { host: '192.0.2.99' }), lab('edge-1'), lab('lab-01')]);
    ok(
      await admin('POST', '/mop/createTemplate', {
        mop: { name: 'one', commands: [{ command: 'show version', rules: [] }] },
      }),
    );
    await make('secret', [lab('core-1'), lab('hidden-1'), lab('hidden-2')], { groups: ['ops'] });
  });

  it('are listed once each, by name, of the first source', async () => {
    const all = await listed({ filter: { name: 'core' } }, people.stranger);
    assert.deepEqual([names(all), all.total, all.unique_device_count], [['core-1', 'Core-2'], 2, 2]);
    assert.deepEqual(all.list[0], {
      name: 'core-1',
      host: '192.0.2.77',
      ipaddress: '192.0.2.77',
      'device-type': 'lab',
      origin: 'alpha',
      chosenAdapter: 'alpha',
      adapter: 'alpha',
      inventory: 'alpha',
    });
    const first = await listed({ filter: { name: 'lab-01' } });
    assert.deepEqual([first.total, first.list[0].adapter], [1, 'lab'], 'adapters go before inventories');
    // The first source is decided before the filter.
    assert.deepEqual(names(await listed({ filter: { inventory: 'beta' } })), ['edge-1']);
    assert.deepEqual(names(await listed({ filter: { tags: ['CORE', 'fra'] } })), ['Core-2']);
    assert.deepEqual(names(await listed({ filter: { ostype: 'EOS' }, origins: 'alpha' })), ['Core-2']);
    assert.deepEqual(names(await listed({ filter: { name: 'core-2' }, exactMatch: true })), []);
    const whole = names(await listed({}, people.stranger));
    assert.deepEqual(whole, ['core-1', 'Core-2', 'edge-1', 'lab-01', 'lab-02', 'lab-03']);
    assert.deepEqual(names(await listed({ sort: [{ name: -1 }] }, people.stranger)), whole.toReversed());
    for (let start = 0; start < whole.length; start++)
      assert.deepEqual(names(await listed({ start, limit: 2 }, people.stranger)), whole.slice(start, start + 2));
  });

  it('say which attribute is missing when they are called', async () => {
    const nodes: readonly (readonly [name: string, attributes: object, missing: string])[] = [
      ['bare-1', { host: '192.0.2.1' }, 'username'],
      ['bare-3', { host: '192.0.2.3', protocol: 'http' }, 'baseUrl'],
      [
        'bare-4',
        { host: '192.0.2.4', user: 'ann', hostKey: `SHA256:${'a'.repeat(43)}`, jumpHost: 'bare-1' },
        'username',
      ],
    ];
    const inventory = 'bare';
    await make(
      inventory,
      nodes.map(([name, attributes]) => ({ name, attributes })),
      { groups: ['ops'] },
    );
    for (const [name, , missing] of nodes)
      refused(await admin('GET', at(name, '/configuration')), 502, new RegExp(`has no ${missing}\\b`));
    ok(await admin('DELETE', `/inventory_manager/v1/inventories/${inventory}`));
  });

  it('follow the order of the active profile', async () => {
    const order = async (device: { readonly order: readonly string[] }) =>
      ok(await admin('PUT', '/profiles/ordered', { properties: { adapterStrategy: { device } } }));
    await order({ order: ['beta'] });
    ok(await admin('PUT', '/profiles/ordered/active', {}));
    assert.equal(ok(await people.stranger('GET', at('core-1'))).host, '192.0.2.99');
    assert.equal(ok(await people.stranger('GET', at('lab-01'))).inventory, 'beta');
    await order({ order: [] });
    assert.equal(ok(await people.stranger('GET', at('core-1'))).adapter, 'alpha');
  });

  it('take a configuration, show it, and run commands', async () => {
    const config = { config: { device: 'edge-1', config: 'ntp server 192.0.2.5\n' } };
    assert.equal(ok(await people.stranger('POST', at('edge-1', '/configuration'), config)).verified, true);
    assert.match(ok(await people.stranger('GET', at('edge-1', '/configuration'))).config, /ntp server 192\.0\.2\.5/);
    assert.deepEqual(ok(await admin('GET', at('edge-1', '/isAlive'))), { alive: true, reachable: true });
  });

  /** Requests that name a device, and the answer to each without what says which name it was. */
  const requests: Readonly<Record<string, (ask: Ask, name: string) => Promise<any>>> = {
    'GET device': (ask, name) => ask('GET', at(name)),
    'GET isAlive': (ask, name) => ask('GET', at(name, '/isAlive')),
    'GET configuration': (ask, name) => ask('GET', at(name, '/configuration')),
    'POST configuration': (ask, name) =>
      ask('POST', at(name, '/configuration'), { config: { config: 'ntp server 192.0.2.1\n' } }),
    'POST configuration, tried': (ask, name) =>
      ask('POST', at(name, '/configuration'), {
        config: { config: 'ntp server 192.0.2.1\n' },
        options: { dryRun: true },
      }),
    'POST confirm': (ask, name) => ask('POST', at(name, '/configuration/confirm'), {}),
    'POST hostKey': (ask, name) => ask('POST', at(name, '/hostKey'), {}),
    'POST backups': (ask, name) => ask('POST', `${manager}/devices/backups`, { name }),
    'GET backups of a time': (ask, name) =>
      ask('GET', `${manager}/backups?device=${encodeURIComponent(name)}&at=2027-01-01T00:00:00Z`),
    RunCommandTemplate: (ask, name) => ask('POST', '/mop/RunCommandTemplate', { template: 'one', devices: [name] }),
  };

  it('are reached under any name', async () => {
    const strange = ['a/b', '%2F', '%2e%2e', 'a%2Fb', 'constructor', '__proto__', 'ä €', 'x'.repeat(256)];
    const refusedOfLab: Readonly<Record<string, number>> = { 'POST hostKey': 422, 'POST confirm': 409 };
    // No URL has these as a segment.
    const dots = ['.', '..'];
    await make(
      'strange',
      [...strange, ...dots].map((name) => lab(name)),
    );
    for (const name of [...strange, ...dots])
      assert.deepEqual(names(await listed({ filter: { name }, exactMatch: true })), [name]);
    for (const name of strange) {
      for (const [title, request] of Object.entries(requests))
        assert.equal((await request(admin, name)).status, refusedOfLab[title] ?? 200, `${title} ${name}`);
      assert.equal(ok(await admin('GET', at(name))).name, name);
      const node = `${inventories}/inventories/strange/nodes/${encodeURIComponent(name)}`;
      assert.equal(ok(await admin('GET', node)).name, name);
      ok(await admin('PATCH', node, { tags: ['new'] }));
      ok(await admin('DELETE', node));
      refused(await admin('GET', at(name)), 404);
    }
    assert.equal(ok(await admin('GET', `${inventories}/inventories/strange`)).nodeCount, dots.length);
  });

  it('are found by tags of every sign', async () => {
    const tags = [
      '%',
      '/',
      '..',
      '"',
      "'",
      '<b>',
      '$(x)',
      '*',
      'a b',
      'ß',
      '😀',
      '__proto__',
      'constructor',
      'x'.repeat(256),
    ];
    await make('tagged', [
      { ...lab('signs'), tags },
      { ...lab('all-in-one'), tags: [tags.slice(0, -1).join('')] },
    ]);
    for (const tag of tags) {
      const { nodes } = ok(await admin('POST', `${inventories}/tags/search`, { tagIdentifiers: [tag] })).result;
      assert.deepEqual(names({ list: nodes }), ['signs'], tag);
      assert.deepEqual(names(await listed({ filter: { tags: [tag], inventory: 'tagged' } })), ['signs'], tag);
      const name = `tagged ${++n}`;
      ok(await admin('POST', `${manager}/devicegroup`, { name, query: { tags: [tag], inventory: 'tagged' } }));
      const group = ok(await admin('GET', `${manager}/deviceGroups/${encodeURIComponent(name)}`));
      assert.deepEqual(group.devices, ['signs'], tag);
    }
    refused(await admin('POST', `${inventories}/tags/search`, { tagIdentifiers: ['a\0'] }), 400, /tagIdentifiers\/0/);
  });

  it('do not lead inside', async () => {
    const login = { user: 'u', password: 'p', hostKey: `SHA256:${'A'.repeat(43)}` };
    const inside: Readonly<Record<string, object>> = {
      loop: { host: '127.0.0.1', ...login },
      name: { host: 'localhost', ...login },
      link: { host: '169.254.169.254', ...login },
      none: { host: '0', ...login },
      web: { host: 'x', protocol: 'http', baseUrl: 'http://[::ffff:127.0.0.1]:1/' },
      behind: { host: '192.0.2.1', ...login, jumpHost: 'loop' },
    };
    await make(
      'inside',
      Object.entries(inside).map(([name, attributes]) => ({ name, attributes })),
    );
    const calling = Object.entries(requests).filter(([title]) => !/device|confirm|of a time|RunCommand/.test(title));
    for (const name of Object.keys(inside))
      for (const [title, request] of calling) {
        if (name === 'web' && title === 'POST hostKey') continue;
        const { status, text } = await request(admin, name);
        assert.equal(status, title === 'GET isAlive' ? 200 : 502, `${title} ${name}`);
        assert.match(text, /OUTBOUND_ALLOW/, `${title} ${name}`);
      }
  });

  const operations: readonly (readonly [operation: string, inputs: (word: string) => Record<string, unknown>])[] = [
    ['ConfigurationManager.getDevice', (name) => ({ name })],
    ['ConfigurationManager.isAlive', (name) => ({ name })],
    ['ConfigurationManager.applyDeviceConfig', (device) => ({ device, config: 'ntp server 192.0.2.1' })],
    ['MOP.RunCommandTemplate', (device) => ({ template: 'one', devices: [device] })],
    ['InventoryManager.getInventoryByIdentifier', (identifier) => ({ identifier })],
    ['InventoryManager.clearInventory', (identifier) => ({ identifier })],
    ['InventoryManager.deleteInventory', (identifier) => ({ identifier })],
    ['InventoryManager.populateInventory', (inventory_identifier) => ({ inventory_identifier, nodes: [] })],
  ];
  const outcome = async (ask: Ask, operation: string, inputs: Record<string, unknown>) => {
    const [app, name = ''] = operation.split('.');
    const incoming = Object.fromEntries(Object.keys(inputs).map((key) => [key, `$var.job.in_${key}`]));
    const document = workflow({ it: { ...ours(name, incoming), app } }, ['start -> it', 'it -> end']);
    const made = await admin('POST', '/operations-manager/workflows', { ...document, name: `w${++n}` });
    const variables = Object.fromEntries(Object.entries(inputs).map(([key, value]) => [`in_${key}`, value]));
    const jobs = builtInOf(ask);
    const id = await jobs.start(ok(made).data._id, variables);
    const { status } = await jobs.inState(id, 'complete', 'error');
    const { error } = ok(await admin('GET', `/operations-manager/jobs/${id}/tasks/it`)).data;
    return `${status} ${JSON.stringify(error)}`;
  };
  describe('that are hidden', () => {
    for (const [title, request] of Object.entries(requests))
      it(`are the same as none: ${title}`, async () => {
        const hidden = await request(people.stranger, 'hidden-1');
        const none = await request(people.stranger, 'nobody-1');
        assert.equal(hidden.status, 404, hidden.text);
        assert.equal(hidden.text.replaceAll('hidden-1', '*'), none.text.replaceAll('nobody-1', '*'));
        assert.notEqual((await request(people.member, 'hidden-1')).status, 404);
      });

    it('are compared and have histories as names that nobody has', async () => {
      const tree = ok(await admin('POST', `${manager}/configs`, { name: 'to compare' }));
      const node = { treeId: tree._id, version: 'initial', nodePath: 'base' };
      const reports = `${manager}/compliance_reports`;
      const rows: readonly ((name: string) => readonly [method: string, path: string, body?: object])[] = [
        (deviceName) => ['POST', `${reports}/config`, { options: { ...node, deviceName } }],
        (deviceName) => ['POST', `${reports}/grade/history`, { ...node, deviceName }],
        (name) => ['POST', `${reports}/history`, { options: { ...node, devices: [name] } }],
        (name) => ['GET', `${reports}/score_trend/${name}`],
        (name) => ['GET', `${manager}/backups?device=${name}`],
      ];
      for (const row of rows) {
        const [hidden, none] = await Promise.all(['hidden-1', 'nobody-1'].map((name) => people.stranger(...row(name))));
        assert.deepEqual(
          [hidden?.status, hidden?.text.replaceAll('hidden-1', '*').replace(/"timestamp":"[^"]*"/, '')],
          [none?.status, none?.text.replaceAll('nobody-1', '*').replace(/"timestamp":"[^"]*"/, '')],
          row('*')[1],
        );
      }
    });

    it('are in no group by a query, no count and no tag', async () => {
      for (const query of [{ inventory: 'secret' }, { tags: ['quiet'] }])
        ok(await admin('POST', `${manager}/devicegroup`, { name: JSON.stringify(query), query }));
      const node = `${inventories}/inventories/secret/nodes/hidden-1`;
      ok(await people.member('PATCH', node, { tags: ['quiet'] }));
      const paths: readonly (readonly [method: string, path: string, body?: object])[] = [
        ['GET', `${manager}/groups/device/hidden-1`],
        ['GET', `${manager}/deviceGroups`],
        ['GET', `${manager}/deviceGroups?limit=1000`],
        ['POST', `${manager}/deviceGroups/search`, {}],
        ['GET', `${inventories}/nodes?pageSize=1000`],
        ['GET', `${inventories}/tags?pageSize=1000`],
        ['POST', `${inventories}/tags/search`, { tagIdentifiers: ['quiet'] }],
      ];
      const { headers } = await admin('POST', `${inventories}/inventories`, { name: 'mark of queries' });
      const asOf = `asOf=${headers.get('x-event-position')}`;
      for (const [method, path, body] of paths)
        for (const query of ['', asOf]) {
          const whole = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
          const [few, many] = [await people.stranger(method, whole, body), await people.member(method, whole, body)];
          assert.deepEqual([few.status, many.status], [200, 200], whole);
          // The queries themselves are texts that everybody reads.
          const isTold = ({ text }: { readonly text: string }) =>
            /hidden-1|"name":"quiet"|"nodes":\[\{/.test(text) || (path.includes('/groups/') && text !== '[]');
          assert.deepEqual([isTold(few), isTold(many)], [false, true], `${method} ${whole}: ${few.text}`);
        }
      const [few, many] = [people.stranger, people.member].map(
        async (ask) => ok(await ask('GET', `${inventories}/stats`)).result,
      );
      assert.deepEqual(
        [
          (await many).totalInventories - (await few).totalInventories,
          (await many).totalNodes - (await few).totalNodes,
        ],
        [1, 3],
      );
      ok(await people.member('PATCH', node, { tags: [] }));
    });

    it('are not copied and not checked by a group of the account that may not see them', async () => {
      ok(await admin('POST', `${manager}/devicegroup`, { name: 'all of secret', query: { inventory: 'secret' } }));
      const tree = ok(await admin('POST', `${manager}/configs`, { name: 'for access' }));
      const checks = { options: { treeId: tree._id, version: 'initial', deviceGroups: ['all of secret'] } };
      for (const [path, body, reason] of [
        [`${manager}/devices/backups`, { deviceGroups: ['all of secret'] }, /name no devices/],
        [`${manager}/compliance_reports`, checks, /no devices to check/],
      ] as const) {
        const { jobId } = ok(await people.stranger('POST', path, body));
        const { status, error } = await builtInOf(admin).inState(jobId, 'complete', 'error');
        assert.equal(status, 'error');
        assert.match(JSON.stringify(error), reason);
        const seen = ok(await people.member('POST', path, body)).jobId;
        assert.equal((await builtInOf(admin).inState(seen, 'complete', 'error')).status, 'complete');
      }
    }).timeout(60_000);

    it('are neither listed nor counted, and take no part in the choice of a source', async () => {
      const [seen, all] = [await listed({}, people.stranger), await listed({}, people.member)];
      assert.equal(all.total - seen.total, 2);
      assert.ok(!JSON.stringify(seen).includes('secret'));
      for (const filter of [{ inventory: 'secret' }, { adapter: 'secret' }, { name: 'hidden' }])
        assert.equal((await listed({ filter }, people.stranger)).total, 0);
      // The same source, though the profile names the hidden one first.
      ok(
        await admin('PUT', '/profiles/ordered', {
          properties: { adapterStrategy: { device: { order: ['secret'] } } },
        }),
      );
      const sources = [people.stranger, people.member].map(async (ask) => ok(await ask('GET', at('core-1'))).adapter);
      assert.deepEqual(await Promise.all(sources), ['alpha', 'secret']);
    });

    it('are in hidden inventories, now and as of earlier', async () => {
      const { headers } = await admin('POST', `${inventories}/inventories`, { name: 'marker' });
      const asOf = `asOf=${headers.get('x-event-position')}`;
      const paths = ['', '/nodes', '/nodes/hidden-1'].map((rest) => `${inventories}/inventories/secret${rest}`);
      for (const path of paths)
        for (const query of ['', `?${asOf}`]) {
          refused(await people.stranger('GET', path + query), 404);
          ok(await people.member('GET', path + query));
        }
      for (const query of ['', `?${asOf}`]) {
        const list = await people.stranger('GET', `${inventories}/inventories${query}`);
        assert.ok(!list.text.includes('secret'));
        const counts = [people.stranger, people.member].map(
          async (ask) => ok(await ask('GET', `${inventories}/inventories${query}`)).total,
        );
        const [few = 0, many = 0] = await Promise.all(counts);
        assert.equal(many - few, 1);
      }
      const missing = await people.stranger('DELETE', `${inventories}/inventories/none`);
      for (const [method, path, body] of [
        ['DELETE', '', undefined],
        ['PATCH', '', { description: 'x' }],
        ['POST', '/nodes', { nodes: [] }],
        ['PATCH', '/nodes/hidden-1', { tags: [] }],
        ['DELETE', '/nodes/hidden-1', undefined],
      ] as const) {
        const answer = await people.stranger(method, `${inventories}/inventories/secret${path}`, body);
        assert.deepEqual([answer.status, answer.text], [404, missing.text]);
      }
      refused(await people.stranger('DELETE', `${inventories}/nodes/clear/secret`), 404);
      refused(
        await people.stranger('POST', `${inventories}/nodes/bulk`, { inventory_identifier: 'secret', nodes: [] }),
        404,
      );
      assert.equal(ok(await people.member('GET', `${inventories}/inventories/secret`)).nodeCount, 3);
    });

    it('are the same as none for tasks of jobs, by the rights of the account that started them', async () => {
      for (const [operation, inputs] of operations) {
        const hidden = operation.startsWith('Inventory') ? 'secret' : 'hidden-1';
        const told = (await outcome(people.stranger, operation, inputs(hidden))).replaceAll(hidden, '*');
        const none = (await outcome(people.stranger, operation, inputs('nobody-1'))).replaceAll('nobody-1', '*');
        assert.match(told, /^error/, operation);
        assert.equal(told, none, operation);
      }
      const [operation = '', inputs] = operations[0] ?? [];
      assert.match(await outcome(people.member, operation, inputs?.('hidden-1') ?? {}), /^complete/);
    }).timeout(60_000);

    it('have events and audits that only those see who see them', async () => {
      const id = ok(await people.member('GET', `${inventories}/inventories/secret`))._id;
      for (const [ask, isSeen] of [
        [people.stranger, false],
        [people.member, true],
      ] as const) {
        const history = await ask('GET', `/audit/resources/inventory/${id}`);
        assert.equal(history.status === 200 && history.text.includes('"secret"'), isSeen, history.text);
        const { text } = await ask('GET', '/audit/events?limit=1000');
        assert.equal(text.includes(id), isSeen, text);
      }
    });

    it('open to everybody once their inventory has no groups, and close again', async () => {
      const groups = async (of: readonly string[]) =>
        ok(await people.member('PATCH', `${inventories}/inventories/secret`, { groups: of }));
      await groups([]);
      ok(await people.stranger('GET', at('hidden-2')));
      await groups(['ops']);
      refused(await people.stranger('GET', at('hidden-2')), 404);
    });
  });

  describe('for a token of some inventories', () => {
    const tokens: { ask: Ask; whole: Ask }[] = [];
    const foreign = ['hidden-1', 'edge-1', 'lab-01'];
    const forToken =
      (token: string): Ask =>
      (method, path, body, headers) =>
        service.ask(method, path, body, { ...headers, Authorization: `Bearer ${token}` }, null);
    before(async () => {
      for (const whole of [admin, people.member]) {
        const asked = { name: 'ci', inventories: ['alpha'] };
        const { token, inventories: names } = ok(await whole('POST', '/authorization/tokens', asked)).data;
        assert.deepEqual(names, ['alpha']);
        tokens.push({ ask: forToken(token), whole });
      }
    });

    it('are those of these, in lists, counts and by name', async () => {
      for (const { ask } of tokens) {
        assert.deepEqual(names(await listed({}, ask)), ['core-1', 'Core-2']);
        assert.equal(ok(await ask('GET', at('core-1'))).adapter, 'alpha');
        for (const request of Object.values(requests))
          for (const name of foreign) {
            const [answer, none] = [await request(ask, name), await request(ask, 'nobody-1')];
            assert.equal(answer.status, 404, answer.text);
            assert.equal(answer.text.replaceAll(name, '*'), none.text.replaceAll('nobody-1', '*'));
          }
      }
    });

    it('leave no other inventory and no adapter, now and as of earlier, in events and audits', async () => {
      const { headers } = await admin('POST', `${inventories}/inventories`, { name: 'mark' });
      const beta = ok(await admin('GET', `${inventories}/inventories/beta`))._id;
      const missing = (await admin('DELETE', `${inventories}/inventories/none`)).text;
      for (const { ask, whole } of tokens) {
        for (const query of ['', `?asOf=${headers.get('x-event-position')}`]) {
          assert.equal(ok(await ask('GET', `${inventories}/inventories${query}`)).total, 1);
          assert.equal(ok(await ask('GET', `${manager}/adapters${query}`)).total, 0);
          ok(await ask('GET', `${inventories}/inventories/alpha/nodes${query}`));
          for (const path of [
            `${inventories}/inventories/beta`,
            `${inventories}/inventories/beta/nodes`,
            `${manager}/adapters/lab`,
          ]) {
            refused(await ask('GET', path + query), 404);
            ok(await whole('GET', path + query));
          }
        }
        const change = await ask('PATCH', `${inventories}/inventories/beta`, { description: 'x' });
        assert.deepEqual([change.status, change.text], [404, missing]);
        ok(await ask('PATCH', `${inventories}/inventories/alpha`, { description: 'x' }));
        refused(await ask('POST', `${inventories}/inventories`, { name: 'mine' }), 403, /token/);
        refused(await ask('POST', `${manager}/adapters`, { name: 'mine', type: 'lab', devices: [] }), 403);
        assert.ok(!(await ask('GET', '/audit/events?limit=1000')).text.includes(beta));
        assert.notEqual((await ask('GET', `/audit/resources/inventory/${beta}`)).status, 200);
      }
    });

    it('are the only ones for tasks of the jobs that it starts, and nothing runs later without it', async () => {
      for (const { ask } of tokens) {
        for (const [operation, inputs] of operations.filter(([name]) => /getDevice|populate/.test(name))) {
          const word = operation.startsWith('Inventory') ? 'beta' : 'edge-1';
          const hidden = (await outcome(ask, operation, inputs(word))).replaceAll(word, '*');
          const none = (await outcome(ask, operation, inputs('nobody-1'))).replaceAll('nobody-1', '*');
          assert.match(hidden, /^error/, operation);
          assert.equal(hidden, none, operation);
        }
        assert.match(await outcome(ask, 'ConfigurationManager.getDevice', { name: 'core-1' }), /^complete/);
        refused(
          await ask('POST', '/operations-manager/triggers', {
            name: 't',
            type: 'manual',
            enabled: true,
            actionType: 'automations',
            actionId: 'a'.repeat(24),
          }),
          403,
          /later/,
        );
      }
    }).timeout(60_000);

    it('cannot be of inventories that its maker does not see', async () => {
      const asked = (name: string) => ({ name: 'ci', inventories: ['alpha', name] });
      for (const name of ['secret', 'none'])
        refused(
          await people.stranger('POST', '/authorization/tokens', asked(name)),
          404,
          new RegExp(`inventories: ${name}`),
        );
      ok(await people.member('POST', '/authorization/tokens', asked('secret')));
    });
  });
});
