import assert from 'node:assert/strict';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

describe('an automation of three megabytes', () => {
  let service: TestService;
  afterEach(() => service.stop());

  it('is taken in, shown, exported and there after a restart', async () => {
    service = await startService();
    const _id = '0123456789abcdef01234567';
    const triggers = Array.from({ length: 30 }, (_, i) => ({
      name: `Large ${i}`,
      enabled: true,
      actionType: 'automations',
      type: 'manual',
      formId: null,
      formData: { text: 'x'.repeat(100_000) },
      actionId: _id,
      _id: `0123456789abcdef012345${10 + i}`,
    }));
    const automation = {
      _id,
      name: 'Large',
      description: '',
      componentType: null,
      componentName: null,
      gbac: { read: [], write: [] },
      triggers,
    };
    const taken = await service.ask('PUT', '/operations-manager/automations', { automations: [automation] });
    assert.equal(taken.status, 200, taken.text.slice(0, 500));
    const read = () => service.ask('GET', `/operations-manager/automations/${_id}/export`);
    // On a slow machine the answer does not wait for all that follows from an import.
    await until(async () => (await read()).body.data.triggers.length === 30, 'all triggers');
    const exported = await read();
    service = await service.restart();
    assert.equal((await service.ask('GET', `/operations-manager/automations/${_id}/export`)).text, exported.text);
  });
});
