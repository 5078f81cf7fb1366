import assert from 'node:assert/strict';
import { loadSample } from '../src/demo/load.ts';
import { again } from './again.ts';
import { ok } from './people.ts';
import { otherRows, pathsOf, readRows } from './readRows.ts';
import { type Answer, adminPassword, startService, type TestService } from './service.ts';

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

/** `open`: all may read everything. `closed`: only the group red may read what has access lists. `end`: half is gone. */
const moments = ['open', 'closed', 'end'] as const;
type Moment = (typeof moments)[number];

/** The rows whose documents have access lists, or name documents that have them. Others answer all roles alike. */
const guarded =
  /^\/(operations-manager\/(automations|triggers|jobs|parked)|configuration_manager\/compliance_plans|automation_catalog|prebuilts)/;

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
  const asOf = (person: Person, path: string, moment: Moment): Promise<Answer> => {
    const ask = person === 'admin' ? service.ask : service.as({ user: person, password });
    return again(() => ask('GET', `${path}?asOf=${positions.get(moment)}`));
  };
  const all = async (path: string): Promise<readonly any[]> => made('GET', path).then((body) => body.data ?? body);

  /** Renames what has access lists: those that stay until the end have other names than those that go. */
  const rename = async (): Promise<void> => {
    for (const [n, { _id }] of (await all(`${om}/automations?limit=1000`)).entries())
      await made('PATCH', `${om}/automations/${_id}`, { name: `${n % 2 === 0 ? 'staying' : 'going'}-${n}.` });
    for (const [n, { _id }] of (await all(`${om}/triggers?limit=1000`)).entries())
      await made('PATCH', `${om}/triggers/${_id}`, { name: `trigger-${n}.` });
    for (const name of ['staying', 'going'])
      await made('POST', `${cm}/compliance_plans`, { name: `${name}-plan.`, description: '' });
  };
  const plans = async (): Promise<readonly any[]> =>
    (await made('POST', `${cm}/search/compliance_plans`, { options: { limit: 100 } })).plans;
  const close = async (): Promise<void> => {
    for (const { _id } of await all(`${om}/automations?limit=1000`))
      await made('PATCH', `${om}/automations/${_id}`, { gbac: red });
    for (const { _id } of await plans())
      await made('PUT', `${cm}/compliance_plans`, { planId: _id, options: { gbac: red } });
  };
  const remove = async (): Promise<void> => {
    for (const { _id, name } of await all(`${om}/automations?limit=1000`))
      if (name.startsWith('going')) await made('DELETE', `${om}/automations/${_id}`);
    const planIds = (await plans()).filter(({ name }) => name.startsWith('going')).map(({ _id }) => _id);
    await made('DELETE', `${cm}/compliance_plans`, { planIds });
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
    await remove();
    await mark('end');
  });
  after(() => service.stop());

  it('no route is missing: an admin reads a document by each of them', async () => {
    for (const row of readRows) {
      const found = paths.get(row) ?? [];
      assert.ok(found.length > 0, `The sample has no document for ${row}`);
      for (const path of found) ok(await asOf('admin', path, 'open'));
    }
  });

  it('a name that may not be read now is in no answer', async () => {
    for (const person of persons) {
      const maySee = person === 'admin' || person.startsWith('red');
      for (const moment of moments)
        for (const path of [...paths.values()].flat()) {
          const { status, text } = await asOf(person, path, moment);
          const about = `${path} for ${person} as of ${moment}: ${status} ${text}`;
          assert.ok([200, 403, 404].includes(status), about);
          if (person === 'nobody' && status === 200) assert.doesNotMatch(text, /(staying|going|trigger)-/, about);
          if (maySee) continue;
          assert.doesNotMatch(text, /staying-/, about);
          if (moment !== 'open') assert.doesNotMatch(text, /going-/, about);
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
