import assert from 'node:assert/strict';
import { createAutomation, deleteAutomation } from '../../../src/commands/operations-manager/automations.ts';
import { createTrigger } from '../../../src/commands/operations-manager/triggers.ts';
import { mayHaveParts } from '../../../src/events/ownStreams.ts';
import type { EventNotice } from '../../../src/store/event.ts';
import { withPayloads } from '../../../src/store/payloads.ts';
import { badEvent, faults, spoil } from '../../support/badEvents.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { basic } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const at = '@platform/';
/** Faults that no topic allows. */
const unreadable = Object.entries(faults).filter(([fault]) => /JSON|nothing|missing|metadata/.test(fault));

describe('an event that cannot be read, while nodes run', () => {
  const told: EventNotice[] = [];
  const { node, log } = nodesOnLog({ reacting: true, onEvent: (event) => told.push(event) });
  beforeEach(() => {
    told.length = 0;
  });

  const automation = (on: TestNode, id: string) => on.command(createAutomation, id, { name: id });
  const trigger = (on: TestNode, id: string, actionId: string) =>
    on.command(createTrigger, id, {
      type: 'manual',
      name: id,
      enabled: true,
      actionType: 'automations',
      actionId,
      formData: null,
      formId: null,
    });

  for (const [fault, content] of unreadable) {
    it(`keeps no node from projecting, telling and reacting: ${fault}`, async () => {
      const one = await node(withPayloads(log.store, mayHaveParts));
      await one.bootstrap();
      await automation(one, 'good');
      await automation(one, 'bad');
      await trigger(one, 'of-good', 'good');
      // Something follows from each: the first is parked, the second carried out.
      await spoil(log.store, 'automation-bad', badEvent(`${at}operations-manager:automationDeleted`, content));
      await one.command(deleteAutomation, 'good');
      await one.catchUp();
      await until(async () => (await one.model.get('triggers', 'of-good')) === undefined);
      assert.deepEqual(
        [await one.model.get('automations', 'bad'), (await one.model.get('parked', 'automations/bad'))?.id],
        [undefined, 'automations/bad'],
      );
      await until(async () => {
        await one.catchUp();
        return (await one.model.list('parkedReactions', { sort: 'at', order: 1, skip: 0, limit: 10 })).total === 1;
      });
      await automation(one, 'later');
      await one.catchUp();
      await until(() => told.some(({ stream }) => stream === 'automation-later'));
      assert.equal(told.filter(({ stream }) => stream === 'automation-bad').length, 2);
    });

    it(`ends the rights of an account whose event it is, and leaves others theirs: ${fault}`, async () => {
      const one = await node(withPayloads(log.store, mayHaveParts));
      await one.bootstrap();
      await one.account('ann');
      await one.account('ben');
      const authenticate = (user: string) =>
        one.auth.authenticate({
          authorization: basic({ user, password: `password of ${user}` }),
          cookie: undefined,
          address: '127.0.0.1',
        });
      for (const user of ['ann', 'ben']) await authenticate(user);
      await spoil(log.store, 'account-ann', badEvent(`${at}authorization:accountUpdated`, content));
      await until(() => told.some(({ stream, revision }) => stream === 'account-ann' && revision === 1));
      await assert.rejects(async () => authenticate('ann'), { code: 'internal' });
      assert.equal((await authenticate('ben')).actor.username, 'ben');
    });
  }
});
