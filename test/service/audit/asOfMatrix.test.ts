import assert from 'node:assert/strict';
import { loadSample } from '../../../src/demo/load.ts';
import { again } from '../../support/again.ts';
import { ok } from '../../support/people.ts';
import { otherRows, pathsOf, readRows } from '../../support/readRows.ts';
import { type Answer, adminPassword, startService, type TestService } from '../../support/service.ts';

const om = '/operations-manager';
const cm = '/configuration_manager';
const red = { read: ['red'], write: ['red'] };
const planRow = `${cm}/compliance_plans/:id`;
const password = 'a long password';

const groupsOf = {
  admin: ['admins'],
  'red operator': ['operators', 'red'],
  'red reader': ['readers', 'red'],
  operator: ['operators'],
  reader: ['readers'],
  nobody: [],
} as const;
type Person = keyof typeof groupsOf;
const persons = Object.keys(groupsOf) as Person[];

/**
 * `open`: all may read everything. `closed`: only the group red may read what has access lists. `end`: only what stays
 * is there. `now`: some is made anew.
 */
const moments = ['open', 'closed', 'end', 'now'] as const;
type Moment = (typeof moments)[number];

/** What becomes of a document. `opened` and `kept` are deleted and made anew: for everybody, and for the group red. */
const fates = ['staying', 'going', 'opened', 'kept'] as const;
type Fate = (typeof fates)[number];
const fateOf = (name: string): Fate => fates.find((fate) => name.startsWith(fate)) ?? 'staying';
/** Whether somebody may read a document of this fate, whatever moment is asked for. */
const sees = (person: Person, fate: Fate): boolean =>
  fate === 'opened' || person === 'admin' || person.startsWith('red');

/** The rows whose documents have access lists, or name documents that have them. Others answer all roles alike. */
const guarded =
  /^\/(operations-manager\/(automations|triggers|jobs|parked|events)|configuration_manager\/compliance_plans|automation_catalog|prebuilts)/;

