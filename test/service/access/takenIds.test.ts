import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';

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
const triggerOf = (actionId: string, _id = newId()): Doc => ({
  _id,
  name: `By hand ${_id}`,
  type: 'manual',
  enabled: true,
  actionType: 'automations',
  actionId,
  formId: null,
  formData: { site: 'a', password: `secret of ${_id}` },
});
const automationOf = (whose: Whose, more: object = {}): Doc => {
  const _id = newId();
  const content = { description: '', componentType: null, componentName: null, gbac: lists[whose] };
  return { _id, name: `Automation ${_id}`, ...content, triggers: [triggerOf(_id)], ...more };
};
const packed = (name: string, ...automations: readonly Doc[]): Doc => ({
  metadata: {
    name,
    version: '1.0.0',
    description: '',
    author: 'a',
    license: 'MIT',
    repository: { type: 'local' },
    PlatformDependencies: {},
  },
  manifest: { bundleName: name },
  bundles: automations.map((data) => ({ type: 'automation', data })),
  readme: `The readme of ${name}`,
});

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
  let service: TestService;
  let who: People;
  type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

  const put = async (automation: Doc): Promise<Doc> => {
    ok(await service.ask('PUT', `${om}/automations`, { automations: [automation] }));
    return automation;
  };
  const remove = async ({ _id }: Doc): Promise<void> =>
    void ok(await service.ask('DELETE', `${om}/automations/${_id}`));
  const importing = (automation: Doc, overwrite = true) => ({ automations: [automation], overwrite });
  const install = (ask: Ask, name: string, ...automations: readonly Doc[]) =>
    ask('POST', '/prebuilts/import', {
      prebuilt: packed(name, ...automations),
      options: { overwrite: true, strict: true },
    });
  const statusFor = (...whose: readonly Whose[]): number => {
    if (whose.includes('hidden')) return 409;
    return whose.includes('readOnly') ? 403 : 200;
  };

  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  it('a trigger of another automation is taken only by who may change that one, whatever else is taken with it', async () => {
    for (const order of orders)
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

  it('a compliance plan and a package keep their last lists', async () => {
    const plans = '/configuration_manager/compliance_plans';
    for (const whose of ['hidden', 'readOnly'] as const) {
      const { _id } = ok(await service.ask('POST', plans, { name: newId(), gbac: lists[whose] }));
      const asked = { kind: 'plan', id: _id, position: await positionOf(service) };
      ok(await service.ask('DELETE', plans, { planIds: [_id] }));
      refused(await who.stranger('POST', '/audit/restore', asked), whose === 'hidden' ? 404 : 403);
      ok(await who.member('POST', '/audit/restore', asked));
    }
    const [gone, there] = [newId(), newId()];
    for (const name of [gone, there]) ok(await install(service.ask, name, automationOf('hidden')));
    ok(await service.ask('DELETE', `/prebuilts/${gone}`));
    const [mine, same] = [await install(who.stranger, gone), await install(who.stranger, there)];
    refused(mine, 409, /metadata\/name/);
    assert.equal(mine.text, same.text);
    ok(await install(who.member, gone, automationOf('own')));
  });
});
