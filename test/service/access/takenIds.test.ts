import assert from 'node:assert/strict';
import { automationDocument, manualTrigger, packed } from '../../support/documents.ts';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';

const om = '/operations-manager';
const lists = {
  own: {},
  hidden: { read: [], write: ['ops'] },
  readOnly: { read: ['operators'], write: ['ops'] },
} as const;
type Whose = keyof typeof lists;

type Doc = any; // documents are whatever their kind says
let made = 0;
const newId = (): string => (++made).toString(16).padStart(24, '0');
const triggerOf = (actionId: string, _id = newId()): Doc =>
  manualTrigger(_id, actionId, { formData: { site: 'a', password: `secret of ${_id}` } });
const automationOf = (whose: Whose, more: object = {}): Doc => {
  const _id = newId();
  return automationDocument(_id, { gbac: lists[whose], triggers: [triggerOf(_id)], ...more });
};
const packedAutomations = (name: string, ...automations: readonly Doc[]): Doc =>
  packed(
    name,
    automations.map((data) => ({ type: 'automation', data })),
    { readme: `The readme of ${name}` },
  );

const orders: readonly (readonly Whose[])[] = [
  ['own', 'hidden'],
  ['hidden', 'own'],
  ['own', 'readOnly'],
  ['readOnly', 'own'],
  ['own', 'hidden', 'readOnly'],
  ['hidden', 'readOnly', 'own'],
  ['readOnly', 'own', 'hidden'],
];

