import assert from 'node:assert/strict';
import { countedEvents } from '../../../src/projections/countedEvents.ts';
import { eventTypes } from '../../../src/projections/engine/eventTypes.ts';
import { collectionsOf, projector } from '../../../src/projections/engine/projector.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import type { StoredEvent } from '../../../src/store/port.ts';

describe('counted events', () => {
  const started = '@platform/operations-manager:jobStarted';
  const all = countedEvents();
  const counted: readonly (readonly [stream: string, type: string])[] = [
    ['job-1', started],
    ['job-1', '@platform/operations-manager:claimLapsed'],
    ['job-1', '@platform/operations-manager:ofALaterVersion'],
    ['watching-1', '@platform/operations-manager:jobsWatched'],
    ['publishedEvent-1', 'itsm:eu:ticketOpened'],
    ['publishedEvent-1', 'toString:__proto__'],
    ['tool-1', 'itsm:ticketOpened'],
    ['of-no-category', 'itsm:eu:ticketOpened'],
    ['plain', 'Platform:ticketOpened'],
  ];
  for (const [stream, type] of counted)
    it(`are those of ${stream}: ${type}`, () => assert.equal(all.counts({ stream, type }), true));

  const others: typeof counted = [
    ['name-1', '@platform/operations-manager:nameClaimed'],
    ['series-1', '@platform/authorization:turnTaken'],
    ['login-1', '@platform/authorization:loggedIn'],
    ['parkedReaction-1', '@platform/operations-manager:reactionParked'],
    ['payload-1', '@platform/operations-manager:payloadPart'],
    ['checkpoint-reactions', '@platform/log:checkpointSet'],
    ['tool-1', 'ticketOpened'],
    ['tool-1', ':ticketOpened'],
    ['tool-1', 'itsm:'],
    ['tool-1', started],
    ['tool-1', '$metadata:x'],
    ['$tool-1', 'itsm:ticketOpened'],
    ['$$tool-1', 'itsm:ticketOpened'],
    ['tool-1', `${'s'.repeat(257)}:ticketOpened`],
    ['tool-1', `itsm:${'t'.repeat(257)}`],
    ['secret-key', 'itsm:ticketOpened'],
    ['job-1', 'itsm:ticketOpened'],
    ['job-1', '@platform/mop:commandTemplateCreated'],
    ['publishedEvent-1', started],
    ['publishedEvent-1', '$metadata'],
  ];
  for (const [stream, type] of others)
    it(`are not those of ${stream}: ${type}`, () => assert.equal(all.counts({ stream, type }), false));

  it('are those of the sources that FOREIGN_EVENTS names, and of no others', () => {
    const { counts } = countedEvents(['shop', 'itsm:']);
    const isCounted = (type: string): boolean => counts({ stream: 'tool-1', type });
    assert.deepEqual(['shop:a', 'shopping:a', 'itsm:eu:a', 'itsm:a', 'crm:shop'].map(isCounted), [
      true,
      true,
      true,
      false,
      false,
    ]);
    assert.equal(countedEvents([]).counts({ stream: 'tool-1', type: 'shop:a' }), false);
    assert.equal(countedEvents([]).counts({ stream: 'publishedEvent-1', type: 'shop:a' }), true);
  });

  it('are not all known: no internal topic is', () => {
    const { known } = all;
    assert.ok(known.includes(started));
    assert.equal(new Set(known).size, known.length);
    for (const topic of ['nameClaimed', 'turnTaken', 'loggedIn', 'reactionParked'])
      assert.ok(!known.some((type) => type.endsWith(`:${topic}`)), topic);
  });

  it('go on from what the read store holds, and begin anew with an empty one', async () => {
    const model = memoryReadStore({ collections: collectionsOf([]) });
    const documents = projector([], {
      read: model.forRunner.get,
      log: () => undefined,
      counted: { known: ['s:known'], counts: ({ stream }) => stream !== 'other' },
    });
    let position = 0;
    const happened = (type: string, metadata: string, stream = 'one'): StoredEvent => ({
      id: `e${++position}`,
      stream,
      revision: position,
      position,
      type,
      data: 'no JSON: data are not read',
      metadata,
    });
    const write = async () => {
      const { position: from } = await model.resume();
      assert.equal(await model.apply(documents.drain(), from, { position, event: '' }), true);
    };
    const shown = async (type: string) => {
      const entry = await model.get(eventTypes.collection, type);
      return entry && JSON.parse(entry.text);
    };
    documents.reset(true);
    await documents.take([happened('s:a:b', '{"at":"2026-01-01T00:00:00.000Z"}')]);
    await documents.take([happened('s:a:b', '{"at":"2026-01-02T00:00:00.000Z"}'), happened('x:y', '{}', 'other')]);
    await write();
    const twice = { source: 's:a', topic: 'b', count: 2, last: '2026-01-02T00:00:00.000Z' };
    assert.deepEqual(await shown('s:a:b'), twice);
    assert.deepEqual(await shown('s:known'), { source: 's', topic: 'known', count: 0, last: null });
    assert.equal(await shown('x:y'), undefined);

    documents.reset(false);
    await documents.take([happened('s:a:b', 'no JSON'), happened('s:known', '{"at":7}')]);
    await write();
    assert.deepEqual(await shown('s:a:b'), { ...twice, count: 3 });
    assert.deepEqual(await shown('s:known'), { source: 's', topic: 'known', count: 1, last: null });

    await model.clear();
    documents.reset(true);
    position = 0;
    await documents.take([happened('s:a:b', '{}')]);
    await write();
    assert.deepEqual(await shown('s:a:b'), { ...twice, count: 1, last: null });
  });
});
