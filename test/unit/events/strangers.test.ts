import assert from 'node:assert/strict';
import { aggregates } from '../../../src/domain/all.ts';
import { isMisplaced, isOwnEvent, misplacedEvents } from '../../../src/events/ownStreams.ts';

const imported = '@platform/operations-manager:automationImported';

describe('events that strangers store under names of the platform', () => {
  it('are those outside the streams that the type belongs to', () => {
    const misplaced = (stream: string, type: string) => isMisplaced({ stream, type });
    for (const { area, category, evolve } of aggregates) {
      for (const topic of Object.keys(evolve)) {
        const type = `@platform/${area}:${topic}`;
        assert.equal(misplaced(`${category}-1`, type), false, `${type} in ${category}`);
        assert.equal(misplaced('evil-2', type), true);
        assert.equal(misplaced('serviceGroup-1', type), category !== 'serviceGroup', `${type} in serviceGroup`);
        assert.equal(misplaced('publishedEvent-1', type), true);
        assert.equal(isOwnEvent({ stream: `${category}-1`, type }), true);
        assert.equal(isOwnEvent({ stream: 'evil-2', type }), false);
      }
    }
    // Names are claimed for every area.
    assert.equal(misplaced('name-1', '@platform/mop:nameClaimed'), false);
    for (const [stream, type] of [
      ['log-identity', 'logIdentified'],
      ['checkpoint-reactions', 'checkpointSet'],
      ['secret-key', 'keyChecked'],
    ] as const)
      assert.equal(misplaced(stream, `@platform/log:${type}`), false);
    assert.equal(misplaced('payload-ab', '@platform/mop:payloadPart'), false);
    assert.equal(misplaced('evil-2', '@platform/mop:payloadPart'), true);
    assert.equal(misplaced('evil-2', '@platform/of another version:whatever'), true);
    assert.equal(misplaced('automation-1', '@platform/operations-manager:ofAnotherVersion'), false);
    assert.equal(misplaced('evil-2', 'tool:automationImported'), false);
  });

  it('are counted, and logged once for each stream, of which no more than 1000 are named', () => {
    const logged: string[] = [];
    const { met, count, streams } = misplacedEvents((message, { stream }) =>
      logged.push(`${String(stream)} ${message}`),
    );
    for (const stream of ['evil-1', 'evil-1', 'automation-1', 'evil-2']) met({ stream, type: imported });
    met({ stream: 'evil-3', type: 'tool:automationImported' });
    assert.deepEqual([count(), streams(), logged.length], [4, ['evil-1', 'automation-1', 'evil-2'], 3]);
    for (let n = 0; n < 3000; n++) met({ stream: `evil-${n}`, type: imported });
    assert.deepEqual([count(), streams().length, logged.length], [3004, 1000, 1001]);
    assert.match(logged.at(-1)!, /not named/);
  });
});
