import assert from 'node:assert/strict';
import { hashIn, hashOf, isForeign, link, unwrapForeign, withHash, withoutHash, wrapForeign } from '../../src/index.ts';

const event = { stream: 'orders-1', revision: 0, id: 'a', type: 'made', data: '{"n":1}', metadata: '{"at":"now"}' };

describe('an event of the log', () => {
  it('has a link in its metadata, which is taken out again', () => {
    const hash = link(event, '');
    const linked = withHash(event.metadata, hash);
    assert.equal(hashIn(linked), hash);
    assert.equal(withoutHash(linked), event.metadata);
    assert.equal(hashOf({ ...event, metadata: linked }), hash);
  });

  it('has another link when anything of it differs, or what came before', () => {
    const hashes = [
      link(event, ''),
      link(event, 'before'),
      ...Object.keys(event).map((name) => link({ ...event, [name]: name === 'revision' ? 1 : 'x' }, '')),
    ];
    assert.equal(new Set(hashes).size, hashes.length);
  });

  it('of another program keeps its bytes', () => {
    const sent = {
      data: Buffer.from([0, 255, 1]),
      metadata: Buffer.from('{"a": 1}'),
      contentType: 'application/octet-stream',
      created: new Date(0),
    };
    const kept = wrapForeign({ id: 'b', type: 'noted', ...sent });
    assert.ok(isForeign(kept));
    assert.deepEqual(unwrapForeign(kept), sent);
  });
});
