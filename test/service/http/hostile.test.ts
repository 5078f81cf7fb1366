import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { checker } from '@automation-platform/bounded-schemas';
import {
  type Asked,
  at,
  bodyFor,
  changes,
  failure,
  faultyBodies,
  isAnyJson,
  isWide,
  membersOf,
  positionOf,
  routes,
  wellFormed,
} from '../../support/hostile.ts';
import { type People, people } from '../../support/people.ts';
import { sampled, seed } from '../../support/sample.ts';
import { basic, startService, type TestService } from '../../support/service.ts';

const inherited = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const long = 'x'.repeat(10_000);

describe('every route, with bad input', function () {
  this.timeout(300_000);
  let service: TestService;
  let some: People;
  let stored: number;

  before(async () => {
    service = await startService({ MAX_IMPORT_BYTES: String(1024 * 1024), READ_WAIT_MS: '1000' });
    some = await people(service);
    for (const name of ['member', 'outsider'] as const)
      assert.equal((await some[name]('GET', '/authorization/whoami')).status, 200);
  });
  after(() => service.stop());
  beforeEach(async () => {
    stored = await positionOf(service);
  });
  afterEach('nothing was stored, nothing is a bug, the service answers', async () => {
    assert.equal(await positionOf(service), stored);
    assert.deepEqual(
      service.lines.filter((line) => JSON.parse(line).level >= 40),
      [],
    );
    assert.equal((await service.ask('GET', '/health/ready')).status, 200);
  });

  /** Checks some of the routes: FAULT_SEED says which. The soak tests check all. */
  const each = (title: string, some: readonly Asked[], check: (route: Asked) => Promise<void>): void => {
    it(title, async () => {
      assert.ok(some.length > 0);
      for (const route of sampled(some, 3)) await check(route);
    });
  };
  const send = ({ method }: Asked, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.ask(method, path, body, headers);
  const bodiless = ({ method }: Asked): boolean => method === 'GET';
  // The answer of the stream of events never ends.
  const endless = new Set(['streamEvents', 'streamJobs']);
  // The answers of these have times and counts that change from one request to the next.
  const changing = new Set([
    'GET /metrics',
    'GET /health/status',
    'GET /health/system',
    'GET /health/server',
    'GET /health/applications',
    'GET /health/adapters',
  ]);
  const answering = routes.filter((route) => bodiless(route) && !endless.has(route.route.name));
  const guarded = routes.filter(({ route }) => route.access !== 'open');
  const lists = routes.filter(({ route }) => 'list' in route);
  // The query of the others is written by another program.
  const ownQueries = routes.filter(({ route }) => !route.foreignQuery);
  const withParams = routes.filter(({ params }) => params.length > 0);

  it('has a body at hand for every route that takes one', () => {
    assert.deepEqual(
      changes.filter((route) => route.route.body && bodyFor(route) === undefined).map(({ title }) => title),
      [],
    );
  });

  describe('credentials', () => {
    const garbage = [
      'Basic',
      'Basic !',
      'Basic Og==',
      `Basic ${btoa('nocolon')}`,
      'Basic //79',
      'Bearer',
      'Bearer x',
      `Bearer ${'A'.repeat(43)}`,
      'Negotiate abc',
      `Basic ${long.slice(0, 8000)}`,
      '\u00ff',
    ];
    each('are asked for before anything else', guarded, async (route) => {
      failure(
        await service.ask(
          route.method,
          at(route),
          bodiless(route) ? undefined : '{bad',
          { 'Content-Type': 'text/plain', 'If-Match': 'x', 'X-Min-Position': 'x' },
          null,
        ),
        'unauthenticated',
        route.title,
      );
    });
    each('that are garbage are none', guarded, async (route) => {
      for (const authorization of garbage) {
        const answer = await service.ask(route.method, at(route), undefined, { Authorization: authorization }, null);
        failure(answer, 'unauthenticated', `${route.title} with ${authorization}`);
        assert.equal(answer.headers.get('www-authenticate'), 'Basic realm="automation-platform", charset="UTF-8"');
      }
    });
    each(
      "without a role are forbidden, with the method's name",
      routes.filter(({ route }) => typeof route.access !== 'string'),
      async (route) => {
        const answer = await some.outsider(route.method, at(route), bodiless(route) ? undefined : '{bad', {
          'Content-Type': 'text/plain',
        });
        failure(answer, 'forbidden', route.title);
        assert.match(answer.body.message, new RegExp(`\\b${route.route.name}\\b`));
      },
    );
  });

  describe('bodies', () => {
    each('of 2 MiB are too large, whatever else is wrong', changes, async (route) => {
      failure(
        await send(route, at(route), `"${'x'.repeat(2 * 1024 * 1024)}"`, { 'Content-Type': 'text/plain' }),
        'too_large',
        route.title,
      );
    });
    each('that are not JSON by their headers are unsupported', changes, async (route) => {
      for (const type of [
        'text/plain',
        ...(route.route.form ? [] : ['application/x-www-form-urlencoded']),
        'multipart/form-data; boundary=x',
        'application/json; charset=latin1',
        'application/jsonx',
        'nonsense',
      ])
        failure(
          await send(route, at(route), '{"\u00e4": 1', { 'Content-Type': type }),
          'unsupported_media',
          `${route.title} as ${type}`,
        );
      for (const encoding of ['gzip', 'br', 'deflate', 'x'])
        failure(
          await send(route, at(route), encoding === 'gzip' ? gzipSync('{}').toString('latin1') : '{}', {
            'Content-Encoding': encoding,
          }),
          'unsupported_media',
          `${route.title} in ${encoding}`,
        );
    });
    each('that are not quite JSON are invalid, with the place', changes, async (route) => {
      const bad: readonly (readonly [string, string])[] = [
        ['{"a":', ''],
        ['{"a":1}}', ''],
        ["{'a':1}", ''],
        ['\u0000', ''],
        ['undefined', ''],
        ['{"a":NaN}', ''],
        [deep(100_000).slice(1), ''],
        ['{"a":1,"a":1}', '/a'],
        ['{"a":1,"\\u0061":2}', '/a'],
        [deep(65), '/0'.repeat(64)],
        ['{"__proto__":{"admin":true}}', '/__proto__'],
        ['{"x":[{"\\u005f_proto__":1}]}', '/x/0/__proto__'],
        ['{"n":9007199254740993}', '/n'],
        ['{"n":1e999}', '/n'],
        ['{"s":"\\ud800"}', '/s'],
      ];
      // The imports of documents take integers of any size.
      const refused = isWide(route) ? bad.filter(([body]) => !body.includes('9007199254740993')) : bad;
      for (const [body, path] of refused)
        failure(await send(route, at(route), body), 'invalid', `${route.title} ${body.slice(0, 40)}`, path);
    });
    each(
      'that are no objects are invalid',
      changes.filter((one) => !isAnyJson(one)),
      async (route) => {
        for (const body of ['null', '[]', '[{}]', '1', 'true', '"x"', deep(64)])
          failure(await send(route, at(route), body), 'invalid', `${route.title} ${body}`, '');
      },
    );
    each(
      'with a fault at any depth are invalid, by its path',
      changes.filter((route) => faultyBodies(route).length > 0),
      async (route) => {
        for (const [body, path] of faultyBodies(route))
          failure(await send(route, at(route), body), 'invalid', `${route.title} ${JSON.stringify(body)}`, path);
      },
    );
    const closed = changes.filter(
      (place) =>
        !isWide(place) &&
        !isAnyJson(place) &&
        (place.route.body as { additionalProperties?: boolean } | undefined)?.additionalProperties !== true,
    );
    each('with members that nobody knows are invalid, by name', closed, async (route) => {
      const fits = bodyFor(route) as object | undefined;
      for (const name of ['constructor', 'toString', 'hasOwnProperty', 'a/b~c'])
        failure(
          await send(route, at(route), { ...fits, [name]: 1 }),
          'invalid',
          `${route.title} ${name}`,
          `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        );
    });
    // Members that take any JSON cannot be wrong.
    const anyJson = new Set([
      'validationSchema',
      'uiSchema',
      'bindingSchema',
      'payload',
      'jst',
      'data',
      'obj',
      'job_id',
      'pass_on_null',
    ]);
    each(
      'with members of a wrong type are invalid, by name',
      changes.filter((route) => membersOf(route).length > 0),
      async (route) => {
        const check = checker(route.route.body!);
        const fits = bodyFor(route) as object;
        for (const name of membersOf(route).filter((member) => !anyJson.has(member))) {
          const wrong = [
            null,
            true,
            -1,
            1.5,
            1e300,
            '',
            long,
            '\u0000',
            [],
            [null],
            [[]],
            {},
            { constructor: 1 },
            deep(3),
          ]
            .map((value) => ({ ...fits, [name]: value }))
            .filter((body) => check(body).length > 0);
          assert.ok(wrong.length > 0, `${route.title} takes anything as ${name}`);
          for (const body of wrong)
            failure(
              await send(route, at(route), body),
              'invalid',
              `${route.title} ${JSON.stringify(body).slice(0, 100)}`,
              new RegExp(`^/${name}`),
            );
        }
      },
    );
  });

  describe('paths', () => {
    each('with parameters that can be no id are invalid, by name', withParams, async (route) => {
      for (const value of [
        long,
        '%0d%0aSet-Cookie:%20a=b',
        '%00',
        'a%0a',
        '%7f',
        // More characters of a path than this would not fit into a request.
        ...(route.params[0]?.endsWith('Path') ? [] : [encodeURIComponent('\u{1f600}'.repeat(257))]),
      ])
        failure(
          await send(route, at({ path: route.path.replace(/:\w+/, value) }), bodyFor(route)),
          'invalid',
          `${route.title} ${value.slice(0, 20)}`,
          route.params[0],
        );
    });
    each('with escapes that are none are invalid', withParams, async (route) => {
      for (const value of ['%', '%zz', '%f', '%ff', '%c3%28', '%ed%a0%80', '%u0041'])
        failure(await send(route, at(route, value), bodyFor(route)), 'invalid', `${route.title} ${value}`, 'path');
    });
    each('with an empty id, one slash more or capitals are not found', withParams, async (route) => {
      for (const path of [at(route, ''), `${at(route)}/`, `/${at(route)}`, at(route).toUpperCase()]) {
        const { status } = await service.ask('GET', path);
        assert.ok(status === 404 || status === 405, `${route.title} ${path}: ${status}`);
      }
    });
    const single = withParams.filter(
      ({ route, method }) => 'get' in route || 'childrenOf' in route || method === 'DELETE',
    );
    each('with ids that objects inherit, dots or slashes are those of nothing', single, async (route) => {
      // What the client itself makes `/` of leads to the page of the API.
      for (const id of [
        ...inherited,
        '%2e%2e',
        '..%2f..',
        '%2F',
        '%25',
        '%5c',
        '-1',
        '0',
        '*',
        `'; DROP TABLE events; --`.replaceAll(' ', '%20'),
        'account-x',
        encodeURIComponent('\u202e\u{1f600}'),
        '00000000000000000000000%30',
      ])
        if (new URL(at(route, id), service.url).pathname !== '/') {
          const answer = await send(route, at(route, id), bodyFor(route));
          // The client resolves the dots, maybe to a path that knows other methods.
          if (id !== '%2e%2e' || answer.status !== 405) failure(answer, 'not_found', `${route.title} ${id}`);
        }
    });
    it('that are no path of the API are not found', async () => {
      for (const path of [
        '/authorization',
        '/authorization/',
        '/nope',
        ...inherited.map((name) => `/${name}`),
        '/authorization/accounts/a/b',
        '/docs/../package.json',
        '/docs/%2e%2e/package.json',
        '/docs/..%2fpackage.json',
        '/docs/start.js%00',
        '/.env',
        `/${long}`,
      ])
        failure(await service.ask('GET', path), 'not_found', path);
    });
  });

  describe('queries', () => {
    each('with parameters that nobody knows are invalid, by name', ownQueries, async (route) => {
      for (const name of ['nobody', ...inherited, 'skip[]', 'multiEquals.name'])
        failure(await send(route, `${at(route)}?${name}=1`, bodyFor(route)), 'invalid', `${route.title} ${name}`, name);
    });
    each('with escapes that are none, control characters or endless names are invalid', ownQueries, async (route) => {
      for (const query of ['%', 'a=%zz', 'a=%ff', 'a%00=1', 'a=%0d%0a', `${'n'.repeat(300)}=1`])
        failure(await send(route, `${at(route)}?${query}`, bodyFor(route)), 'invalid', `${route.title} ${query}`);
    });
    each('with pages that cannot be are invalid, by name', lists, async (route) => {
      for (const [name, values] of Object.entries({
        skip: ['-1', '1.5', '1e3', 'x', '', '99999999999999999999', 'NaN', '0x10', '-0.5', '%201'],
        limit: ['0', '-1', '1001', '99999999999999999999', 'all', ''],
        order: ['0', '2', 'asc', ''],
        sort: ['', 'nobody', ...inherited],
      }))
        for (const value of values)
          failure(
            await send(route, `${at(route)}?${name}=${value}`),
            'invalid',
            `${route.title} ${name}=${value}`,
            name,
          );
      for (const name of ['skip', 'limit', 'order'])
        failure(await send(route, `${at(route)}?${name}=1&${name}=1`), 'invalid', `${route.title} ${name} twice`, name);
    });
    each(
      'with huge pages are empty',
      lists.filter(({ params }) => params.length === 0),
      async (route) => {
        const answer = await send(route, `${at(route)}?skip=999999999999999&limit=1000`);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(answer.body.results ?? answer.body.data ?? answer.body.items ?? answer.body, []);
      },
    );
    each('with filter fields that nobody knows are invalid, by name', lists, async (route) => {
      for (const filter of ['multiEquals', 'multiStartsWith', 'multiContains']) {
        for (const field of ['', 'nobody', 'password', ...inherited]) {
          failure(
            await send(route, `${at(route)}?${filter}[${field}]=x`),
            'invalid',
            `${route.title} ${filter}[${field}]`,
            `${filter}[${field}]`,
          );
          const path = field === '__proto__' ? filter : `${filter}[${field}]`;
          failure(
            await send(route, `${at(route)}?${filter}=${encodeURIComponent(`{"${field}":"x"}`)}`),
            'invalid',
            `${route.title} ${filter} ${field} in JSON`,
            path,
          );
        }
        for (const value of ['', 'x', 'null', '[]', '[null]', '{', deep(65), '[[{}]]', '1'])
          failure(
            await send(route, `${at(route)}?${filter}=${encodeURIComponent(value)}`),
            'invalid',
            `${route.title} ${filter}=${value}`,
            filter,
          );
      }
    });
  });

  describe('headers', () => {
    const existing = changes.filter(
      ({ route, params }) => 'command' in route && route.command.on === 'existing' && !route.key && params.length > 0,
    );
    // Rows that store nothing that a retry could repeat. This list may only shrink.
    // A run that is retried is parked no more, so the same request again is not found.
    const keyless = new Set([
      'login',
      'logout',
      'testProvider',
      'grantToken',
      'endProviderLogins',
      'runCommandTemplate',
      'runAnalyticTemplate',
      'retryParked',
      'rebuildReadModels',
      'confirmClock',
    ]);
    each(
      'Idempotency-Key that is none is invalid, by name',
      changes.filter(({ route }) => !route.access.includes('readers') && !keyless.has(route.name)),
      async (route) => {
        for (const key of ['a b', 'x'.repeat(201), '\u00e4', '\ta\tb'])
          failure(
            await send(route, at(route), bodyFor(route), { 'Idempotency-Key': key }),
            'invalid',
            `${route.title} ${key.slice(0, 20)}`,
            'Idempotency-Key',
          );
      },
    );
    each('If-Match does not make a resource that is not there', existing, async (route) => {
      for (const tag of ['garbage', '"', 'W/', '"-1"', '"1e3"', '*', long.slice(0, 5000), '"99999999999999999999999"'])
        failure(
          await send(route, at(route), bodyFor(route), { 'If-Match': tag }),
          'not_found',
          `${route.title} If-Match: ${tag.slice(0, 20)}`,
        );
    });
    each('X-Min-Position that is none is invalid, by name', guarded, async (route) => {
      for (const position of ['x', '-1', '1.5', '1e3', '9'.repeat(16), '0x10', long.slice(0, 5000)])
        failure(
          await send(route, at(route), bodyFor(route), { 'X-Min-Position': position }),
          'invalid',
          `${route.title} ${position.slice(0, 20)}`,
          'X-Min-Position',
        );
    });
    it('X-Min-Position that nobody has reached is unavailable, for now', async () => {
      const answer = await service.ask('GET', '/authorization/groups', undefined, {
        'X-Min-Position': '999999999999999',
      });
      failure(answer, 'unavailable', answer.text);
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    });
    each('X-Request-Id is echoed if it is one, else made', answering, async (route) => {
      for (const [sent, echoed] of [
        ['a-b_c:1', true],
        ['two words', false],
        ['x'.repeat(129), false],
        ['\u00e4', false],
        ['', false],
      ] as const) {
        const answer = await service.ask('GET', at(route), undefined, { 'X-Request-Id': sent });
        wellFormed(answer, route.title);
        assert.equal(answer.headers.get('x-request-id') === sent, echoed, `${route.title} ${sent}`);
      }
    });
  });

  describe('methods', () => {
    const paths = [...new Set(routes.map(({ path }) => path))];
    // Both spellings of this word are the same path.
    const spelled = (path: string) => path.replace('/devicegroups', '/deviceGroups');
    const rows = routes.map(({ method, path }) => ({
      methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
      pattern: new RegExp(`^${spelled(path).replace(/:\w+/g, '[^/]+')}$`),
    }));
    const methodsOf = (path: string): readonly string[] =>
      rows.filter(({ pattern }) => pattern.test(spelled(path))).flatMap(({ methods }) => methods);
    const knownOf = new Map(paths.map((path) => [path, [...new Set([...methodsOf(path), 'OPTIONS'])].sort()]));
    const known = (path: string): readonly string[] => knownOf.get(path) ?? [];
    const allowed = (answer: { readonly headers: Headers }) => (answer.headers.get('allow') ?? '').split(', ').sort();

    it('that a path does not know are refused with those that it knows', async () => {
      const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'PURGE'];
      for (const [n, path] of paths.entries()) {
        const unknown = methods.filter((method) => !known(path).includes(method));
        // Two of them by turns; all in a soak.
        const asked = process.env.SOAK_ROUNDS
          ? unknown
          : [0, 1].map((more) => unknown[(n + seed + more) % unknown.length]!);
        for (const method of asked) {
          const answer = await some.outsider(method, at({ path }));
          if (method === 'HEAD') assert.equal(answer.status, 405);
          else failure(answer, 'method_not_allowed', `${method} ${path}`);
          assert.deepEqual(allowed(answer), known(path), `${method} ${path}`);
        }
      }
      const root = await some.outsider('POST', '/');
      failure(root, 'method_not_allowed', 'POST /');
      assert.deepEqual(allowed(root), ['GET', 'HEAD', 'OPTIONS']);
    });
    it('OPTIONS says without login which a path knows', async () => {
      for (const path of paths) {
        const answer = await service.ask(
          'OPTIONS',
          at({ path }),
          undefined,
          { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'POST' },
          null,
        );
        assert.equal(answer.status, 204);
        assert.equal(answer.text, '');
        wellFormed(answer, path);
        assert.deepEqual(allowed(answer), known(path));
        assert.equal(answer.headers.get('access-control-allow-methods'), answer.headers.get('allow'));
        assert.equal(answer.headers.get('access-control-allow-origin'), null, 'the active profile allows no origin');
      }
    });
    each('HEAD is GET without the body', answering, async (route) => {
      for (const login of [undefined, null]) {
        const [get, head] = [
          await service.ask('GET', at(route), undefined, {}, login),
          await service.ask('HEAD', at(route), undefined, {}, login),
        ];
        assert.equal(head.text, '');
        assert.equal(head.status, get.status);
        const changed = changing.has(route.title) ? ['etag', 'content-length'] : [];
        const compared = ({ headers }: typeof get) =>
          [...headers].flatMap(([name, value]) =>
            ['date', 'x-request-id', 'connection', 'keep-alive'].includes(name)
              ? []
              : [[name, changed.includes(name) ? 'some' : value]],
          );
        assert.deepEqual(compared(head), compared(get), route.title);
      }
    });
  });

  it('logging in with garbage is refused like anything else', async () => {
    for (const path of ['/login', '/authorization/login']) {
      for (const username of [...inherited, 'a:b', '\u{1f600}'.repeat(100)])
        failure(await service.ask('POST', path, { username, password: 'x' }, {}, null), 'unauthenticated', username);
      assert.equal((await service.ask('POST', path, { user: { username: 'member' } }, {}, null)).status, 400);
    }
    for (const name of inherited)
      failure(
        await service.ask(
          'GET',
          '/authorization/whoami',
          undefined,
          { Authorization: basic({ user: name, password: name }) },
          null,
        ),
        'unauthenticated',
        name,
      );
  });
});
