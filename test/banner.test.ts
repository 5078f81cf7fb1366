import assert from 'node:assert/strict';
import { type Banner, type BannerEvent, banner, set } from '../src/domain/customization/banner.ts';
import { specification } from './given.ts';
import { ok, people, refused } from './people.ts';
import { startService, type TestService } from './service.ts';

const given = specification(banner);
const plain: Banner = {
  active: true,
  text: 'Hello',
  dismissible: false,
  startTime: '2026-01-01T00:00:00.000Z',
  allPages: true,
};
const wasSet: BannerEvent = { topic: 'bannerSet', data: { changed: plain } };
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

describe('the banner: decisions', () => {
  it('is set', () => given().when(set, plain).then(wasSet));
  it('changes by what differs, and loses what is not given', () =>
    given(wasSet, { topic: 'bannerSet', data: { changed: { image: png } } })
      .when(set, { ...plain, active: false })
      .then({ topic: 'bannerSet', data: { changed: { active: false }, removed: ['image'] } }));
  it('changes nothing when it says the same, whatever is said of what the service knows better', () =>
    given(wasSet)
      .when(set, {
        ...plain,
        _id: '0'.repeat(24),
        messageLastUpdated: '2000-01-01T00:00:00Z',
        startTime: '2026-01-01T01:00:00+01:00',
      })
      .thenNothing());
  it('keeps times in UTC', () =>
    given(wasSet)
      .when(set, { ...plain, endTime: '2026-02-01T01:00:00+01:00' })
      .then({ topic: 'bannerSet', data: { changed: { endTime: '2026-02-01T00:00:00.000Z' } } }));
  it('ends after it starts', () => {
    for (const endTime of [plain.startTime, '2025-12-31T23:59:59Z', '2026-01-01T00:30:00+01:00'])
      given()
        .when(set, { ...plain, endTime })
        .thenRefused('invalid', /\/endTime/);
  });

  const bytes: Readonly<Record<string, Buffer>> = {
    png: Buffer.from(png, 'base64'),
    jpeg: Buffer.from('ffd8ffe000104a46494600', 'hex'),
    gif: Buffer.from('GIF89a....'),
    'gif of 1987': Buffer.from('GIF87a....'),
    webp: Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1'),
  };
  for (const [name, image] of Object.entries(bytes)) {
    it(`takes ${name}, also as a data URL`, () => {
      for (const text of [
        image.toString('base64'),
        `data:image/${name.split(' ')[0]};base64,${image.toString('base64')}`,
      ])
        given(wasSet)
          .when(set, { ...plain, image: text })
          .then({ topic: 'bannerSet', data: { changed: { image: text } } });
    });
  }
  it('takes no other image', () => {
    const riff = Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1').toString('base64');
    for (const image of [
      '',
      'hello',
      '%%%%',
      png.slice(0, -1),
      `${png}\n`,
      png.replace('KG', 'K*'),
      btoa('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      btoa('%PDF-1.7 '),
      riff,
      `data:image/gif;base64,${png}`,
      `data:image/png,${png}`,
    ])
      given()
        .when(set, { ...plain, image })
        .thenRefused('invalid', /\/image/);
  });
});

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
    refused(await service.as(null)('GET', path), 401);
    refused(await outsider('PUT', path, plain), 403, /setBanner/);
    assert.deepEqual(ok(await service.ask('GET', path)), { result: unset });
  });

  it('is shown as it was set, with the time of its text, and after a restart', async () => {
    const whole = { ...plain, backgroundColor: 'rgb(255, 204, 0)', endTime: '2027-01-01T00:00:00.000Z', image: png };
    const { result } = ok(await service.ask('PUT', path, whole));
    const { _id, messageLastUpdated, ...rest } = result;
    assert.deepEqual(rest, whole);
    assert.match(_id, /^[0-9a-f]{24}$/);
    const again = ok(await service.ask('PUT', path, { ...result, active: false }, { 'If-Match': '"0"' })).result;
    assert.deepEqual(again, { ...result, active: false }, 'the text has not changed');
    refused(await service.ask('PUT', path, whole, { 'If-Match': '"0"' }), 412);
    const other = ok(await service.ask('PUT', path, { ...plain, text: 'Other' })).result;
    assert.ok(other.messageLastUpdated >= messageLastUpdated);
    assert.deepEqual(Object.keys(other).sort(), [...Object.keys(plain), '_id', 'messageLastUpdated'].sort());
    service = await service.restart();
    const shown = await service.ask('GET', path);
    assert.deepEqual(ok(shown).result, other);
    assert.equal(shown.headers.get('etag'), '"2"');
  });

  const bad: readonly [string, unknown][] = [
    ['/text', { ...plain, text: undefined }],
    ['/active', { ...plain, active: 'yes' }],
    ['/startTime', { ...plain, startTime: 'tomorrow' }],
    ['/backgroundColor', { ...plain, backgroundColor: 'url(https://evil.example/x)' }],
    ['/backgroundColor', { ...plain, backgroundColor: 'red;' }],
    ['/txt', { ...plain, txt: 'x' }],
    ['/image', { ...plain, image: 'hello' }],
    ['/endTime', { ...plain, endTime: plain.startTime }],
  ];
  for (const [where, body] of bad) {
    it(`refuses ${JSON.stringify(body).slice(-50)} at ${where}`, async () => {
      const before = ok(await service.ask('GET', path));
      refused(await service.ask('PUT', path, body), 400, new RegExp(`"path":"${where}"`));
      assert.deepEqual(ok(await service.ask('GET', path)), before);
    });
  }

  it('with an image over the limit of bodies is too large', async () =>
    refused(await service.ask('PUT', path, { ...plain, image: png.slice(0, 16) + 'A'.repeat(1_100_000) }), 413));
});
