import {
  deviceConfiguration,
  noneWaits,
  waitsForConfirmation,
} from '../../domain/configuration-manager/deviceConfigurations.ts';
import type { CopiedDevice } from '../../domain/configuration-manager/deviceSources.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Tools } from '../engine/define.ts';
import type { Handle } from '../engine/handle.ts';
import type { Request } from '../engine/requests.ts';
import { withoutConditions } from './deviceChanges.ts';
import { confirmDeviceConfig, refusedBy } from './deviceConfigurations.ts';
import type { DeviceTurns } from './deviceTurns.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly turns: DeviceTurns;
  /** The time of the node, in epoch milliseconds. */
  readonly now: () => number;
};

type Calls = {
  confirm(
    found: CopiedDevice,
    options: { readonly change: string },
  ): Promise<{ readonly status: number; readonly text: string }>;
};

/** `change`: the id of the change to be confirmed; the last one of the device unless given. */
type Confirmation = {
  readonly about: Omit<Request, 'id' | 'input'>;
  readonly found: CopiedDevice;
  readonly calls: (signal: AbortSignal) => Calls;
  readonly signal: AbortSignal;
  readonly change?: string | undefined;
};

/** Confirms changes that their devices would take back. */
export const deviceConfirmations = ({ handle, tools, turns, now }: Needs) => {
  /** The answer that a request for a confirmation has had under its key; undefined if there was none. */
  const confirmedBefore = async (about: Confirmation['about'], changes: readonly string[]) => {
    for (const id of changes) {
      const { about: attempted, confirmUntil } = await tools.state(deviceConfiguration, id);
      if (!attempted || confirmUntil !== undefined) continue;
      // One that waits no longer takes no confirmation but the one that it has had.
      const result = await handle(confirmDeviceConfig, { ...about, id, input: {} }).catch((error: unknown) => {
        if (error instanceof RequestError && error.code === 'conflict') return undefined;
        throw error;
      });
      if (result) return result;
    }
    return undefined;
  };

  return {
    /**
     * Confirms a change that its device would take back; without its id, the last one of the device. Throws `conflict` where none
     * waits. A request that is repeated after a crash asks the device again, to which that means nothing.
     */
    confirm: async ({ about, found, calls, signal, change }: Confirmation) => {
      const last = change === undefined ? await turns.last(found) : [];
      const replayed = about.idempotency && (await confirmedBefore(about, last));
      if (replayed) return replayed;
      const id = change ?? last[0];
      const state = id === undefined ? undefined : await tools.state(deviceConfiguration, id);
      if (change !== undefined && !state?.about)
        throw new RequestError('not_found', 'No such change', { path: '/change' });
      const { adapter, device } = state?.about ?? {};
      if (id === undefined || !state || adapter !== found.source.name || device !== found.device.name)
        throw noneWaits();
      if (waitsForConfirmation(state, now())) {
        const turn = { found, change: `confirm ${about.requestId}`, isAside: true, signal } as const;
        const { status, text } = await turns.inTurn({ ...turn, about: withoutConditions(about) }, (inTurn) =>
          calls(inTurn).confirm(found, { change: id }),
        );
        if (status > 299) throw refusedBy(adapter, { status, text });
      } else if (state.confirmUntil !== undefined)
        throw new RequestError('conflict', 'The time to confirm the change is over', { path: '/change' });
      return handle(confirmDeviceConfig, { ...about, id, input: {} });
    },
  };
};

export type DeviceConfirmations = ReturnType<typeof deviceConfirmations>;
