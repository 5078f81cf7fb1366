import assert from 'node:assert/strict';
import { loadSample } from '../../../src/demo/load.ts';
import { areas } from '../../../src/http/areas.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import { projections } from '../../../src/projections/all.ts';
import { again } from '../../support/again.ts';
import { manualTrigger } from '../../support/documents.ts';
import { ok } from '../../support/people.ts';
import { otherRows, pathsOf, readRows } from '../../support/readRows.ts';
import { sampled } from '../../support/sample.ts';
import { type Answer, adminPassword, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

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
  /^\/(operations-manager\/(automations|triggers|jobs|tasks|parked|events)|configuration_manager\/(compliance_(plans|reports)|credentials)|automation_catalog|inventory_manager|prebuilts|authorization\/tokens|agent-session-manager\/sessions|lifecycle-manager\/action-executions)/;

/** Those whose documents in the sample have access lists of other groups than red, and sums of what the caller may read. */
const withOtherLists =
  /^\/(automation_catalog|inventory_manager|configuration_manager\/(credentials|compliance_(reports\/(tree|node|score_trend)|plans\/[^/]+\/)))/;

type Word = 'automations' | 'triggers' | 'jobs' | 'plans' | 'prebuilts';
const jobIds = (id: string) => ({ jobIds: [id] });

const noNode = { treeId: 'f'.repeat(24), version: 'initial', nodeId: 'f'.repeat(24) };

const firstRun = (job: string): string => `${job}.a.1`;

/** Operations that name one resource with access lists, or one that follows it, their bodies, and its own id if it has one. */
const named: Readonly<Record<string, readonly [Word, ((id: string) => object)?, ((id: string) => string)?]>> = {
  'PATCH /operations-manager/automations/:id': ['automations', () => ({ description: 'x' })],
  'DELETE /operations-manager/automations/:id': ['automations'],
  'GET /operations-manager/automations/:id/export': ['automations'],
  'POST /operations-manager/triggers': ['automations', (id) => manualTrigger('', id, { _id: undefined })],
  'POST /audit/restore': ['automations', (id) => ({ kind: 'automation', id, position: 1 })],
  'PATCH /operations-manager/triggers/:id': ['triggers', () => ({ enabled: false })],
  'DELETE /operations-manager/triggers/:id': ['triggers'],
  'GET /operations-manager/triggers/:id/preview': ['triggers'],
  'POST /operations-manager/triggers/manual/:id/run': ['triggers', () => ({})],
  'POST /operations-manager/triggers/:id/test': ['triggers', () => ({ payload: {} })],
  'POST /operations-manager/jobs/pause': ['jobs', jobIds],
  'POST /operations-manager/jobs/resume': ['jobs', jobIds],
  'POST /operations-manager/jobs/cancel': ['jobs', jobIds],
  'POST /operations-manager/jobs/retry': ['jobs', jobIds],
  'POST /operations-manager/jobs/watch': ['jobs', jobIds],
  'POST /operations-manager/jobs/unwatch': ['jobs', jobIds],
  'POST /operations-manager/jobs/:id/complete': ['jobs', () => ({})],
  'POST /operations-manager/jobs/:id/error': ['jobs', () => ({ error: 'x' })],
  'POST /operations-manager/jobs/:id/heartbeat': ['jobs', () => ({ claim: 1 })],
  'POST /operations-manager/jobs/:id/release': ['jobs', () => ({ claim: 1 })],
  'POST /operations-manager/jobs/:id/continue': ['jobs', () => ({ fromTask: 'a' })],
  'POST /operations-manager/jobs/:id/tasks/:task/retry': ['jobs', () => ({})],
  'POST /operations-manager/tasks/:id/claim': ['jobs', () => ({}), firstRun],
  'POST /operations-manager/tasks/:id/release': ['jobs', () => ({}), firstRun],
  'POST /operations-manager/tasks/:id/heartbeat': ['jobs', () => ({ claim: 1 }), firstRun],
  'POST /operations-manager/tasks/:id/finish': ['jobs', () => ({ result: 'success' }), firstRun],
  'PUT /configuration_manager/compliance_plans': ['plans', (planId) => ({ planId, options: { name: 'x' } })],
  'DELETE /configuration_manager/compliance_plans': ['plans', (id) => ({ planIds: [id] })],
  'POST /configuration_manager/compliance_plans/nodes': ['plans', (planId) => ({ planId, nodes: [noNode] })],
  'DELETE /configuration_manager/compliance_plans/nodes': ['plans', (planId) => ({ planId, nodes: [noNode] })],
  'POST /configuration_manager/compliance_plans/run': ['plans', (planId) => ({ planId })],
  'DELETE /prebuilts/:id': ['prebuilts'],
};

const reportRows = [
  '',
  '/backups',
  '/:id/remediation',
  '/config',
  '/details',
  '/history',
  '/grade',
  '/grade/single',
  '/grade/history',
  '/topissues',
].map((end) => `POST /configuration_manager/compliance_reports${end}`);

/** All others of the areas that know access lists, by the reason why they are not asked here. */
const notNamed: Readonly<Record<string, readonly string[]>> = {
  'makes a resource under a new id': [
    'POST /operations-manager/automations',
    'POST /configuration_manager/compliance_plans',
    'POST /agent-session-manager/sessions/run-agent',
    'POST /operations-manager/events/:source/:topic',
    'POST /authorization/tokens',
  ],
  'takes ids of the caller: takenIds.test.ts and importedScheduledJobs.test.ts ask it': [
    'PUT /operations-manager/automations',
    'PUT /operations-manager/triggers',
    'POST /configuration_manager/import/plans',
    'POST /prebuilts/import',
    'POST /automation_catalog/scheduled-jobs',
    'POST /automation_catalog/import/scheduled-jobs',
    'POST /automation_catalog/automations/migration',
  ],
  'is of an inventory: devicesOfInventories.test.ts asks it': [
    'POST /inventory_manager/v1/inventories',
    'PATCH /inventory_manager/v1/inventories/:id',
    'DELETE /inventory_manager/v1/inventories/:id',
    'POST /inventory_manager/v1/inventories/:id/nodes',
    'PATCH /inventory_manager/v1/inventories/:id/nodes/:node',
    'DELETE /inventory_manager/v1/inventories/:id/nodes/:node',
    'PUT /inventory_manager/v1/inventories/:id/source',
    'POST /inventory_manager/v1/inventories/:id/sync',
    'POST /inventory_manager/v1/nodes/bulk',
    'DELETE /inventory_manager/v1/nodes/clear/:identifier',
  ],
  'is of a copy: deviceBackups.test.ts asks it': [
    'POST /configuration_manager/backups',
    'PUT /configuration_manager/backups/:id',
    'DELETE /configuration_manager/backups',
    'PUT /configuration_manager/lookup_diff',
  ],
  'names devices: configurationChanges.test.ts asks it': ['POST /configuration_manager/changes'],
  'renders a text of the request, with templates of the area template-builder': ['POST /configuration_manager/jinja2'],
  'is a credential of devices: deviceLogins.test.ts asks it': [
    'POST /configuration_manager/credentials',
    'PUT /configuration_manager/credentials/:name',
    'DELETE /configuration_manager/credentials/:name',
  ],
  'needs a job that has run: takenIds.test.ts asks it': [
    'POST /agent-session-manager/sessions/:id/cancel',
    'POST /agent-session-manager/sessions/:id/complete',
    'POST /agent-session-manager/sessions/:id/fail',
    'POST /lifecycle-manager/action-executions/:id/cancel',
  ],
  'is seen by its owner alone: access/tokens.test.ts asks it': ['DELETE /authorization/tokens/:id'],
  'needs a run that has failed: parkedRuns.test.ts asks it': [
    'POST /operations-manager/parked/:id/retry',
    'POST /operations-manager/parked/:id/discard',
  ],
  'names by a name, and says 404 or takes it for a workflow: jobs.test.ts and triggerRuns.test.ts ask it': [
    'POST /operations-manager/jobs/start',
    'POST /operations-manager/triggers/endpoint/:routeName',
    'POST /lifecycle-manager/resources/:modelIdentifier/run-action',
  ],
  'names none, and answers what the caller may read': [
    'POST /operations-manager/jobs/claim',
    'POST /operations-manager/tasks/claim',
    'POST /operations-manager/events/test',
    'POST /operations-manager/triggers/preview',
    'POST /configuration_manager/search/compliance_plans',
    'POST /configuration_manager/search/compliance_plan_instances',
    'POST /inventory_manager/v1/tags/search',
  ],
  'names reports, which follow their plans: complianceRuns.test.ts asks it': reportRows,
};
/**
 * The kinds of these areas that have no access lists, by the beginnings of their paths, or those of projects alone:
 * documents/projectMembers.test.ts asks them.
 */
const withoutLists =
  /^\w+ \/(agent-session-manager\/agents|authorization\/(?!tokens)|automation-studio|json-forms|mop|template_builder|configuration_manager\/(adapters|config_specs|config_template|configs|configurations|device[gG]roups?|devices|export|generate|import\/(?!plans)|node|templates|translate)|lifecycle-manager\/resources|operations-manager\/workflows|transformations|workflow_builder|workflow_engine)/;

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
    again(() =>
      askAs(person)(
        'GET',
        moment === 'now' ? path : `${path}${path.includes('?') ? '&' : '?'}asOf=${positions.get(moment)}`,
      ),
    );
  /** The paths of a row that are asked: fewer where its documents have no access lists, and so are all alike. */
  const asked = (row: string): readonly string[] => {
    const found = paths.get(row) ?? [];
    return sampled(found, guarded.test(row) ? 2 : 1);
  };
  const all = async (path: string): Promise<readonly any[]> => made('GET', path).then((body) => body.data ?? body);

  /** The fates of what has access lists, or follows one, by id. What has no list has none. */
  const fatesById = new Map<string, Fate>();
  const byWord: Readonly<Record<Word, Map<Fate, string>>> = {
    automations: new Map(),
    triggers: new Map(),
    jobs: new Map(),
    plans: new Map(),
    prebuilts: new Map(),
  };
  const settle = (word: Word, id: string, fate: Fate): void => {
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
    for (const { _id } of await plans()) settle('plans', _id, 'staying');
    for (const fate of fates) {
      const plan = await made('POST', `${cm}/compliance_plans`, { name: `${fate}-plan.`, description: '' });
      settle('plans', plan._id, fate);
    }
    for (const { _id, installed } of await all('/prebuilts?limit=1000').then((body: any) => body.results ?? body)) {
      const [hidden] = installed.filter(
        ({ _id: one }: { _id: string }) => (fatesById.get(one) ?? 'opened') !== 'opened',
      );
      if (hidden) settle('prebuilts', _id, 'staying');
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
    const {
      labBatch = '',
      labBackup = '',
      labChange = '',
      locationTemplate = '',
    } = await loadSample(service.url, 'admin', adminPassword);
    let report = '';
    await until(async () => {
      const { status, body } = await service.ask('GET', `${cm}/compliance_reports/batch/${labBatch}`);
      if (status === 200 && body.length > 0) report = body[0].id;
      return report !== '';
    }, 'a report of the sample');
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
    paths.set(
      `${planRow.replace(':id', ':planId')}/compliance-score-trend`,
      (await plans()).map(({ _id }) => `${planRow.replace(':id', _id)}/compliance-score-trend`),
    );
    // Tasks of workflows are called by their names.
    const tasks = '/automation-studio/locations/:location/packages/:pckg/tasks/:method';
    paths.set(tasks, ['/automation-studio/locations/Application/packages/WorkFlowEngine/tasks/query']);
    const groups: readonly { readonly _id: string }[] = ok(await asOf('admin', `${cm}/deviceGroups`, 'open'));
    paths.set(
      `${cm}/name/devicegroups`,
      groups.map(({ _id }) => `${cm}/name/devicegroups?groupName=${_id}`),
    );
    // Copies have none either.
    paths.set(`${cm}/backups`, [`${cm}/backups?device=lab-01`]);
    paths.set(`${cm}/backups/:id`, [`${cm}/backups/${labBackup}`]);
    paths.set(`${cm}/changes/:jobId`, [`${cm}/changes/${labChange}`]);
    paths.set(`${cm}/templates/:id`, [`${cm}/templates/${locationTemplate}`]);
    // Reports have none either.
    const reports = `${cm}/compliance_reports`;
    for (const id of [labBatch, report]) fatesById.set(id, 'staying');
    paths.set(`${reports}/batch/:batchId`, [`${reports}/batch/${labBatch}`]);
    paths.set(`${reports}/details/:id`, [`${reports}/details/${report}`]);
    paths.set(`${reports}/score_trend/:deviceName`, [`${reports}/score_trend/lab-01`]);
    paths.set(`${reports}/node/:treeId/:nodePath`, [`${reports}/node/Edge%20routers/base%2FHardening`]);
    // Nodes have names within their tree.
    const { root } = ok(await service.ask('GET', `${cm}/configs/Edge%20routers/initial`));
    paths.set(`${cm}/config_specs/:configId`, [`${cm}/config_specs/${root.attributes.configId}`]);
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
    const [withLists, others] = [true, false].map((is) => [...paths.keys()].filter((row) => guarded.test(row) === is));
    for (const row of [...withLists!, ...sampled(others!, 12)]) {
      const hasLists = guarded.test(row);
      for (const path of asked(row)) {
        const callers = new Set<Person>(['admin']);
        if (!hasLists)
          for (const person of persons) if ((await askAs(person)('GET', path)).status !== 403) callers.add(person);
        for (const moment of moments) {
          const whole = await asOf('admin', path, moment);
          for (const person of persons) {
            const { status, text } = await asOf(person, path, moment);
            const about = `${path} for ${person} as of ${moment}: ${status} ${text}`;
            assert.ok([200, 403, 404].includes(status), about);
            for (const fate of fates)
              if (!sees(person, fate) || (person === 'nobody' && status === 200))
                assert.ok(!text.includes(`${fate}-`), about);
            // A document without access lists is told to every role that may call its route, and to nobody else.
            if (!hasLists) {
              if (callers.has(person)) assert.deepEqual([status, text], [whole.status, whole.text], about);
              else assert.equal(status, 403, about);
            }
            if (person === 'nobody' || !hasLists || !row.includes(':')) continue;
            const fate = [...fatesById].find(([id]) => path.includes(id))?.[1];
            if (row.startsWith('/authorization/tokens')) continue;
            if (fate !== undefined && !sees(person, fate)) assert.equal(status, 404, about);
            else if (fate !== undefined || !withOtherLists.test(row))
              assert.deepEqual([status, text], [whole.status, whole.text], about);
          }
        }
      }
    }
  });

  it('no operation is missing that changes something', () => {
    const concerned = new Set(['audit', ...projections.flatMap(({ guard, of }) => (guard ? of.area : []))]);
    const known = new Set([...Object.keys(named), ...Object.values(notNamed).flat()]);
    const titles = areas
      .filter(({ area }) => concerned.has(area))
      .flatMap((area) =>
        area.routes
          .filter(({ method }) => method !== 'get')
          .map((route) => `${route.method.toUpperCase()} ${fullPathOf(area, route)}`),
      );
    const asked = titles.filter((title) => known.has(title) || !withoutLists.test(title));
    assert.deepEqual([...asked].sort(), [...known].filter((title) => !title.startsWith('GET ')).sort());
  });

  it('what is hidden, or was so when it was deleted, is told like what never was', async () => {
    const never = 'f'.repeat(24);
    assert.equal(byWord.automations.size, fates.length);
    assert.ok(byWord.triggers.size > 1 && byWord.jobs.size > 1 && byWord.prebuilts.size > 0);
    for (const [title, [word, body, ownId = (id: string) => id]] of Object.entries(named)) {
      const [method = '', path = ''] = title.split(' ');
      const told = async (id: string): Promise<string> => {
        const answer = await askAs('operator')(
          method,
          path.replace(':id', ownId(id)).replace(':task', 'a'),
          body?.(id),
        );
        assert.ok([400, 404].includes(answer.status), `${title}: ${answer.status} ${answer.text}`);
        return `${answer.status} ${answer.text.replaceAll(id, 'id')}`;
      };
      for (const fate of ['staying', 'going', 'kept'] as const) {
        const id = byWord[word].get(fate);
        if (id !== undefined) assert.equal(await told(id), await told(never), `${title} ${fate}`);
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
