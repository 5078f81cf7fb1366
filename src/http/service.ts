import type { Command, Tools } from '../commands/define.ts';
import type { Handle, Handled } from '../commands/handle.ts';
import type { Actor } from '../domain/core.ts';
import type { Projection } from '../projections/define.ts';
import type { Entry, ReadStore } from '../projections/port.ts';
import type { Call } from './route.ts';

/** What rows may use of the running service. */
export type Service = {
  readonly handle: Handle;
  readonly model: ReadStore;
  readonly tools: Tools;
  /** The entry that an id or a name means, if the actor may read it; else `not_found`. Waits for this node's own writes. */
  readonly entry: (projection: Projection, idOrName: string, actor: Actor) => Promise<Entry>;
  /** Carries out a command for a call, as a command row does; for rows that run several. */
  readonly command: (command: Command, id: string, input: unknown, call: Call) => Promise<Handled>;
};
