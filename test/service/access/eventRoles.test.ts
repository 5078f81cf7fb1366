import assert from 'node:assert/strict';
import { areas } from '../../../src/http/areas.ts';
import { ok, refused } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const password = 'a long enough password';

const om = '/operations-manager';

/** Who has each operation from the start, beside admins. */
const access: Readonly<Record<string, readonly string[]>> = {
  publishEvent: ['operators'],
  runEndpointTrigger: ['operators'],
  runManualTrigger: ['operators'],
  retryParked: ['operators'],
  discardParked: ['operators'],
  getEvents: ['operators', 'readers'],
  streamEvents: ['operators', 'readers'],
  testTrigger: ['operators', 'readers'],
  testEvents: ['operators', 'readers'],
  previewTrigger: ['operators', 'readers'],
  getParked: ['operators', 'readers'],
};

describe('rights on events and runs of triggers', () => {
  it('are those of operators and readers', () => {
    const rows = areas.flatMap(({ area, routes }) => (area === 'operations-manager' ? routes : []));
    for (const [name, groups] of Object.entries(access)) {
      const row = rows.find((each) => each.name === name);
      assert.deepEqual([name, row?.access], [name, groups]);
    }
  });

  describe('of a role with one method', () => {
    const service = useService();
    let count = 0;
    const post = async (path: string, body: unknown) => ok(await service.ask('POST', path, body)).data;

    /** An account that may call this alone. */
    const who = async (name: string) => {
      const username = `who${++count}`;
      await post('/authorization/roles', {
        name: username,
        allowedMethods: [{ provenance: 'operations-manager', name }],
      });
      await post('/authorization/accounts', { username, password, assignedRoles: [username] });
      return service.as({ user: username, password });
    };

    it('are enough to run a trigger whose automation everybody may read, and no other', async () => {
      const open = (await post(`${om}/automations`, { name: 'open' }))._id;
      const listed = (await post(`${om}/automations`, { name: 'listed', gbac: { read: [], write: ['admins'] } }))._id;
      const [calls, runs] = [await who('runEndpointTrigger'), await who('runManualTrigger')];
      const common = { enabled: true, actionType: 'automations' };
      for (const [actionId, may] of [
        [open, true],
        [listed, false],
      ] as const) {
        const endpoint = { type: 'endpoint', verb: 'POST', routeName: actionId, schema: null, jst: null };
        await post(`${om}/triggers`, { ...common, actionId, name: 'endpoint', ...endpoint });
        const manual = { type: 'manual', formData: null, formId: null };
        const { _id } = await post(`${om}/triggers`, { ...common, actionId, name: 'manual', ...manual });
        const answers = [
          await calls('POST', `${om}/triggers/endpoint/${actionId}`, {}),
          await runs('POST', `${om}/triggers/manual/${_id}/run`, {}),
        ];
        for (const answer of answers)
          if (may) ok(answer);
          else refused(answer, 404);
        refused(await runs('POST', `${om}/triggers/endpoint/${actionId}`, {}), 403);
        refused(await calls('POST', `${om}/triggers/manual/${_id}/run`, {}), 403);
      }
    });

    it('are enough to publish', async () => {
      const publishes = await who('publishEvent');
      ok(await publishes('POST', `${om}/events/shop/orderPlaced`, 1));
      refused(await publishes('GET', `${om}/events`), 403);
    });
  });
});