describe('ids that others have, or had', () => {
  const service = useService();
  const who = usePeople(service);
  type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

  const put = async (automation: Doc): Promise<Doc> => {
    ok(await service.ask('PUT', `${om}/automations`, { automations: [automation] }));
    return automation;
  };
  const remove = async ({ _id }: Doc): Promise<void> =>
    void ok(await service.ask('DELETE', `${om}/automations/${_id}`));
  const importing = (automation: Doc, overwrite = true) => ({ automations: [automation], overwrite });
  const install = (ask: Ask, name: string, ...automations: readonly Doc[]) =>
    ask('POST', '/prebuilts/import', {
      prebuilt: packedAutomations(name, ...automations),
      options: { overwrite: true, strict: true },
    });
  const statusFor = (...whose: readonly Whose[]): number => {
    if (whose.includes('hidden')) return 409;
    return whose.includes('readOnly') ? 403 : 200;
  };

  it('a trigger of another automation is taken only by who may change that one, whatever else is taken with it', async () => {
    for (const order of sampled(orders, 3))
      for (const door of ['import', 'package'] as const) {
        const others = [];
        for (const whose of order) others.push(await put(automationOf(whose)));
        const target = automationOf('own', { triggers: [] });
        const attempt = {
          ...target,
          triggers: others.map(({ triggers }) => ({ ...triggers[0], actionId: target._id })),
        };
        const before = await positionOf(service);
        const answer =
          door === 'import'
            ? await who.stranger('PUT', `${om}/automations`, importing(attempt))
            : await install(who.stranger, `pack ${target._id}`, attempt);
        refused(answer, statusFor(...order));
        assert.equal(await positionOf(service), before, 'nothing is stored');
        assert.doesNotMatch(answer.text, /secret of/);
        if (order.length > 2) ok(await who.member('PUT', `${om}/automations`, importing(attempt)));
      }
  });

  /** All ways to make an automation or its trigger under an id that was given before. */
  const doors: Readonly<Record<string, (ask: Ask, victim: Doc) => Promise<Answer>>> = {
    'its import': (ask, victim) => ask('PUT', `${om}/automations`, importing({ ...victim, name: newId(), gbac: {} })),
    'its import that overwrites nothing': (ask, victim) =>
      ask('PUT', `${om}/automations`, importing({ ...victim, name: newId(), gbac: {}, triggers: [] }, false)),
    'a package': (ask, victim) => install(ask, newId(), { ...victim, name: newId(), gbac: {} }),
    'the import of its trigger': async (ask, { triggers: [trigger] }) => {
      const { _id: actionId } = await put(automationOf('own'));
      return ask('PUT', `${om}/triggers`, { triggers: [{ ...trigger, actionId }], overwrite: true });
    },
    'an automation with its trigger': (ask, { triggers: [trigger] }) => {
      const own = automationOf('own', { triggers: [] });
      const triggers = [{ ...trigger, actionId: own._id }];
      return ask('PUT', `${om}/automations`, importing({ ...own, triggers }));
    },
    'a package with its trigger': (ask, { triggers: [trigger] }) => {
      const own = automationOf('own', { triggers: [] });
      return install(ask, newId(), { ...own, triggers: [{ ...trigger, actionId: own._id }] });
    },
  };
  const without = ({ text }: Answer, ...words: readonly string[]): string =>
    words.reduce((all, word) => all.replaceAll(word, 'id'), text);

  for (const [door, take] of Object.entries(doors))
    it(`${door} takes none that was deleted from who did not pass its last list, and answers as if it were there`, async () => {
      for (const whose of ['hidden', 'readOnly'] as const) {
        const [gone, there] = [await put(automationOf(whose)), await put(automationOf(whose))];
        await remove(gone);
        const before = await positionOf(service);
        const answer = await take(who.stranger, gone);
        refused(answer, statusFor(whose));
        const own = await take(who.stranger, there);
        if (whose === 'hidden') assert.equal(without(answer, gone._id), without(own, there._id));
        if (!door.includes('trigger')) assert.equal(await positionOf(service), before, 'nothing is stored');
        const { text } = await service.ask('GET', `${om}/automations/${gone._id}`);
        assert.match(text, /Nothing in automations/);
        ok(await take(who.member, gone));
      }
    });

  it('what was deleted shows nothing of its past to who did not pass its last list, nor do its jobs', async () => {
    const victim = await put(automationOf('own'));
    const [{ _id: trigger }] = victim.triggers;
    const { _id: job } = ok(await service.ask('POST', `${om}/triggers/manual/${trigger}/run`, {})).data;
    ok(await service.ask('POST', `${om}/jobs/${job}/error`, { error: 'x' }));
    const open = await positionOf(service);
    ok(await service.ask('PATCH', `${om}/automations/${victim._id}`, { gbac: lists.hidden }));
    const closed = await positionOf(service);
    await remove(victim);
    const ways = (position: number): readonly (readonly [string, string, object?])[] => [
      ['GET', `${om}/automations/${victim._id}?asOf=${position}`],
      ['GET', `${om}/automations/${encodeURIComponent(victim.name)}?asOf=${position}`],
      ['GET', `${om}/automations/${victim._id}/export?asOf=${position}`],
      ['GET', `${om}/triggers/${trigger}?asOf=${position}`],
      ['GET', `${om}/jobs/${job}?asOf=${position}`],
    ];
    const others: readonly (readonly [string, string, object?])[] = [
      ['GET', `/audit/resources/automation/${victim._id}`],
      ['GET', `/audit/resources/trigger/${trigger}`],
      ['GET', `/audit/resources/job/${job}`],
      ['POST', '/audit/restore', { kind: 'automation', id: victim._id, position: open }],
      ['POST', '/audit/restore', { kind: 'trigger', id: trigger, position: open }],
      ['POST', `${om}/triggers/manual/${trigger}/run`, {}],
      ['POST', `${om}/jobs/retry`, { jobIds: [job] }],
      ['GET', `${om}/jobs/${job}`],
    ];
    for (const [method, path, body] of [...ways(open), ...ways(closed), ...others])
      refused(await who.stranger(method, path, body), 404);
    for (const position of [open, closed]) {
      for (const [method, path] of ways(position)) ok(await who.member(method, path));
      const list = `${om}/automations?asOf=${position}&multiEquals[name]=${encodeURIComponent(victim.name)}`;
      assert.equal(ok(await who.stranger('GET', list)).metadata.total, 0);
      assert.equal(ok(await who.member('GET', list)).metadata.total, 1);
    }
    // Whoever makes it anew decides about its past, too.
    ok(await who.member('PUT', `${om}/automations`, importing({ ...victim, gbac: {} })));
    for (const [method, path] of ways(closed)) ok(await who.stranger(method, path));
  });

  it('of two at once, one gets the id: the other is told that it is taken, and nothing is overwritten', async () => {
    const ways = {
      automation: (ask: Ask, one: Doc) => ask('PUT', `${om}/automations`, { automations: [one] }),
      package: (ask: Ask, one: Doc) =>
        ask('POST', '/prebuilts/import', { prebuilt: packedAutomations(newId(), one), options: { strict: true } }),
      trigger: (ask: Ask, { triggers: [one] }: Doc) => ask('PUT', `${om}/triggers`, { triggers: [one] }),
    };
    const names = Object.keys(ways) as (keyof typeof ways)[];
    for (const theirs of names)
      for (const mine of names) {
        const victim = automationOf('hidden');
        const own = automationOf('own', { triggers: [] });
        const [trigger] = victim.triggers;
        // The trigger needs an automation that is there before.
        if (theirs === 'trigger') await put({ ...victim, triggers: [] });
        if (mine === 'trigger') await put(own);
        const isSame = theirs !== 'trigger' && mine !== 'trigger';
        const attempt = isSame
          ? { ...victim, name: newId(), gbac: {} }
          : { ...own, triggers: [{ ...trigger, actionId: own._id, formData: null }] };
        const answers = await Promise.all([ways[theirs](who.member, victim), ways[mine](who.stranger, attempt)]);
        assert.deepEqual(
          answers.map(({ status }) => status).sort(),
          [200, 409],
          `${theirs} ${mine}: ${answers[0].text}`,
        );
        const [{ status }] = answers;
        const kept = ok(await service.ask('GET', `${om}/triggers/${trigger._id}`)).data;
        if (!isSame) assert.equal(kept.formData === null, status === 409);
        const { results } = ok(await service.ask('GET', `/audit/resources/trigger/${trigger._id}`));
        assert.equal(results.length, 1);
      }
  });

  it('a list that is closed while an import is carried out stays closed', async () => {
    for (let round = 0; round < 5; round++) {
      const victim = await put(automationOf('own'));
      const { _id } = victim;
      const overwriting = importing({ ...victim, description: 'mine', gbac: {} });
      const [taken, closed] = await Promise.all([
        who.stranger('PUT', `${om}/automations`, overwriting),
        who.member('PATCH', `${om}/automations/${_id}`, { gbac: lists.hidden }),
      ]);
      ok(closed);
      assert.ok([200, 409].includes(taken.status), taken.text);
      refused(await who.stranger('GET', `${om}/automations/${_id}`), 404);
    }
  });

  it('a request that is repeated shows nothing that its caller may not read any more', async () => {
    const once = { 'Idempotency-Key': newId() };
    const victim = automationOf('own', { triggers: [] });
    const { _id: _, ...nameless } = automationOf('own', { triggers: [] });
    ok(await who.stranger('PUT', `${om}/automations`, importing(victim), once));
    const byName = { 'Idempotency-Key': newId() };
    ok(await who.stranger('PUT', `${om}/automations`, importing(nameless), byName));
    const start = { workflow: victim._id };
    const { _id: job } = ok(await who.stranger('POST', `${om}/jobs/start`, start, once)).data;
    ok(await who.stranger('POST', `${om}/jobs/pause`, { jobIds: [job] }, once));
    ok(await service.ask('POST', `${om}/jobs/resume`, { jobIds: [job] }));
    ok(await service.ask('PATCH', `${om}/automations/${victim._id}`, { gbac: lists.hidden, description: 'hush' }));
    ok(await service.ask('POST', `${om}/jobs/${job}/complete`, { variables: { word: 'hush' } }));
    await remove({ _id: encodeURIComponent(nameless.name) });
    ok(await service.ask('POST', `${om}/automations`, { name: nameless.name, gbac: lists.hidden }));
    for (const [document, key] of [
      [victim, once],
      [nameless, byName],
    ]) {
      const again = ok(await who.stranger('PUT', `${om}/automations`, importing(document), key));
      assert.deepEqual(again.data, [{ success: true, data: null }]);
    }
    assert.deepEqual(ok(await who.stranger('POST', `${om}/jobs/pause`, { jobIds: [job] }, once)).data, []);
    refused(await who.stranger('POST', `${om}/jobs/start`, start, once), 409);
  });

  it('an earlier version of a package is judged by the automations that it brought, too', async () => {
    const [name, victim] = [newId(), automationOf('own')];
    ok(await install(service.ask, name, victim));
    ok(await service.ask('PATCH', `${om}/automations/${victim._id}`, { gbac: lists.hidden }));
    const first = await positionOf(service);
    const { _id } = ok(await install(service.ask, name, automationOf('own'))).data;
    ok(await who.stranger('GET', `/prebuilts/${_id}`));
    for (const path of [`/prebuilts/${_id}`, `/prebuilts/${name}`, `/prebuilts/${_id}/export`]) {
      refused(await who.stranger('GET', `${path}?asOf=${first}`), 404);
      ok(await who.member('GET', `${path}?asOf=${first}`));
    }
    const list = `/prebuilts?limit=1000&asOf=${first}`;
    assert.doesNotMatch((await who.stranger('GET', list)).text, new RegExp(_id));
    assert.match((await who.member('GET', list)).text, new RegExp(_id));
  });

  it('the session of a job, and an execution, follow the automation', async () => {
    const [agents, resources] = ['/agent-session-manager', '/lifecycle-manager'];
    const agent = { name: `Agent ${newId()}`, inputSchema: {}, runner: 'template', template: 'hush' };
    ok(await service.ask('POST', `${agents}/agents`, agent));
    const automation = automationOf('hidden', { componentType: 'agent', componentName: agent.name, triggers: [] });
    await put(automation);
    const started = ok(
      await who.member('POST', `${om}/jobs/start`, {
        workflow: automation._id,
        options: { variables: { site: 'hush' } },
      }),
    );
    const job = `${om}/jobs/${started.data._id}`;
    const state = async () => ok(await who.member('GET', job)).data;
    await until(async () => (await state()).status === 'complete');
    const session = `${agents}/sessions/${(await state()).variables.sessionId}`;
    const actions = [{ name: 'Turn up', type: 'create', workflow: automation.name }];
    const model = ok(
      await service.ask('POST', `${resources}/resources`, { name: `Model ${newId()}`, schema: {}, actions }),
    ).data;
    const run = { actionId: model.actions[0]._id, instanceName: 'one', inputs: { site: 'hush' } };
    const ran = ok(await who.member('POST', `${resources}/resources/${model._id}/run-action`, run));
    const execution = `${resources}/action-executions/${ran.data._id}`;
    const now = `?asOf=${await positionOf(service)}`;
    const [sessionId, executionId] = [session, execution].map((path) => path.slice(path.lastIndexOf('/') + 1));
    for (const path of [session, `${session}/messages`, execution])
      for (const moment of ['', now]) {
        ok(await who.member('GET', path + moment));
        for (const asking of [who.stranger, who.reader]) refused(await asking('GET', path + moment), 404);
      }
    for (const path of [
      `/audit/resources/agentSession/${sessionId}`,
      `/audit/resources/actionExecution/${executionId}`,
    ]) {
      ok(await who.member('GET', path));
      refused(await who.stranger('GET', path), 404);
    }
    for (const list of [`${agents}/sessions`, `${resources}/action-executions`]) {
      assert.doesNotMatch((await who.stranger('GET', list)).text, /hush/);
      assert.match((await who.member('GET', list)).text, /hush/);
    }
    for (const way of ['cancel', 'complete', 'fail']) refused(await who.stranger('POST', `${session}/${way}`, {}), 404);
    refused(await who.stranger('POST', `${execution}/cancel`), 404);
    refused(await who.member('POST', `${execution}/cancel`), 409, /has ended/);
  });

  it('a compliance plan, a scheduled job and a package keep their last lists', async () => {
    const plans = '/configuration_manager/compliance_plans';
    for (const whose of ['hidden', 'readOnly'] as const) {
      const { _id } = ok(await service.ask('POST', plans, { name: newId(), gbac: lists[whose] }));
      const asked = { kind: 'plan', id: _id, position: await positionOf(service) };
      const importing = { plans: [{ _id, name: newId() }], overwrite: true };
      const take = () => who.stranger('POST', '/configuration_manager/import/plans', importing);
      refused(await take(), whose === 'hidden' ? 409 : 403);
      ok(await service.ask('DELETE', plans, { planIds: [_id] }));
      refused(await take(), whose === 'hidden' ? 409 : 403);
      refused(await who.stranger('POST', '/audit/restore', asked), whose === 'hidden' ? 404 : 403);
      ok(await who.member('POST', '/audit/restore', asked));
    }
    const catalog = '/automation_catalog';
    const [scheduled, hidden] = ['own', 'hidden'].map((whose) => ({
      _id: newId(),
      name: 'Nightly',
      data: { workflowId: 'x', gbac: lists[whose as Whose] },
    }));
    const twice = [];
    for (const one of [scheduled, hidden]) {
      ok(await service.ask('POST', `${catalog}/scheduled-jobs`, one));
      twice.push(await who.stranger('POST', `${catalog}/scheduled-jobs`, { ...one, data: { workflowId: 'y' } }));
    }
    for (const answer of twice) refused(answer, 409);
    assert.equal(twice[0]?.text, twice[1]?.text);
    refused(await who.stranger('POST', `${catalog}/automations/migration`, { agendaJobs: [hidden?._id] }), 404);
    const [gone, there] = [newId(), newId()];
    for (const name of [gone, there]) ok(await install(service.ask, name, automationOf('hidden')));
    ok(await service.ask('DELETE', `/prebuilts/${gone}`));
    const [mine, same] = [await install(who.stranger, gone), await install(who.stranger, there)];
    refused(mine, 409, /metadata\/name/);
    assert.equal(mine.text, same.text);
    ok(await install(who.member, gone, automationOf('own')));
  });
});
