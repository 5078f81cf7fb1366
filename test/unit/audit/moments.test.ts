import assert from 'node:assert/strict';
import { momentOf } from '../../../src/domain/engine/moments.ts';

describe('moments', () => {
  it('digits are a position', () => {
    assert.deepEqual(momentOf('0'), { position: 0 });
    assert.deepEqual(momentOf('123456789012345'), { position: 123456789012345 });
  });

  it('times of RFC 3339 with Z or an offset are milliseconds', () => {
    const time = Date.UTC(2026, 1, 3, 4, 5, 6);
    for (const text of ['2026-02-03T04:05:06Z', '2026-02-03t04:05:06z', '2026-02-03T06:35:06+02:30'])
      assert.deepEqual(momentOf(text), { time }, text);
    assert.deepEqual(momentOf('2026-02-02T23:05:06.5-05:00'), { time: time + 500 });
    assert.deepEqual(momentOf('2026-02-03T04:05:06.1239999Z'), { time: time + 123 });
  });

  it('anything else is neither', () => {
    const texts = ['', '-1', '1.5', '1e3', ' 1', '1234567890123456', 'now', '2026-02-03', '2026-02-03T04:05:06'];
    texts.push('2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-02-03T24:00:00Z');
    texts.push('2026-02-03T04:60:06Z', '2026-02-03T04:05:60Z', '2026-02-03 04:05:06Z', '2026-02-03T04:05:06 02:00');
    texts.push('2026-02-03T04:05:06+0200', '2026-02-03T04:05:06+24:00', '2026-02-03T04:05:06.Z', '２０２６');
    for (const text of texts) assert.equal(momentOf(text), undefined, text);
  });
});
