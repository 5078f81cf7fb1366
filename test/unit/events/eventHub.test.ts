import assert from 'node:assert/strict';
import { eventHub } from '../../../src/events/eventHub.ts';
import type { Recorded } from '../../../src/store/event.ts';

const event = { stream: 's-1', position: 7 } as Recorded;

describe('the event hub', () => {
  it('tells subscribers in their order, waits for them, and then has done what follows', async () => {
    const heard: string[] = [];
    const hub = eventHub();
    hub.followWith(async ([first], wholly) => {
      heard.push(`follows, wholly: ${wholly}`);
      return first!.position;
    });
    hub.subscribe({
      categories: new Set(['s']),
      onStored: async () => {
        await new Promise(setImmediate);
        heard.push('one');
      },
    });
    hub.subscribe({ categories: new Set(['s', 't']), onStored: () => void heard.push('two') });
    assert.equal(await hub.stored([event], true), 7);
    assert.deepEqual(heard, ['one', 'two', 'follows, wholly: true']);
    assert.deepEqual(
      ['s', 't', 'u'].map((category) => hub.fromLog.categories.has(category)),
      [true, true, false],
    );
  });

  it('tells a subscriber of the events of its categories alone', async () => {
    const heard: string[] = [];
    const hub = eventHub();
    for (const [name, ...categories] of [
      ['s', 's'],
      ['t', 't'],
      ['both', 's', 't'],
      ['none', 'u'],
    ] as const)
      hub.subscribe({
        categories: new Set<string>(categories),
        onOwn: ({ stream }) => void heard.push(`${name} own: ${stream}`),
        onStored: (events) => void heard.push(`${name}: ${events.map(({ stream }) => stream)}`),
        onShown: ({ stream }) => void heard.push(`${name} shown: ${stream}`),
      });
    const other = { stream: 't-1', position: 8 } as Recorded;
    await hub.stored([event, other], false);
    const own = ['s own: s-1', 'both own: s-1', 't own: t-1', 'both own: t-1'];
    assert.deepEqual(heard.splice(0), [...own, 's: s-1', 't: t-1', 'both: s-1,t-1']);
    hub.fromLog.onStored([other]);
    hub.fromLog.onShown(other);
    assert.deepEqual(heard, ['t: t-1', 'both: t-1', 't shown: t-1', 'both shown: t-1']);
  });

  it('has nothing follow before somebody carries it out', async () => {
    assert.equal(await eventHub().stored([event], false), 0);
  });

  it('passes on what the log tells', () => {
    const heard: unknown[] = [];
    const hub = eventHub();
    hub.subscribe({
      categories: new Set(['s']),
      onStored: (events) => void heard.push(events),
      onShown: (shown) => void heard.push(shown),
    });
    hub.subscribeToAll((any) => void heard.push(any.position));
    hub.fromLog.onStored([event]);
    hub.fromLog.onShown(event);
    hub.fromLog.onAny({ id: '', type: '', data: '', metadata: '', stream: 'x-1', revision: 0, position: 9 });
    assert.deepEqual(heard, [[event], event, 9]);
  });
});
