import type { Actor } from '../../../domain/engine/core.ts';
import type { Devices } from '../../../southbound/port.ts';
import type { Run } from './run.ts';

/** The devices that the actor sees. The run names each that it finds, so readers of its job must see it, too. */
export const devicesSeen = (devices: Pick<Devices, 'seenBy'>, actor: Actor, { names }: Pick<Run, 'names'>) => {
  const visible = devices.seenBy(actor);
  return {
    ...visible,
    find: async (name: string) => {
      const found = await visible.find(name);
      if (found.source.kind === 'inventory') names(found.source.id);
      return found;
    },
  };
};
