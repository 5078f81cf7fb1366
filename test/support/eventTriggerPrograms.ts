import assert from 'node:assert/strict';
import { ok } from './people.ts';
import type { Server } from './process.ts';
import { basic } from './service.ts';
import { twentyTriggers } from './triggering.ts';

const password = 'a long enough password';

type Asks = Pick<Server, 'ask'>;

/** Makes the twenty triggers. Returns the ids of the accounts that may run them. */
export const makeTriggers = async ({ ask }: Asks): Promise<readonly string[]> => {
  const om = '/operations-manager';
  const gone = ok(
    await ask('POST', '/authorization/accounts', { username: 'nobody', password, memberOf: ['operators', 'readers'] }),
  ).data;
  const { _id: actionId } = ok(await ask('POST', `${om}/automations`, { name: 'a' })).data;
  const ids = new Map<string, string>();
  for (const { id, more, account } of twentyTriggers) {
    const named = JSON.parse(JSON.stringify(more), (_, value) => ids.get(value) ?? value);
    const headers = account === undefined ? {} : { Authorization: basic({ user: 'nobody', password }) };
    const made = ok(
      await ask(
        'POST',
        `${om}/triggers`,
        {
          name: id,
          type: 'eventSystem',
          enabled: true,
          actionType: 'automations',
          actionId,
          source: 's',
          topic: 't',
          schema: null,
          jst: null,
          ...named,
        },
        headers,
      ),
    ).data;
    ids.set(id, made._id);
  }
  ok(await ask('PATCH', `/authorization/accounts/nobody`, { inactive: true }));
  const { results } = ok(await ask('GET', '/authorization/accounts'));
  return (results as { _id: string }[]).map(({ _id }) => _id).filter((id) => id !== gone._id);
};

/** Publishes some events, each once, however often the service dies meanwhile. */
export const publishing = async (ask: Server['ask'], count: number, word = 'event'): Promise<boolean> => {
  for (let n = 0; n < count; n++) {
    const { status, text } = await ask(
      'POST',
      '/operations-manager/events/s/t',
      { n },
      { 'Idempotency-Key': `${word}-${n}` },
    );
    if (status === 0 || status === 503) return false;
    assert.equal(status, 200, text);
  }
  return true;
};