describe('every GET route as of every moment, for six roles', function () {
  this.timeout(1_200_000);
  let service: TestService;
  const positions = new Map<Moment, number>();
  /** Concrete paths of each row. */
  const paths = new Map<string, readonly string[]>();

  const made = async (method: string, path: string, body?: unknown): Promise<any> =>
    ok(await service.ask(method, path, body));
  const mark = async (moment: Moment): Promise<void> => {
    const { headers } = await service.ask('POST', `${om}/events/moment/${moment}`, {});
    positions.set(moment, Number(headers.get('x-event-position')));
  };
  type Ask = ReturnType<TestService['as']>;
  const askAs = (person: Person): Ask => (person === 'admin' ? service.ask : service.as({ user: person, password }));
  const asOf = (person: Person, path: string, moment: Moment): Promise<Answer> =>
    again(() => askAs(person)('GET', moment === 'now' ? path : `${path}?asOf=${positions.get(moment)}`));
  const all = async (path: string): Promise<readonly any[]> => made('GET', path).then((body) => body.data ?? body);

  /** The fates of what has access lists, or follows one, by id. What has no list has none. */
  const fatesById = new Map<string, Fate>();
  const byWord: Record<'automations' | 'triggers' | 'jobs', Map<Fate, string>> = {
    automations: new Map(),
    triggers: new Map(),
    jobs: new Map(),
  };
  const settle = (word: keyof typeof byWord, id: string, fate: Fate): void => {
    fatesById.set(id, fate);
    byWord[word].set(fate, id);
  };
  /** Renames what has access lists by its fate. */
  const rename = async (): Promise<void> => {
    for (const [n, { _id }] of (await all(`${om}/automations?limit=1000`)).entries()) {
      const fate = fates[n % fates.length] ?? 'staying';
      settle('automations', _id, fate);
      await made('PATCH', `${om}/automations/${_id}`, { name: `${fate}-${n}.` });
    }
    for (const { _id, actionId } of await all(`${om}/triggers?limit=1000`)) {
      const fate = fatesById.get(actionId) ?? assert.fail(actionId);
      settle('triggers', _id, fate);
      await made('PATCH', `${om}/triggers/${_id}`, { name: `${fate}-trigger-${_id}.` });
    }
    for (const { _id, automation } of await all(`${om}/jobs?limit=1000`)) {
      const fate = fatesById.get(automation);
      if (fate) settle('jobs', _id, fate);
    }
    for (const { _id } of await plans()) fatesById.set(_id, 'staying');
    for (const fate of fates) {
      const plan = await made('POST', `${cm}/compliance_plans`, { name: `${fate}-plan.`, description: '' });
      fatesById.set(plan._id, fate);
    }
    for (const { _id, installed } of await all('/prebuilts?limit=1000').then((body: any) => body.results ?? body)) {
      const [hidden] = installed.filter(
        ({ _id: one }: { _id: string }) => (fatesById.get(one) ?? 'opened') !== 'opened',
      );
      if (hidden) fatesById.set(_id, 'staying');
    }
  };
  const plans = async (): Promise<readonly any[]> =>
    (await made('POST', `${cm}/search/compliance_plans`, { options: { limit: 100 } })).plans;
  const close = async (): Promise<void> => {
    for (const { _id } of await all(`${om}/automations?limit=1000`))
      await made('PATCH', `${om}/automations/${_id}`, { gbac: red });
    for (const { _id } of await plans())
      await made('PUT', `${cm}/compliance_plans`, { planId: _id, options: { gbac: red } });
  };
  /** Deletes all but what stays, and gives the exports of the automations. */
  const remove = async (): Promise<readonly any[]> => {
    const documents = [];
    for (const { _id, name } of await all(`${om}/automations?limit=1000`)) {
      if (fateOf(name) === 'staying') continue;
      documents.push((await made('GET', `${om}/automations/${_id}/export`)).data);
      await made('DELETE', `${om}/automations/${_id}`);
    }
    const planIds = (await plans()).filter(({ name }) => fateOf(name) !== 'staying').map(({ _id }) => _id);
    await made('DELETE', `${cm}/compliance_plans`, { planIds });
    return documents;
  };
  const makeAnew = async (documents: readonly any[]): Promise<void> => {
    for (const document of documents) {
      const fate = fateOf(document.name);
      const body = { automations: [fate === 'opened' ? { ...document, gbac: { read: [], write: [] } } : document] };
      assert.equal((await askAs('operator')('PUT', `${om}/automations`, body)).status, 409, document.name);
      if (fate !== 'going') ok(await askAs('red operator')('PUT', `${om}/automations`, body));
    }
    for (const [id, fate] of fatesById) {
      const way = { kind: 'plan', id, position: positions.get(fate === 'opened' ? 'open' : 'closed') };
      if ((paths.get(planRow) ?? []).some((path) => path.endsWith(id)) && (fate === 'opened' || fate === 'kept')) {
        assert.equal((await askAs('operator')('POST', '/audit/restore', way)).status, 404);
        ok(await askAs('red operator')('POST', '/audit/restore', way));
      }
    }
  };

  before(async () => {
    service = await startService();
    await loadSample(service.url, 'admin', adminPassword);
    await made('POST', '/authorization/groups', { name: 'red', description: '' });
    for (const [username, memberOf] of Object.entries(groupsOf))
      if (username !== 'admin') await made('POST', '/authorization/accounts', { username, password, memberOf });
    await rename();
    await mark('open');
    for (const row of readRows) paths.set(row, await pathsOf(row, (path) => asOf('admin', path, 'open')));
    // Plans have no list, only a search.
    paths.set(
      planRow,
      (await plans()).map(({ _id }) => planRow.replace(':id', _id)),
    );
    await close();
    await mark('closed');
    const documents = await remove();
    await mark('end');
    await makeAnew(documents);
  });
  after(() => service.stop());

  it('no route is missing: an admin reads a document by each of them', async () => {
    for (const row of readRows) {
      const found = paths.get(row) ?? [];
      assert.ok(found.length > 0, `The sample has no document for ${row}`);
      for (const path of found) ok(await asOf('admin', path, 'open'));
    }
  });

  it('a name that may not be read now is in no answer; what may be read is told like to an admin', async () => {
    for (const moment of moments)
      for (const [row, found] of paths)
        for (const path of found) {
          const whole = await asOf('admin', path, moment);
          for (const person of persons) {
            const { status, text } = await asOf(person, path, moment);
            const about = `${path} for ${person} as of ${moment}: ${status} ${text}`;
            assert.ok([200, 403, 404].includes(status), about);
            for (const fate of fates)
              if (!sees(person, fate) || (person === 'nobody' && status === 200))
                assert.ok(!text.includes(`${fate}-`), about);
            if (person === 'nobody' || !guarded.test(row) || !row.includes(':')) continue;
            const fate = [...fatesById].find(([id]) => path.includes(id))?.[1];
            if (fate !== undefined && !sees(person, fate)) assert.equal(status, 404, about);
            else if (fate !== undefined || !row.startsWith('/automation_catalog'))
              assert.deepEqual([status, text], [whole.status, whole.text], about);
          }
        }
  });

  it('what is hidden, or was so when it was deleted, is told like what never was', async () => {
    const never = 'f'.repeat(24);
    const manual = {
      name: 'x',
      type: 'manual',
      enabled: true,
      actionType: 'automations',
      formData: null,
      formId: null,
    };
    const ways: readonly (readonly [
      word: keyof typeof byWord,
      method: string,
      path: string,
      body?: (id: string) => object,
    ])[] = [
      ['automations', 'PATCH', `${om}/automations/:id`, () => ({ description: 'x' })],
      ['automations', 'DELETE', `${om}/automations/:id`],
      ['automations', 'GET', `${om}/automations/:id/export`],
      ['automations', 'POST', `${om}/triggers`, (actionId) => ({ ...manual, actionId })],
      ['triggers', 'PATCH', `${om}/triggers/:id`, () => ({ enabled: false })],
      ['triggers', 'DELETE', `${om}/triggers/:id`],
      ['triggers', 'POST', `${om}/triggers/manual/:id/run`, () => ({})],
      ['triggers', 'GET', `${om}/triggers/:id/preview`],
      ['triggers', 'POST', `${om}/triggers/:id/test`, () => ({ event: { payload: {} } })],
      ...['pause', 'resume', 'cancel', 'retry', 'watch', 'unwatch'].map(
        (move) => ['jobs', 'POST', `${om}/jobs/${move}`, (id: string) => ({ jobIds: [id] })] as const,
      ),
      ['jobs', 'POST', `${om}/jobs/:id/complete`, () => ({})],
      ['jobs', 'POST', `${om}/jobs/:id/error`, () => ({ error: 'x' })],
      ['jobs', 'POST', `${om}/jobs/:id/heartbeat`, () => ({ claim: 1 })],
      ['jobs', 'POST', `${om}/jobs/:id/release`, () => ({ claim: 1 })],
    ];
    assert.equal(byWord.automations.size, fates.length);
    assert.ok(byWord.triggers.size > 1 && byWord.jobs.size > 1);
    for (const [word, method, path, body] of ways) {
      const told = async (id: string): Promise<string> => {
        const answer = await askAs('operator')(method, path.replace(':id', id), body?.(id));
        assert.ok([400, 404].includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text}`);
        return `${answer.status} ${answer.text.replaceAll(id, 'id')}`;
      };
      for (const fate of ['staying', 'going', 'kept'] as const) {
        const id = byWord[word].get(fate);
        if (id !== undefined) assert.equal(await told(id), await told(never), `${method} ${path} ${fate}`);
      }
    }
  });

  it('a document without access lists is told to every role that may call its route, and to nobody else', async () => {
    for (const moment of moments)
      for (const [row, found] of paths)
        for (const path of found) {
          if (guarded.test(row)) continue;
          const whole = await asOf('admin', path, moment);
          for (const person of persons) {
            const answer = await asOf(person, path, moment);
            const mayCall = (await service.as({ user: person, password })('GET', path)).status !== 403;
            const about = `${path} for ${person} as of ${moment}: ${answer.text}`;
            if (person === 'admin' || mayCall)
              assert.deepEqual([answer.status, answer.text], [whole.status, whole.text], about);
            else assert.equal(answer.status, 403, about);
          }
        }
  });

  it('a route that takes no asOf refuses it', async () => {
    for (const row of otherRows) {
      const { status, body } = await service.ask('GET', `${row.replace(/:\w+/g, 'x')}?asOf=1`);
      assert.deepEqual([status, body?.metadata.errors[0].path], [400, 'asOf'], row);
    }
  });
});
