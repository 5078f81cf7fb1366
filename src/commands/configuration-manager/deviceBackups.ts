import { type StoredDifference, textAfter } from '@automation-platform/configurations';
import { Type } from 'typebox';
import {
  backupDeletions,
  backupWordsSchema,
  type DeviceCopy,
  describe,
  deviceBackup,
  leave,
  type NewCopy,
  remove,
  store,
} from '../../domain/configuration-manager/deviceBackups.ts';
import type { CopiedDevice } from '../../domain/configuration-manager/deviceSources.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Evaluation } from '../../domain/engine/transforming.ts';
import {
  type DeviceBackupDoc,
  deviceBackups,
  deviceKey,
  repeatingKey,
  textKey,
} from '../../projections/configuration-manager/deviceBackups.ts';
import { documentIn, pageOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import type { Recorded } from '../../store/event.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { deleteDecided } from '../engine/deletions.ts';
import type { CommandResult, Handle } from '../engine/handle.ts';
import type { Reaction } from '../engine/reactions.ts';
import type { Request } from '../engine/requests.ts';
import { linesOf } from './deviceConfigurations.ts';

const command = commandsOf(deviceBackup);

/** Part of the work of `deviceCopies`. */
const storeDeviceBackup = command({
  name: 'storeDeviceBackup',
  input: Type.Unsafe<NewCopy>({}),
  on: 'any',
  decide: store,
});

export const updateDeviceBackup = command({
  name: 'updateDeviceBackup',
  input: backupWordsSchema,
  on: 'existing',
  decide: describe,
});

/** Follows from newer copies of the device. */
const leaveDeviceBackup = command({ name: 'leaveDeviceBackup', input: noInput, on: 'any', decide: leave });

/** Part of a decision to delete copies. */
const removeDeviceBackup = command({ name: 'removeDeviceBackup', input: noInput, on: 'any', decide: remove });

export const deleteDeviceBackups = commandsOf(backupDeletions.of)({
  name: 'deleteDeviceBackups',
  input: backupDeletions.schema,
  on: 'new',
  decide: backupDeletions.decide,
  prepare: async ({ input: { backupIds }, actor }, tools) => {
    const missing: string[] = [];
    for (const id of new Set(backupIds)) {
      const doc = await tools.shown(deviceBackups, id);
      if (!doc || !tools.mayRead(deviceBackups, doc, actor)) missing.push(id);
    }
    return { missing };
  },
});

export const deviceBackupReactions: readonly Reaction[] = [
  {
    of: deviceBackup,
    when: ({ data }: Recorded<DeviceCopy>) => (data.surplus ?? []).length > 0,
    on: {
      configurationBackedUp: async ({ data: { surplus = [] } }: Recorded<DeviceCopy>) =>
        surplus.map((id) => ({ command: leaveDeviceBackup, id, input: {} })),
    },
  },
  deleteDecided(backupDeletions, removeDeviceBackup),
];

/** A text follows from another one over at most this number of copies, because each of them is a stream to read. */
const mostSteps = 7;
/** The most older copies that leave the read models with one event. */
const mostSurplus = 100;

/** `isChange`: more differs than lines that always change. `diff`: the lines that differ, masked. */
type Following = { readonly difference: StoredDifference; readonly isChange: boolean; readonly diff?: string };

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly model: Pick<ReadModel, 'list'>;
  readonly catchUp: () => Promise<void> | undefined;
  readonly packed: {
    readonly sealPacked: (text: string) => Promise<Sealed>;
    readonly unsealPacked: (sealed: Sealed) => Promise<string>;
  };
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
  /** Says how a configuration follows from the one before. Throws `unprocessable` if that takes too long. */
  readonly follow: (
    run: { readonly before: string; readonly after: string; readonly ostype: string; readonly shows?: boolean },
    evaluation: Evaluation,
  ) => Promise<Following>;
  /** How many differing copies of a device the read models show. */
  readonly most: number;
};

/** A configuration to store. `date`: the time of one that is taken in. `change`: the change that it belongs to. */
export type ToCopy = {
  readonly found: CopiedDevice;
  readonly text: string;
  readonly description?: string;
  readonly notes?: string;
  readonly date?: string;
  readonly change?: string;
  /** The copy before the change that has made the configuration so: it is no other change of the device. */
  readonly before?: NewestCopy;
};

/** A copy that was just stored, the newest of its device. `of`: the copy that has its text. `count`: how many copies there are. */
export type NewestCopy = {
  readonly id: string;
  readonly of: string;
  readonly digest: string;
  readonly text: string;
  readonly count: number;
};

/**
 * `newest`: the copy that was stored. `diff`: the lines that differ from the copy before the change, masked; undefined without
 * one, and where that takes too long to find out.
 */
type StoredCopy = { readonly result: CommandResult; readonly newest: NewestCopy; readonly diff?: string };

/** The id of the copy that has the text of a copy. */
const holderOf = ({ _id, own: { sameAs = _id } }: Pick<DeviceBackupDoc, '_id' | 'own'>): string => sameAs;

