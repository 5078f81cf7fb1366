import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { audit } from '@automation-platform/client';
import { leave, type Place, places } from '../../support/auditPlaces.ts';
import { runInProcess } from '../../support/command.ts';
import { ok, refused } from '../../support/people.ts';
import { adminPassword, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');

/** The commands of the page by the number of their question. */
const commands = new Map(
  [...page.matchAll(/\*\*(\d+)\. [^*]+\*\*\n\n```sh\nautomation-platform (.+)\n```/g)].map(([, number, command]) => [
    Number(number),
    command ?? '',
  ]),
);

const password = 'a long enough password';
const people = ['ben', 'carla', 'dana', 'erik', 'rita', 'otto'] as const;
type Person = (typeof people)[number];

/** The time now, which no event has. */
const betweenEvents = async (): Promise<string> => {
  const began = Date.now();
  await until(() => Date.now() > began + 1);
  const time = new Date(began + 1).toISOString();
  await until(() => Date.now() > began + 2);
  return time;
};

const afternoon = (enter: () => Promise<Place>, asksByCommand: boolean) => () => {
  let place: Place;
  let service: TestService;
  const names: Record<string, string> = {};

  const as = (person: Person) => service.as({ user: person, password });
  const idOf = async (username: string): Promise<string> =>
    ok(await service.ask('GET', `/authorization/accounts/${username}`))._id;

  before(async () => {
    place = await enter();
    service = place.work;
    for (const username of people) {
      const memberOf = username === 'rita' ? ['readers'] : ['operators'];
      ok(await service.ask('POST', '/authorization/accounts', { username, password, memberOf }));
    }
    names.BEN = await idOf('ben');
    names.ERIK = await idOf('erik');
    names.NOON = await betweenEvents();

    const automation = ok(await as('ben')('POST', '/operations-manager/automations', { name: 'Upgrade' })).data;
    names.AUTOMATION = automation._id;
    ok(
      await as('ben')('POST', '/operations-manager/triggers', {
        name: 'On ticket',
        type: 'eventSystem',
        enabled: true,
        actionType: 'automations',
        actionId: automation._id,
        source: 'itsm',
        topic: 'ticketOpened',
        schema: null,
        jst: null,
      }),
    );
    const controller = { type: 'http', properties: { baseUrl: 'http://127.0.0.1:1', token: 'the-first-token' } };
    ok(await service.ask('POST', '/configuration_manager/adapters', { name: 'controller', ...controller }));
    names.ADAPTER = 'controller';
    const made = ok(
      await as('dana')('POST', '/template_builder/templates', { name: 'Uplink', template: 'up {{ a }}' }),
    );
    names.TEMPLATE = made.data._id;
    names.TWO = await betweenEvents();

    const path = `/operations-manager/automations/${automation._id}`;
    ok(await as('carla')('PATCH', path, { description: 'By night' }));
    const changed = { ...controller, properties: { ...controller.properties, token: 'the-second-token' } };
    ok(await service.ask('PUT', '/configuration_manager/adapters/controller', changed));
    ok(await as('dana')('DELETE', '/template_builder/templates/Uplink'));
    names.REQUEST = 'ticket-4711';
    ok(
      await as('erik')(
        'POST',
        '/operations-manager/events/itsm/ticketOpened',
        { n: 1 },
        { 'X-Request-Id': names.REQUEST },
      ),
    );
    await until(async () => ok(await service.ask('GET', '/operations-manager/jobs')).metadata.total === 1, 'the job');
    for (let i = 0; i < 3; i++) refused(await as('rita')('PATCH', path, { description: 'By day' }), 403);
    for (let i = 0; i < 4; i++)
      refused(await service.as({ user: 'otto', password: 'wrong' })('GET', '/operations-manager/jobs'), 401);
    ok(await as('otto')('GET', `${path}/export`));
    const locked = await service.ask('PATCH', '/authorization/accounts/erik', { inactive: true });
    ok(locked);
    names.EVENING = await betweenEvents();
    const last = { 'X-Min-Position': locked.headers.get('x-event-position') ?? '' };
    ok(await place.audit.ask('GET', '/authorization/accounts/erik', undefined, last));
    // What was gathered of requests is in the log after ten seconds.
    const isRecorded = async (topic: string): Promise<boolean> =>
      ok(await place.audit.ask('GET', `/audit/events?topic=${topic}`)).results.length > 0;
    await until(async () => (await isRecorded('requestsDenied')) && (await isRecorded('exported')), 'the records');
  });
  after(() => leave(place));

  const filled = (text: string): string =>
    text.replace(/\$([A-Z]+)/g, (_, name) => names[name] ?? assert.fail(`${name} is not set`));

  /** What a command of the page prints. */
  const printed = async (number: number): Promise<readonly any[]> => {
    const command = filled(commands.get(number) ?? assert.fail(`The page has no question ${number}`));
    const args = command.split(' ').map((word) => word.replaceAll('"', ''));
    const { status, out, err } = await runInProcess(args, place.settings);
    assert.equal(status, 0, err);
    return out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  };

  const asked = async (path: string): Promise<any> => ok(await place.audit.ask('GET', `/audit/${filled(path)}`));
  const inProgram = () => audit({ url: place.audit.url, auth: { username: 'admin', password: adminPassword } });
  const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
    const found: T[] = [];
    for await (const item of items) found.push(item);
    return found;
  };

  type Program = ReturnType<typeof audit>;
  /** The same answer by the command, over HTTP, and in TypeScript. */
  const sameAnswers = async (
    number: number,
    path: string,
    program: (ask: Program) => Promise<readonly unknown[]>,
    inAnswer: (body: any) => readonly any[] = ({ results }) => results,
  ): Promise<readonly any[]> => {
    const overHttp = inAnswer(await asked(path));
    assert.deepEqual(await program(inProgram()), overHttp, `question ${number} in TypeScript`);
    if (asksByCommand || number === 1)
      assert.deepEqual(await printed(number), overHttp, `question ${number} by the command`);
    return overHttp;
  };
  const set = (name: string): string => filled(`$${name}`);
  const did = (events: readonly any[]) => events.map(({ actor, topic }) => `${actor.username} ${topic}`);

  it('the page has ten', () => assert.deepEqual([...commands.keys()], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));

  it('1. What did Ben do this afternoon?', async () => {
    const between = { since: set('NOON'), until: set('EVENING') };
    const events = await sameAnswers(1, 'events?actor=$BEN&since=$NOON&until=$EVENING', (ask) =>
      all(ask.events({ actor: set('BEN'), ...between })),
    );
    // The job runs with the rights of the account that has last changed the trigger.
    assert.deepEqual(did(events), ['ben jobStarted', 'ben triggerCreated', 'ben automationCreated']);
  });

  it('2. Who changed this automation, when, and what?', async () => {
    const history = await sameAnswers(2, 'resources/automation/$AUTOMATION', (ask) =>
      all(ask.resource('automation', set('AUTOMATION'))),
    );
    assert.deepEqual(did(history), ['carla automationChanged', 'ben automationCreated']);
    assert.ok(history[0].patch.some((one: any) => one.path === '/description' && one.value === 'By night'));
  });

  it('3. What did it look like at two?', async () => {
    const [document] = await sameAnswers(
      3,
      'diff?resource=automation/$AUTOMATION&from=0&to=$TWO',
      async (ask) => {
        const { patch } = await ask.diff(`automation/${set('AUTOMATION')}`, 0, set('TWO'));
        return patch.map(({ value }) => value);
      },
      ({ patch }) => patch.map(({ value }: { value: unknown }) => value),
    );
    assert.deepEqual([document.name, document.description], ['Upgrade', '']);
  });

  it('4. What is different between noon and evening?', async () => {
    const patch = await sameAnswers(
      4,
      'diff?resource=automation/$AUTOMATION&from=$NOON&to=$EVENING',
      async (ask) => (await ask.diff(`automation/${set('AUTOMATION')}`, set('NOON'), set('EVENING'))).patch,
      ({ patch }) => patch,
    );
    assert.deepEqual([patch.length, patch[0].path, patch[0].value.description], [1, '', 'By night']);
  });

  it('5. Who deleted the template?', async () => {
    const events = await sameAnswers(5, 'events?resource=template/$TEMPLATE&topic=templateDeleted', (ask) =>
      all(ask.events({ resource: `template/${set('TEMPLATE')}`, topic: 'templateDeleted' })),
    );
    assert.deepEqual(did(events), ['dana templateDeleted']);
  });

  it('6. When was the token of the controller changed, and by whom?', async () => {
    const history = await sameAnswers(6, 'resources/adapter/$ADAPTER', (ask) =>
      all(ask.resource('adapter', 'controller')),
    );
    assert.deepEqual(did(history), ['admin adapterReplaced', 'admin adapterCreated']);
    const changes = history[0].patch.filter(({ path }: { path: string }) => path.startsWith('/properties'));
    assert.deepEqual(changes, [{ op: 'replace', path: '/properties/token', value: '********' }]);
    assert.ok(!JSON.stringify(history).includes('token":"the-'));
  });

  it('7. Why did this job run?', async () => {
    const [root, ...others] = await sameAnswers(7, 'trace/$REQUEST', (ask) => ask.trace(set('REQUEST')));
    assert.deepEqual([did([root]), did(root.children), others], [['erik ticketOpened'], ['ben jobStarted'], []]);
  });

  it("8. Who has locked Erik's account?", async () => {
    const events = await sameAnswers(8, 'events?resource=account/$ERIK&operation=updateAccount', (ask) =>
      all(ask.events({ resource: `account/${set('ERIK')}`, operation: 'updateAccount' })),
    );
    assert.deepEqual(did(events), ['admin accountUpdated']);
    assert.deepEqual(events[0].data, { inactive: true });
  });

  it('9. Who tried what they may not?', async () => {
    const events = await sameAnswers(9, 'events?topic=requestsDenied&since=$NOON', (ask) =>
      all(ask.events({ topic: 'requestsDenied', since: set('NOON') })),
    );
    const rows: any[] = events.flatMap(({ data }) => data.rows);
    const [rita, otto] = [await idOf('rita'), await idOf('otto')];
    const counted = (account: string, code: string): number =>
      rows.filter((row) => row.account === account && row.code === code).reduce((sum, { count }) => sum + count, 0);
    assert.deepEqual([counted(rita, 'forbidden'), counted(otto, 'unauthenticated')], [3, 4]);
    const denied = await all(inProgram().denied({ since: set('NOON') }));
    assert.deepEqual(
      denied.map(({ first: _, last: __, ...row }) => row),
      rows,
    );
  });

  it('10. Who took the automation out of the house?', async () => {
    const events = await sameAnswers(10, 'events?topic=exported&since=$NOON', (ask) =>
      all(ask.events({ topic: 'exported', since: set('NOON') })),
    );
    const [row, ...others] = events.flatMap(({ data }) => data.rows);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [row.account, row.resource, row.count],
      [await idOf('otto'), { kind: 'automation', id: set('AUTOMATION') }, 1],
    );
  });

  it('how much there is of what', async () => {
    const { status, out, err } = await runInProcess(['audit', 'stats'], place.settings);
    assert.equal(status, 0, err);
    const stats: any[] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const countOf = (by: string, name: string) => stats.find((one) => one.by === by && one.name === name)?.count;
    assert.equal(countOf('topic', '@platform/operations-manager:automationChanged'), 1);
    assert.equal(countOf('actor', 'carla'), 1);
    const sum = (by: string) => stats.filter((one) => one.by === by).reduce((total, { count }) => total + count, 0);
    assert.equal(sum('topic'), countOf('log', 'events'));
    assert.ok(countOf('log', 'streams') > 10 && countOf('log', 'bytes') > 1000 && sum('day') > 0);
  });

  if (asksByCommand)
    it('a question that cannot be answered ends with 1, and one that is asked wrongly with 2', async () => {
      const ended = async (...args: readonly string[]) => {
        const { status, err, out } = await runInProcess(args, place.settings);
        return [status, err, out] as const;
      };
      assert.deepEqual((await ended('audit', 'show', 'automation/none')).slice(0, 1), [1]);
      assert.match(
        (await ended('audit', 'as-of', `automation/${set('AUTOMATION')}`, '1'))[1],
        /There was no automation/,
      );
      assert.match(
        (await ended('audit', 'diff', 'automation/x', 'yesterday', '2'))[1],
        /'from'.* neither a position nor a time/,
      );
      assert.deepEqual((await ended('audit', 'log', '--limit', '0')).slice(0, 1), [2]);
      assert.match(
        (await ended('audit', 'log', '--limit', '2'))[1],
        /^These are the newest 2\. There may be older ones/,
      );
      assert.equal((await ended('audit', 'log', '--topic', 'templateDeleted'))[1], '');
      assert.deepEqual(await ended('audit', 'log', '--topic', 'templateDeletd'), [0, 'No event of the log fits\n', '']);
      assert.deepEqual(await ended('audit', 'trace', 'none'), [0, 'No event of the log has this correlation\n', '']);
      assert.deepEqual((await ended('audit', 'show', 'login/none')).slice(0, 1), [1]);
      await assert.rejects(
        () =>
          audit({ url: place.audit.url, auth: { username: 'rita', password } })
            .denied()
            .next(),
        /No role of yours allows getAuditDenied/,
      );
    });
};

for (const [name, enter] of Object.entries(places)) {
  // A command that reads the log of another machine takes two seconds of processor time.
  const asksByCommand = name === 'on one node' || process.env.SOAK_ROUNDS !== undefined;
  const title = `an afternoon of six people, and ten questions of an auditor, ${name}`;
  describe(title, afternoon(enter, asksByCommand)).timeout(600_000);
}
