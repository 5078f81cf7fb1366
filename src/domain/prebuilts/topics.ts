import { Type } from 'typebox';
import { anything, type Described, describeTopics, members, nothing, text, whole } from '../engine/topics.ts';
import { prebuilt } from './prebuilts.ts';

export const prebuiltTopics: readonly Described[] = [
  describeTopics(prebuilt, {
    prebuiltImported: [
      'A package is to be installed',
      Type.Object({
        prebuilt: members,
        parts: Type.Array(
          Type.Object({
            category: text,
            id: text,
            names: Type.Array(Type.Object({ kind: text, parent: Type.Optional(text), name: text })),
            bundle: whole,
            content: Type.Optional(anything),
          }),
        ),
        removed: Type.Array(Type.Object({ id: text, actionId: text })),
        installed: Type.Array(Type.Object({ type: text, _id: text, name: text })),
        kept: Type.Array(Type.Object({ type: text, _id: Type.Optional(text), name: Type.Optional(text) })),
        refused: Type.Optional(
          Type.Array(
            Type.Object({
              type: text,
              id: Type.Optional(text),
              name: Type.Optional(text),
              code: text,
              path: Type.Optional(text),
              reason: text,
            }),
          ),
        ),
        accounts: Type.Record(Type.String(), Type.String()),
        bundlesHash: text,
        createdEpoch: text,
      }),
    ],
    prebuiltInstalled: ['All parts of a package are installed', nothing],
    prebuiltDeleted: ['A package was deleted', nothing],
  }),
];