/** Stores copies of configurations, and opens them (docs/decisions/copies.md). */
export const deviceCopies = (needs: Needs) => {
  const { handle, tools, model, catchUp, packed, digest, follow, most } = needs;

  const newest = async (key: string, skip = 0, limit = 1) => {
    const where = { field: 'device', op: 'equals', value: key } as const;
    const { entries, total } = await pageOf(model, deviceBackups, { where, sort: 'date', order: -1, skip, limit });
    return { total, docs: entries.map((entry) => documentIn(deviceBackups, entry)) };
  };

  /** The copy before, as the read models show it. */
  const shownBefore = async (key: string): Promise<Partial<Omit<NewestCopy, 'text'>> & Pick<NewestCopy, 'count'>> => {
    await catchUp();
    const {
      docs: [doc],
      total: count,
    } = await newest(key);
    return doc ? { id: doc._id, of: holderOf(doc), digest: doc.own.digest, count } : { count };
  };

  const copyOf = async (id: string): Promise<DeviceCopy> => {
    const { copy } = await tools.state(deviceBackup, id);
    if (copy) return copy;
    throw new RequestError('unprocessable', `The copy ${id}, from which this one follows, is not in the log any more`);
  };

  const textOf = async (id: string): Promise<string> => {
    const differences: StoredDifference[] = [];
    for (let copy = await copyOf(id); ; ) {
      const { text, after, sameAs } = copy;
      const opened = text && (await packed.unsealPacked(text));
      if (opened !== undefined && !after) return differences.reduceRight(textAfter, opened);
      if (opened !== undefined) differences.push(JSON.parse(opened));
      copy = await copyOf(after?.copy ?? sameAs ?? '');
    }
  };

  /** How the text follows from that of the copy before; undefined if that takes too long to find out. */
  const followingOf = async (
    { text: after, found, before }: ToCopy,
    base: string,
    evaluation: Evaluation,
  ): Promise<Following | undefined> => {
    const run = { before: before?.text ?? (await textOf(base)), after, ostype: found.device.ostype ?? '' };
    return follow({ ...run, shows: before !== undefined }, evaluation).catch((error: unknown) => {
      if (error instanceof RequestError && error.code === 'unprocessable') return undefined;
      throw error;
    });
  };

  /** The copy of the device that has a text; undefined if none has it. */
  const sameText = async (key: string): Promise<string | undefined> => {
    const [same] = (await newest(key)).docs;
    return same && holderOf(same);
  };

  /** The sealed text: whole, or as it follows from that of another copy. */
  const sealedText = async (
    text: string,
    before: string | undefined,
    difference: StoredDifference | undefined,
  ): Promise<Pick<DeviceCopy, 'text' | 'after'>> => {
    const shorter = difference && JSON.stringify(difference);
    if (before !== undefined && shorter !== undefined && shorter.length < text.length / 2) {
      const steps = ((await copyOf(before)).after?.steps ?? 0) + 1;
      if (steps <= mostSteps) return { text: await packed.sealPacked(shorter), after: { copy: before, steps } };
    }
    return { text: await packed.sealPacked(text) };
  };

  return {
    /** The configuration of a copy in clear. */
    textOf,
    /** Stores a copy under a new id; under one that was used, nothing. */
    store: async (about: Omit<Request, 'input'>, toCopy: ToCopy, evaluation: Evaluation): Promise<StoredCopy> => {
      const { found, text, description = '', notes = '', date, change } = toCopy;
      const { kind, id, name: adapter } = found.source;
      const { name: device, ostype } = found.device;
      const source = { kind, id };
      const key = deviceKey({ device, source });
      const ofText = digest(text);
      const before = toCopy.before ?? (await shownBefore(key));
      const repeats = before.digest === ofText;
      const following =
        before.of === undefined || repeats ? undefined : await followingOf(toCopy, before.of, evaluation);
      const same = repeats ? before.of : await sameText(textKey(key, ofText));
      const stored = same === undefined ? await sealedText(text, before.of, following?.difference) : { sameAs: same };
      const surplus = before.count < most ? [] : (await newest(repeatingKey(key, repeats), most - 1, mostSurplus)).docs;
      const copy: DeviceCopy = {
        device,
        adapter,
        source,
        ...defined({ ostype }),
        digest: ofText,
        lines: linesOf(text),
        description,
        notes,
        ...defined({ date, change }),
        ...stored,
        ...defined({
          repeats: repeats || undefined,
          surplus: surplus.length > 0 ? surplus.map(({ _id }) => _id) : undefined,
        }),
      };
      const isKnown = toCopy.before !== undefined || date !== undefined;
      const changedFrom = isKnown || repeats || following?.isChange === false ? undefined : before.id;
      const input: NewCopy = { copy, ...defined({ changedFrom }) };
      const result = await handle(storeDeviceBackup, { ...about, input });
      return {
        result,
        newest: { id: result.id, of: same ?? result.id, digest: ofText, text, count: before.count + 1 },
        ...defined({ diff: repeats && toCopy.before ? '' : following?.diff }),
      };
    },
  };
};

export type DeviceCopies = ReturnType<typeof deviceCopies>;
