import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('what refers to a group', () => {
  const service = useService();
  const some = usePeople(service);

  before(async () => {
    ok(await service.ask('POST', '/authorization/groups', { name: 'night' }));
  });

  const kinds = [
    ['automation', '/operations-manager/automations', { name: 'Secret cutover', gbac: { read: [], write: ['ops'] } }],
    [
      'compliance plan',
      '/configuration_manager/compliance_plans',
      { name: 'Secret audit', gbac: { read: [], write: ['ops'] } },
    ],
    ['job', '/operations-manager/jobs/start', { workflow: 'Secret upgrade', options: { groups: ['ops'] } }],
  ] as const;
  for (const [kind, path, body] of kinds) {
    it(`is named, but for a ${kind} that the caller may not read`, async () => {
      ok(await service.ask('POST', path, body));
      refused(
        await some.stranger('DELETE', '/authorization/groups/ops'),
        409,
        new RegExp(`^(?!.*${Object.values(body)[0]}).*${kind} .*\\(hidden\\)`),
      );
      refused(
        await some.stranger('PATCH', '/authorization/groups/ops', { name: 'other' }),
        409,
        new RegExp(`^(?!.*${Object.values(body)[0]}).*${kind} .*\\(hidden\\)`),
      );
      refused(
        await some.member('DELETE', '/authorization/groups/ops'),
        409,
        new RegExp(`${kind} .*${Object.values(body)[0]}`),
      );
    });
  }

  it('is named, but for a job of an automation that the caller may not read', async () => {
    ok(
      await service.ask('POST', '/operations-manager/automations', {
        name: 'Hidden change',
        gbac: { read: [], write: ['night'] },
      }),
    );
    ok(
      await service.ask('POST', '/operations-manager/jobs/start', {
        workflow: 'Hidden change',
        options: { groups: ['ops'] },
      }),
    );
    refused(await some.member('DELETE', '/authorization/groups/ops'), 409, /^(?!.*Hidden change).*job .*\(hidden\)/);
    refused(await service.ask('DELETE', '/authorization/groups/ops'), 409, /job .*Hidden change/);
  });

  it('is not counted where the caller may not see it', async () => {
    const refusal = async () => {
      const answer = await some.stranger('DELETE', '/authorization/groups/ops');
      refused(answer, 409, /automation .*\(hidden\)/);
      return answer.text;
    };
    const before = await refusal();
    for (const [, path, body] of kinds) {
      const more = 'name' in body ? { ...body, name: `More ${body.name}` } : body;
      ok(await service.ask('POST', path, more));
    }
    assert.equal(await refusal(), before);
  });
});
