import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { areas } from '../../../src/http/areas.ts';
import { takesAsOf } from '../../../src/http/engine/asOf.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import { again } from '../../support/again.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';

const om = '/operations-manager';
const cm = '/configuration_manager';
const red = { read: ['red'], write: ['red'] };
const open = { read: [], write: [] };

/** What becomes of a document: its access lists at first and later, and whether it is deleted at the end. */
const stories = {
  open: { first: open, later: open, goes: false },
  closing: { first: open, later: red, goes: false },
  opening: { first: red, later: open, goes: false },
  goneRed: { first: red, later: red, goes: true },
  goneOpen: { first: open, later: open, goes: true },
  goneClosing: { first: open, later: red, goes: true },
} as const;
type Story = keyof typeof stories;
const told = Object.keys(stories) as Story[];

type Kind = 'automation' | 'trigger' | 'job' | 'plan' | 'scheduledJob' | 'packaged';
/** Kinds of which no document is ever deleted. */
const lasting: readonly Kind[] = ['job', 'scheduledJob'];
const tokenOf = (kind: Kind, story: Story): string => `token-${kind}-${story}.`;

const moments = ['first', 'later', 'end'] as const;
type Moment = (typeof moments)[number];

/** Whether somebody may see a document, whatever moment is asked for: by its lists of now, or by its last ones. */
const sees = (story: Story, who: Who): boolean => who.isRed || stories[story].later === open;

type Who = {
  readonly isAdmin: boolean;
  readonly isRed: boolean;
  readonly hasRole: boolean;
  readonly mayRestore: boolean;
  readonly ask: TestService['ask'] | ReturnType<TestService['as']>;
};

/** Rows of kinds that have access lists, or show documents that have some, with what their paths may name. */
const rowsOfOne: Readonly<Record<string, readonly Kind[]>> = {
  getAutomation: ['automation'],
  exportAutomation: ['automation'],
  getTrigger: ['trigger'],
  getJob: ['job'],
  getCompliancePlan: ['plan'],
  getScheduledJob: ['scheduledJob'],
  exportScheduledJob: ['scheduledJob'],
};

