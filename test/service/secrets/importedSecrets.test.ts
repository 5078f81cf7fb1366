import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { ok, type People, refused } from '../../support/people.ts';
import type { Answer, TestService } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

const mask = '********';
const automations = '/operations-manager/automations';
const triggers = '/operations-manager/triggers';

describe('An import over a document with a secret', () => {
  const service = useService();
  const who = usePeople(service);
  let exported: any; // as the export gives it
  const right = 'right-secret';
  const withSecret = (password: unknown) => ({
    ...exported,
    triggers: [{ ...exported.triggers[0], formData: { site: 'a', password } }],
  });
  before(async () => {
    const {
      data: { _id: actionId },
    } = ok(await service.ask('POST', automations, { name: 'A', gbac: { write: ['ops'] } }));
    const trigger = {
      type: 'manual',
      name: 'By hand',
      enabled: true,
      actionType: 'automations',
      actionId,
      formId: null,
      formData: { site: 'a', password: right },
    };
    ok(await service.ask('POST', triggers, trigger));
    exported = ok(await service.ask('GET', `${automations}/${actionId}/export`)).data;
  });

  /** The ways in; packages are in sealedPackages.test.ts. Nothing else that is imported holds secrets. */
  const ways: Readonly<
    Record<
      string,
      (password: unknown, overwrite: boolean, ask?: TestService['ask'] | People['stranger']) => Promise<Answer>
    >
  > = {
    automations: (password, overwrite, ask = service.ask) =>
      ask('PUT', automations, { automations: [withSecret(password)], overwrite }),
    triggers: (password, overwrite, ask = service.ask) =>
      ask('PUT', triggers, { triggers: withSecret(password).triggers, overwrite }),
  };

  for (const [name, way] of Object.entries(ways)) {
    it(`of ${name} does not tell whether a guess is right: both are other content`, async () => {
      const before = await positionOf(service);
      const answers = [await way(right, false), await way('wrong', false)];
      for (const answer of answers) refused(answer, 409, /_id/);
      assert.deepEqual(answers[0]!.body, answers[1]!.body);
      assert.equal(await positionOf(service), before);
    });

    it(`of ${name} keeps the secret by the mask: no change`, async () => {
      const before = await positionOf(service);
      for (const overwrite of [false, true]) ok(await way(mask, overwrite));
      assert.equal(await positionOf(service), before);
    });

    it(`of ${name} that overwrites stores an event, be the secret the same or another one`, async () => {
      for (const password of [right, right, 'other', right]) {
        const before = await positionOf(service);
        assert.doesNotMatch(JSON.stringify(ok(await way(password, true))), /right-secret/);
        assert.ok((await positionOf(service)) > before, String(password));
      }
    });

    it(`of ${name} tells nothing to who may not read it, not even whether there is a secret`, async () => {
      const { formData } = withSecret(mask).triggers[0];
      const others = [formData, { site: mask, token: mask }];
      const answers = [];
      for (const data of others) {
        const document = { ...exported, triggers: [{ ...exported.triggers[0], formData: data }] };
        const [path, body] =
          name === 'automations'
            ? [automations, { automations: [document] }]
            : [triggers, { triggers: document.triggers }];
        answers.push(await who.stranger('PUT', path, body));
      }
      assert.deepEqual([answers[0]!.status, answers[0]!.body.message], [answers[1]!.status, answers[1]!.body.message]);
      assert.ok([400, 409].includes(answers[0]!.status), answers[0]!.text);
    });
  }

  it('no more does a change tell that to who may not read it', async () => {
    const { _id } = exported.triggers[0];
    for (const formData of [{ password: mask }, { token: mask }])
      refused(await who.stranger('PATCH', `${triggers}/${_id}`, { formData }), 404);
    const {
      _id: treeId,
      versions: [
        {
          root: { configId: nodeId },
        },
      ],
    } = ok(await service.ask('POST', '/configuration_manager/configs', { name: 'T' }));
    const node = { treeId, version: 'initial', nodeId };
    const plan = ok(
      await service.ask('POST', '/configuration_manager/compliance_plans', {
        name: 'P',
        gbac: { write: ['ops'] },
        nodes: [{ ...node, variables: { token: right } }],
      }),
    );
    for (const variables of [{ token: mask }, { password: mask }])
      refused(
        await who.stranger('PUT', '/configuration_manager/compliance_plans', {
          planId: plan._id,
          options: { nodes: [{ ...node, variables }] },
        }),
        404,
      );
  });
});
