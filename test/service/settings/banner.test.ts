import assert from 'node:assert/strict';
import { ok, people, refused } from '../../support/people.ts';
import { plain, png } from '../../support/samples/banner.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('the banner over HTTP', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  const path = '/customization/banner';

  it('until it is set is inactive and empty, for everybody who logs in', async () => {
    const { outsider } = await people(service);
    const unset = {
      active: false,
      text: '',
      dismissible: true,
      startTime: '1970-01-01T00:00:00.000Z',
      allPages: false,
    };
    const first = await outsider('GET', path);
    assert.deepEqual(ok(first), { result: unset });
    assert.equal((await outsider('GET', path, undefined, { 'If-None-Match': first.headers.get('etag')! })).status, 304);
  });

  it('is shown as it was set, with the time of its text, and after a restart', async () => {
    const whole = { ...plain, backgroundColor: 'rgb(255, 204, 0)', endTime: '2027-01-01T00:00:00.000Z', image: png };
    const { result } = ok(await service.ask('PUT', path, whole));
    const { _id, messageLastUpdated, ...rest } = result;
    assert.deepEqual(rest, whole);
    assert.match(_id, /^[0-9a-f]{24}$/);
    const again = ok(await service.ask('PUT', path, { ...result, active: false }, { 'If-Match': '"0"' })).result;
    assert.deepEqual(again, { ...result, active: false }, 'the text has not changed');
    const other = ok(await service.ask('PUT', path, { ...plain, text: 'Other' })).result;
    assert.ok(other.messageLastUpdated >= messageLastUpdated);
    assert.deepEqual(Object.keys(other).sort(), [...Object.keys(plain), '_id', 'messageLastUpdated'].sort());
    service = await service.restart();
    const shown = await service.ask('GET', path);
    assert.deepEqual(ok(shown).result, other);
    assert.equal(shown.headers.get('etag'), '"2"');
  });

  it('with an image over the limit of bodies is too large', async () =>
    refused(await service.ask('PUT', path, { ...plain, image: png.slice(0, 16) + 'A'.repeat(1_100_000) }), 413));
});
