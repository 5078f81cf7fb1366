import assert from 'node:assert/strict';
import { itInSoak } from '../../support/itInSoak.ts';
import { ok, refused } from '../../support/people.ts';
import { longestTurn } from '../../support/processorTime.ts';
import { startService } from '../../support/service.ts';

describe('a page of large documents', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const path = '/operations-manager/jobs';

  it('is refused rather than built beyond 32 MiB, and a smaller one is given', async () => {
    const start = JSON.stringify({ workflow: 'large', options: { variables: { text: 'x'.repeat(1_000_000) } } });
    for (let i = 0; i < 34; i++) ok(await service.ask('POST', `${path}/start`, start));
    refused(await service.ask('GET', `${path}?limit=34`), 400, /the first 33 documents .*"limit"/);
    assert.equal(ok(await service.ask('GET', `${path}?limit=33&skip=33`)).data.length, 1);
  });

  itInSoak('is made in turns with other requests: schedules with the largest trees', async () => {
    const om = '/operations-manager';
    const { _id: actionId } = ok(await service.ask('POST', `${om}/automations`, { name: 'a' })).data;
    const often = { action: 'execute', count: 5, duration: { unit: 'second', quantity: 1 } };
    const common = { type: 'schedule', enabled: true, actionType: 'automations', actionId, processMissedRuns: 'none' };
    const timing = {
      firstRunAt: Date.UTC(2100, 0, 1),
      repeat: { components: Array.from({ length: 999 }, () => often) },
    };
    const many = 80;
    for (let i = 0; i < many; i++) {
      const body = { ...common, ...timing, name: `Tree ${i}`, formId: null, formData: null };
      ok(await service.ask('POST', `${om}/triggers`, body));
    }
    const list = async (): Promise<void> => {
      const { text } = await service.ask('GET', `${om}/triggers?limit=${many}`);
      assert.equal(text.split('"nextRunAt":4102444800000').length, many + 1);
    };
    await list();
    const longest = longestTurn();
    await list();
    const turn = longest();
    assert.ok(turn < 250, `a turn took ${turn} ms`);
  });
});
