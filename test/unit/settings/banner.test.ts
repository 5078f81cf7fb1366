import { type BannerEvent, banner, set } from '../../../src/domain/customization/banner.ts';
import { specification } from '../../support/given.ts';
import { plain, png } from '../../support/samples/banner.ts';

const given = specification(banner);

const wasSet: BannerEvent = { topic: 'bannerSet', data: { changed: plain } };

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
