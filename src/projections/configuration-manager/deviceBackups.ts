import { type DeviceCopy, deviceBackup } from '../../domain/configuration-manager/deviceBackups.ts';
import { defined } from '../../domain/engine/defined.ts';
import { idOf, projection } from '../engine/define.ts';
import { documentGuard } from '../engine/guards.ts';
import { inventories } from '../inventory-manager/inventories.ts';
import { adapters } from './adapters.ts';

/** A copy of a configuration, without its text. `of`: the text that it has, `repeats`: the copy before has it too. */
export type DeviceBackupDoc = {
  readonly _id: string;
  readonly name: string;
  readonly provider: string;
  readonly type: 'native';
  readonly date: string;
  readonly description: string;
  readonly notes: string;
  readonly lines: number;
  readonly change?: string;
} & { readonly own: Pick<DeviceCopy, 'source' | 'digest' | 'sameAs'> & { readonly repeats: boolean } };

type OfDevice = Pick<DeviceCopy, 'device' | 'source'>;

/** The value of `device` for the device of a source. */
export const deviceKey = ({ device, source: { kind, id } }: OfDevice): string => JSON.stringify([kind, id, device]);

const keyOf = ({ name, own: { source } }: DeviceBackupDoc): string => deviceKey({ device: name, source });

/** The value of `device` for all copies with a text, and for those that repeat the copy before, or do not. */
export const textKey = (key: string, digest: string): string => `${key} ${digest}`;
export const repeatingKey = (key: string, repeats: boolean): string => `${key} ${repeats ? 'repeats' : 'differs'}`;

/** Copies of configurations. A copy is read by who may read the source that the device was reached by. */
export const deviceBackups = projection<DeviceBackupDoc>()(deviceBackup, {
  collection: 'deviceBackups',
  on: {
    configurationBackedUp: (_, event) => {
      const { device, adapter, source, digest, lines, description, notes, date, change, sameAs, repeats } = event.data;
      return {
        _id: idOf(event),
        name: device,
        provider: adapter,
        type: 'native',
        date: date ?? event.metadata.at,
        description,
        notes,
        lines,
        ...defined({ change }),
        own: { source, digest, ...defined({ sameAs }), repeats: repeats ?? false },
      };
    },
    configurationChanged: (doc) => doc,
    configurationBackupDescribed: (doc, { data }) => doc && { ...doc, ...data },
    configurationBackupLeft: () => undefined,
    configurationBackupDeleted: () => undefined,
  },
  guard: ({ own: { source } }) => documentGuard(source.kind === 'inventory' ? inventories : adapters, source.id),
  sorts: { name: ({ name }) => name, date: ({ date }) => date },
  filters: {
    name: ({ name }) => name,
    description: ({ description }) => description,
    device: (doc) => {
      const key = keyOf(doc);
      return [key, textKey(key, doc.own.digest), repeatingKey(key, doc.own.repeats)];
    },
  },
});

/** The copy as it is answered. */
export const backupIn = ({ own: _, ...backup }: DeviceBackupDoc): Omit<DeviceBackupDoc, 'own'> => backup;
