import { type Static, Type } from 'typebox';
import { objectId, time } from '../engine/authors.ts';
import { type Changes, changesBetween } from '../engine/changes.ts';
import { aggregate, type EventOf } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import { flag, text, texts, topicsOf } from '../engine/topics.ts';

const members = {
  active: Type.Boolean({ description: 'True if it is shown' }),
  text: Type.String({ description: 'Text', maxLength: 10_000 }),
  dismissible: Type.Boolean({ description: 'True if users may close it' }),
  startTime: time('When display begins'),
  allPages: Type.Boolean({ description: 'On every page; false: on the home page only' }),
  // Every colour that CSS can write, but nothing that makes a browser load a resource.
  backgroundColor: Type.Optional(
    Type.String({
      description: 'CSS colour',
      minLength: 1,
      maxLength: 64,
      pattern: '^#?[A-Za-z0-9]+(\\([A-Za-z0-9.,%/ -]*\\))?$',
    }),
  ),
  endTime: Type.Optional(time('When display ends; after startTime')),
  image: Type.Optional(Type.String({ description: 'PNG, JPEG, GIF or WebP in base64, perhaps as a data URL' })),
};
const optionalMembers = {
  _id: Type.Optional(objectId('Id')),
  messageLastUpdated: Type.Optional(time('When the text was last changed')),
};

/** The banner in requests and answers. */
export const bannerSchema = Type.Object(
  { ...members, ...optionalMembers },
  { additionalProperties: false, title: 'Banner', description: 'Banner that the user interface shows' },
);

export type Banner = Static<typeof bannerSchema>;
export type BannerContent = Omit<Banner, '_id' | 'messageLastUpdated'>;

/** The answer of `getBanner` until a banner is set. */
export const unset: Banner = {
  active: false,
  text: '',
  dismissible: true,
  startTime: '1970-01-01T00:00:00.000Z',
  allPages: false,
};

/** The id of the only banner: "banner" in hexadecimal. */
export const bannerId = '62616e6e6572000000000000';

const topics = topicsOf({
  bannerSet: [
    'The banner changed',
    Type.Object({
      changed: Type.Object({
        active: Type.Optional(flag),
        text: Type.Optional(text),
        dismissible: Type.Optional(flag),
        startTime: Type.Optional(text),
        allPages: Type.Optional(flag),
        backgroundColor: Type.Optional(text),
        endTime: Type.Optional(text),
        image: Type.Optional(text),
      }),
      removed: Type.Optional(texts),
    }),
  ],
});
export type BannerEvent = EventOf<typeof topics>;

type State = Partial<BannerContent>;

export const banner = aggregate<State, BannerEvent>({
  area: 'customization',
  category: 'banner',
  topics,
  initial: {},
  evolve: { bannerSet: (state, changes) => withChanges(state, changes) },
  exists: ({ text }) => text !== undefined,
});

/** The banner after the changes. `before` may be empty. */
export const withChanges = <T extends State>(before: T, { changed, removed = [] }: Changes<BannerContent>): T =>
  ({ ...Object.fromEntries(Object.entries(before).filter(([name]) => !removed.includes(name))), ...changed }) as T;

/** The first bytes of each image type in base64. */
const images: Readonly<Record<string, RegExp>> = {
  'image/png': /^iVBORw0KGg[o-r]/,
  'image/jpeg': /^\/9j\//,
  'image/gif': /^R0lGOD[dl]h/,
  'image/webp': /^UklGR.{6}XRUJQ/,
};

const checkImage = (image: string): void => {
  const url = /^data:([^,;]*);base64,/.exec(image);
  const data = url ? image.slice(url[0].length) : image;
  const refuse = (message: string): never => {
    throw new RequestError('invalid', message, { path: '/image' });
  };
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) refuse('image is not base64');
  const type = Object.entries(images).find(([, pattern]) => pattern.test(data))?.[0];
  if (type === undefined) refuse('image must be PNG, JPEG, GIF or WebP');
  if (url && url[1] !== type) refuse(`image says that it is ${url[1]}, but is ${type}`);
};

const inUtc = (at: string): string => new Date(at).toISOString();

/** Sets the whole banner. `_id` and `messageLastUpdated` in the request are ignored: the service sets them. */
export const set = (before: State, { _id: _, messageLastUpdated: __, ...input }: Banner): readonly BannerEvent[] => {
  const { startTime, endTime, image } = input;
  const newContent: BannerContent = {
    ...input,
    startTime: inUtc(startTime),
    ...defined({ endTime: endTime === undefined ? undefined : inUtc(endTime) }),
  };
  if (endTime !== undefined && Date.parse(endTime) <= Date.parse(startTime))
    throw new RequestError('invalid', 'endTime must be after startTime', { path: '/endTime' });
  if (image !== undefined) checkImage(image);
  const changes = changesBetween(before as BannerContent, newContent);
  return changes ? [{ topic: 'bannerSet', data: changes }] : [];
};