describe('rights on earlier times', () => {
  let service: TestService;
  const who = new Map<string, Who>();
  const positions = new Map<Moment, number>();
  const ids = new Map<string, string>();
  const correlations = new Map<string, string>();
  let pack = '';

  // A body is whatever the route says. The name in it names the document from then on.
  const made = async (method: string, path: string, body?: any): Promise<any> => {
    const requestId = randomUUID();
    const answer = ok(await service.ask(method, path, body, { 'X-Request-Id': requestId }));
    if (method === 'POST') correlations.set(body?.options?.description ?? body?.name ?? '', requestId);
    return answer;
  };
  const head = async (): Promise<number> => {
    const { headers } = await service.ask('POST', `${om}/events/moment/passed`, {});
    return Number(headers.get('x-event-position'));
  };
  const idOf = (kind: Kind, story: Story): string => ids.get(tokenOf(kind, story)) ?? '';

  const make = async (story: Story): Promise<void> => {
    const { first } = stories[story];
    const automation = tokenOf('automation', story);
    const { _id: actionId } = (await made('POST', `${om}/automations`, { name: automation, gbac: first })).data;
    ids.set(automation, actionId);
    const trigger = { name: tokenOf('trigger', story), type: 'manual', enabled: true, actionType: 'automations' };
    const content = { ...trigger, actionId, formData: null, formId: null };
    ids.set(trigger.name, (await made('POST', `${om}/triggers`, content)).data._id);
    const job = tokenOf('job', story);
    const started = await made('POST', `${om}/jobs/start`, { workflow: automation, options: { description: job } });
    ids.set(job, started.data._id);
    const plan = tokenOf('plan', story);
    ids.set(plan, (await made('POST', `${cm}/compliance_plans`, { name: plan, gbac: first }))._id);
    const scheduled = { name: tokenOf('scheduledJob', story), data: { workflowId: 'x', gbac: first } };
    ids.set(scheduled.name, (await made('POST', '/automation_catalog/scheduled-jobs', scheduled)).data._id);
  };
  const turn = async (story: Story): Promise<void> => {
    const { later } = stories[story];
    await made('PATCH', `${om}/automations/${idOf('automation', story)}`, { gbac: later });
    await made('PUT', `${cm}/compliance_plans`, { planId: idOf('plan', story), options: { gbac: later } });
    const name = tokenOf('scheduledJob', story);
    const scheduledJobs = [{ _id: ids.get(name), name, data: { workflowId: 'x', gbac: later } }];
    await made('POST', '/automation_catalog/import/scheduled-jobs', { scheduledJobs, overwrite: true });
  };
  const remove = async (story: Story): Promise<void> => {
    await made('DELETE', `${om}/automations/${idOf('automation', story)}`);
    await made('DELETE', `${cm}/compliance_plans`, { planIds: [idOf('plan', story)] });
  };
  const install = async (): Promise<void> => {
    const name = tokenOf('packaged', 'closing');
    const automation = { name, description: '', componentType: null, componentName: null, gbac: open, triggers: [] };
    const metadata = { name: 'pack', version: '1.0.0', description: '', author: 'a', license: 'MIT' };
    const repository = { type: 'local', hostname: '', path: '' };
    const bundles = [{ type: 'automation', data: { _id: 'a'.repeat(24), ...automation } }];
    const prebuilt = {
      metadata: { ...metadata, repository, PlatformDependencies: {} },
      manifest: { bundleName: 'pack' },
      bundles,
      readme: '',
    };
    const { data } = await made('POST', '/prebuilts/import', { prebuilt });
    pack = data._id;
    ids.set(name, data.installed[0]._id);
  };

  before(async function () {
    this.timeout(300_000);
    service = await startService();
    who.set('admin', { isAdmin: true, isRed: true, hasRole: true, mayRestore: true, ask: service.ask });
    await made('POST', '/authorization/groups', { name: 'red', description: '' });
    const password = 'a long password';
    for (const [user, memberOf] of [
      ['red operator', ['operators', 'red']],
      ['red reader', ['readers', 'red']],
      ['operator', ['operators']],
      ['reader', ['readers']],
      ['nobody', []],
    ] as const) {
      await made('POST', '/authorization/accounts', { username: user, password, memberOf });
      const groups: readonly string[] = memberOf;
      who.set(user, {
        isAdmin: false,
        isRed: groups.includes('red'),
        hasRole: groups.length > 0,
        mayRestore: groups.includes('operators'),
        ask: service.as({ user, password }),
      });
    }
    for (const story of told) await make(story);
    await install();
    positions.set('first', await head());
    for (const story of told) await turn(story);
    await made('PATCH', `${om}/automations/${idOf('packaged', 'closing')}`, { gbac: red });
    positions.set('later', await head());
    for (const story of told) if (stories[story].goes) await remove(story);
    positions.set('end', await head());
  });
  after(() => service.stop());

  const asOf = async ({ ask }: Who, path: string, moment: Moment): Promise<Answer> => {
    const separator = path.includes('?') ? '&' : '?';
    return again(() => ask('GET', `${path}${separator}asOf=${positions.get(moment)}`));
  };

  /** Fails if the text names a document that the caller may not read. */
  const leaks = (text: string, one: Who): readonly string[] =>
    told.flatMap((story) => (sees(story, one) ? [] : (text.match(new RegExp(`token-\\w+-${story}\\.`, 'g')) ?? [])));

  it('no list shows, counts or joins what may not be read now; all else is there', async () => {
    const lists = areas.flatMap((area) =>
      area.routes
        // The query must name a group, or the device of a copy.
        .filter(
          (route) =>
            takesAsOf(route) && route.method === 'get' && !/:|^\/(backups|name\/devicegroups)$/.test(route.path),
        )
        .map((route) => fullPathOf(area, route)),
    );
    assert.ok(lists.length > 20);
    for (const [name, one] of who)
      for (const moment of moments) {
        for (const path of sampled(lists, 4)) {
          const answer = await asOf(one, path, moment);
          const about = `${path} for ${name} as of ${moment}`;
          assert.ok([200, 403, 404].includes(answer.status), `${about}: ${answer.status} ${answer.text}`);
          assert.deepEqual(leaks(answer.text, one), [], about);
        }
        if (!one.hasRole) continue;
        const { body } = await asOf(one, `${om}/automations?limit=1000`, moment);
        const there = told.filter((story) => !(stories[story].goes && moment === 'end'));
        const seen = there.filter((story) => sees(story, one));
        const shown: readonly string[] = body.data.map((each: { readonly name: string }) => each.name);
        const own = shown.filter((each) => each.startsWith('token-automation'));
        assert.deepEqual(new Set(own), new Set(seen.map((story) => tokenOf('automation', story))), `${name} ${moment}`);
        assert.equal(body.metadata.total, shown.length);
        const jobs = await asOf(one, `${om}/jobs?limit=1000`, moment);
        assert.equal(jobs.body.metadata.total, told.filter((story) => sees(story, one)).length);
      }
  }).timeout(600_000);

  it('no document can be read, exported or found by name that may not be read now', async () => {
    for (const [name, one] of who)
      for (const moment of moments)
        for (const area of areas)
          for (const route of area.routes)
            for (const kind of rowsOfOne[route.name] ?? [])
              for (const story of sampled(told, 1)) {
                const path = fullPathOf(area, route);
                for (const called of [idOf(kind, story), tokenOf(kind, story)]) {
                  const answer = await asOf(one, path.replace(':id', encodeURIComponent(called)), moment);
                  const about = `${route.name} ${called} for ${name} as of ${moment}: ${answer.status}`;
                  if (answer.status === 200) assert.deepEqual(leaks(answer.text, one), [], about);
                  const isThere = lasting.includes(kind) || !(stories[story].goes && moment === 'end');
                  const byName = called === tokenOf(kind, story);
                  const found = isThere && sees(story, one) && !(byName && kind === 'job');
                  const expected = found ? 200 : 404;
                  assert.equal(answer.status, one.hasRole ? expected : 403, about);
                }
              }
  }).timeout(600_000);

  it('a package does not name an automation that may not be read now, and is not exported with it', async () => {
    for (const [name, one] of who) {
      const shown = await asOf(one, `/prebuilts/${pack}`, 'first');
      const exported = await asOf(one, `/prebuilts/${pack}/export`, 'first');
      const token = tokenOf('packaged', 'closing');
      const may = one.isRed;
      assert.equal(shown.text.includes(token), may && one.hasRole, name);
      assert.equal(exported.text.includes(token), may && one.hasRole, name);
    }
  });

  it('what is gone is found with the access lists of then, and a search counts no more', async () => {
    const search = async ({ ask }: Who, moment: Moment): Promise<number> => {
      const path = `${cm}/search/compliance_plans?asOf=${positions.get(moment)}`;
      return ok(await ask('POST', path, { name: 'token-plan' })).totalCount;
    };
    for (const [name, one] of who) {
      if (!one.hasRole) continue;
      for (const moment of moments) {
        const there = told.filter((story) => !(stories[story].goes && moment === 'end'));
        const expected = there.filter((story) => sees(story, one)).length;
        assert.equal(await search(one, moment), expected, `${name} ${moment}`);
      }
    }
  });

  /** All events that the caller finds. */
  const found = async ({ ask }: Who): Promise<readonly any[]> => {
    const events: any[] = []; // an event is whatever its topic says
    for (let cursor = ''; ; ) {
      const page = ok(await ask('GET', `/audit/events?limit=1000${cursor}`));
      events.push(...page.results);
      if (page.cursor === null) return events;
      cursor = `&cursor=${page.cursor}`;
    }
  };

  it('no audit shows or restores what may not be read now; all else is there', async () => {
    const kinds = ['automation', 'trigger', 'job', 'plan', 'scheduledJob'] as const;
    for (const [name, one] of who) {
      if (!one.hasRole) {
        for (const path of ['events', 'resources/automation/x', 'diff', 'trace/x', 'denied'])
          assert.equal((await one.ask('GET', `/audit/${path}`)).status, 403, path);
        assert.equal((await one.ask('POST', '/audit/restore', { kind: 'plan', id: 'x', position: 1 })).status, 403);
        continue;
      }
      const events = await found(one);
      for (const event of events) assert.deepEqual(leaks(JSON.stringify(event), one), [], `${event.topic} for ${name}`);
      for (const kind of kinds)
        for (const story of sampled(told, 2)) {
          const id = idOf(kind, story);
          const about = `${kind} ${story} for ${name}`;
          const may = sees(story, one);
          assert.equal(
            events.some(({ resource }) => resource?.kind === kind && resource.id === id),
            may,
            about,
          );
          const own = await one.ask('GET', `/audit/events?resource=${kind}/${id}`);
          assert.equal(ok(own).results.length > 0, may, about);
          const history = await one.ask('GET', `/audit/resources/${kind}/${id}`);
          const range = `from=0&to=${positions.get('first')}`;
          const difference = await one.ask('GET', `/audit/diff?resource=${kind}/${id}&${range}`);
          assert.deepEqual([history.status, difference.status], may ? [200, 200] : [404, 404], about);
          const correlation = correlations.get(tokenOf(kind, story)) ?? assert.fail(about);
          const trace = ok(await one.ask('GET', `/audit/trace/${correlation}`)).results;
          assert.equal(trace.length > 0, may, about);
          const answers = [own, history, difference].map(({ text }) => text).concat(JSON.stringify(trace));
          for (const text of answers) assert.deepEqual(leaks(text, one), [], about);
          const asked = { kind, id, position: positions.get('first'), dryRun: true };
          const restored = await one.ask('POST', '/audit/restore', asked);
          assert.equal(restored.status, statusOfRestoring(kind, story, one), `${about}: ${restored.text}`);
          assert.deepEqual(leaks(restored.text, one), [], about);
        }
    }
  }).timeout(600_000);
});

/** A trigger cannot be restored without its automation. Readers may restore nothing. */
const statusOfRestoring = (kind: Kind, story: Story, one: Who): number => {
  if (!one.mayRestore) return 403;
  if (kind === 'job') return 422;
  if (!sees(story, one)) return 404;
  return kind === 'trigger' && stories[story].goes ? 404 : 200;
};
