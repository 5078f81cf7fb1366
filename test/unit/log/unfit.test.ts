import assert from 'node:assert/strict';
import { unfitEvents } from '../../../src/store/moving/content.ts';
import type { StoredEvent } from '../../../src/store/port.ts';

const eventOf = (stream: string, type: string, data: string): StoredEvent => ({
  position: 7,
  stream,
  revision: 0,
  id: '',
  type,
  data,
  metadata: '{}',
});

const linesFor = (...event: Parameters<typeof eventOf>): readonly string[] => {
  const unfit = unfitEvents();
  unfit.add(eventOf(...event));
  unfit.add(eventOf(...event));
  return unfit.lines();
};

const parts = `{"$payload":{"sha256":"${'0'.repeat(64)}","parts":1}}`;

describe('Events that are brought in', () => {
  for (const [stream, type, data] of [
    ['group-1', '@platform/authorization:groupUpdated', '{"description":"d","later":1}'],
    ['group-1', '@platform/authorization:claimLapsed', '{"kind":"group","name":"n"}'],
    ['group-1', '@platform/authorization:ofLaterVersions', '1'],
    ['template-1', '@platform/template-builder:templateCreated', parts],
    ['publishedEvent-1', 'tool:groupUpdated', '{"description":1}'],
    ['orders-1', 'tool:groupUpdated', 'no JSON'],
  ] as const)
    it(`${type} in ${stream} with ${data.slice(0, 20)} fit`, () => assert.deepEqual(linesFor(stream, type, data), []));

  it('and say what the platform does not write are counted; the first is named with the member, without its value', () =>
    assert.deepEqual(linesFor('group-1', '@platform/authorization:groupUpdated', '{"description":41}'), [
      'Events that do not say what the platform writes under their topics: 2; the first is at position 7 (event 0 of stream group-1): /description must be string',
    ]));

  it('and are no JSON are counted, too', () =>
    assert.match(linesFor('group-1', '@platform/authorization:groupUpdated', 'x')[0] ?? '', /: it is no JSON$/));
});
