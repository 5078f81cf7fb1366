import { Type } from 'typebox';
import { type Described, describeTopics, flag, text, texts } from '../engine/topics.ts';
import { banner } from './banner.ts';

export const bannerTopics: readonly Described[] = [
  describeTopics(banner, {
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
  }),
];
