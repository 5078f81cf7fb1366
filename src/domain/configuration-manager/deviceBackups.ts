import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { objectId, time } from '../engine/authors.ts';
import { changesBetween } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { deletionOf } from '../engine/deletions.ts';
import { RequestError } from '../engine/requestError.ts';
import { flag, nothing, sealed, text, texts, topicsOf, whole } from '../engine/topics.ts';

/** The source that a device was reached by, and its id. */
const source = Type.Object({ kind: Type.Enum(['adapter', 'inventory']), id: text });

const words = { description: text, notes: text };

/**
 * A copy of a device's configuration. The sealed text is the whole configuration, or how it follows from that of another copy:
 * `steps` says how many copies that goes on until a whole one. `sameAs`: the copy that has the same text.
 */
const copy = Type.Object({
  device: text,
  adapter: text,
  source,
  ostype: Type.Optional(text),
  digest: text,
  lines: whole,
  ...words,
  /** The time of a copy that was taken in. */
  date: Type.Optional(text),
  change: Type.Optional(text),
  text: Type.Optional(sealed),
  after: Type.Optional(Type.Object({ copy: text, steps: whole })),
  sameAs: Type.Optional(text),
  /** The copy before has the same text. */
  repeats: Type.Optional(flag),
  /** Older copies that the read models show no longer. */
  surplus: Type.Optional(texts),
});
export type DeviceCopy = SchemaData<typeof copy>;

/** The ids of the inventories among the sources, each once. */
export const inventoriesOfSources = (sources: readonly DeviceCopy['source'][]): readonly string[] => [
  ...new Set(sources.flatMap(({ kind, id }) => (kind === 'inventory' ? id : []))),
];

const topics = topicsOf({
  configurationBackedUp: ['A configuration of a device was copied', copy],
  configurationChanged: [
    'A configuration differs from the copy before, in more than lines that always change',
    Type.Object({ device: text, from: text, to: text }),
  ],
  configurationBackupDescribed: ['A copy of a configuration got other words', Type.Object(words)],
  configurationBackupLeft: ['A copy of a configuration left the read models: newer ones took its place', nothing],
  configurationBackupDeleted: ['A copy of a configuration was deleted', nothing],
});
type DeviceBackupEvent = EventOf<typeof topics>;

/** `copy` survives a delete: another copy may have the same text, or follow from it. */
export type DeviceBackupState = { readonly exists: boolean; readonly copy?: DeviceCopy };

/** A copy of a device's configuration. */
export const deviceBackup = aggregate<DeviceBackupState, DeviceBackupEvent>({
  area: 'configuration-manager',
  category: 'configurationBackup',
  topics,
  initial: { exists: false },
  evolve: {
    configurationBackedUp: (_, copy) => ({ exists: true, copy }),
    configurationChanged: (state) => state,
    configurationBackupDescribed: (state, words) => ({
      ...state,
      ...(state.copy && { copy: { ...state.copy, ...words } }),
    }),
    configurationBackupLeft: (state) => state,
    configurationBackupDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: ({ exists }) => exists,
});

const description = Type.String({ description: 'Purpose of the copy', maxLength: 4096 });
const notes = Type.String({ description: 'Notes on the copy', maxLength: 65_536 });
export const backupWordsSchema = Type.Partial(Type.Object({ description, notes }), {
  additionalProperties: false,
  title: 'BackupWords',
  description: 'Words about a copy of a configuration',
});
export type BackupWords = Static<typeof backupWordsSchema>;

const compiledWords = Compile(backupWordsSchema);
export const areBackupWords = (value: unknown): value is BackupWords => compiledWords.Check(value);

/** A copy in lists. */
export const listedBackupSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: Type.String({ description: 'Name of the device' }),
    provider: Type.String({ description: "Name of the device's source" }),
    type: Type.Literal('native'),
    date: time('When the device had this configuration'),
    description,
    notes,
    lines: Type.Integer({ minimum: 0, description: 'Number of lines' }),
    change: Type.Optional(Type.String({ description: 'Id of the change that the copy belongs to' })),
  },
  { title: 'ListedDeviceBackup', description: 'Copy of a configuration without its text' },
);

/** A copy in answers. */
export const backupSchema = Type.Object(
  { ...listedBackupSchema.properties, rawConfig: Type.String({ description: 'Configuration in clear' }) },
  { title: 'DeviceBackup', description: 'Copy of a configuration' },
);

/** A copy to take in: an answer, or as much of it. */
export const backupItemSchema = Type.Object(
  {
    _id: Type.Optional(objectId('Id; a new one unless given')),
    name: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the device' }),
    rawConfig: Type.String({ minLength: 1, description: 'Configuration in clear' }),
    date: Type.Optional(time('When the device had this configuration; now unless given')),
    description: Type.Optional(description),
    notes: Type.Optional(notes),
  },
  { additionalProperties: true, title: 'DeviceBackupItem', description: 'Copy of a configuration to take in' },
);

/** A copy to store. `changedFrom`: the copy that it differs from, in more than lines that always change. */
export type NewCopy = { readonly copy: DeviceCopy; readonly changedFrom?: string };

/** A run that goes on may store a copy again. Another copy is refused where its id comes from outside (`date`). */
export const store = (
  { exists, copy: former }: DeviceBackupState,
  { copy, changedFrom }: NewCopy,
  { id }: Context,
): readonly DeviceBackupEvent[] => {
  const { device, digest, date } = copy;
  if (former) {
    if (date === undefined || (exists && former.device === device && former.digest === digest)) return [];
    const reason = exists ? 'Another copy has this id' : 'A copy with this id was deleted';
    throw new RequestError('conflict', reason, { path: '/_id' });
  }
  const events: DeviceBackupEvent[] = [{ topic: 'configurationBackedUp', data: copy }];
  if (changedFrom !== undefined)
    events.push({ topic: 'configurationChanged', data: { device, from: changedFrom, to: id } });
  return events;
};

export const describe = ({ copy }: DeviceBackupState, words: BackupWords): readonly DeviceBackupEvent[] => {
  const { description = '', notes = '' } = copy ?? {};
  const after = { description, notes, ...words };
  return changesBetween({ description, notes }, after) ? [{ topic: 'configurationBackupDescribed', data: after }] : [];
};

/** A part of what follows from a newer copy. */
export const leave = ({ exists }: DeviceBackupState): readonly DeviceBackupEvent[] =>
  exists ? [{ topic: 'configurationBackupLeft', data: {} }] : [];

export const remove = (): readonly DeviceBackupEvent[] => [{ topic: 'configurationBackupDeleted', data: {} }];

/** The decision to delete several copies. */
export const backupDeletions = deletionOf({
  area: 'configuration-manager',
  category: 'configurationBackupDeletion',
  topic: 'configurationBackupsDeleted',
  member: 'backupIds',
  title: 'BackupDeletion',
  noun: 'copy',
  nouns: 'copies',
});
export const backupDeletion = backupDeletions.of;
