import { defined } from '../../domain/engine/defined.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import type { FiringEvent } from '../../domain/operations-manager/triggerVariables.ts';
import type { AnyEvent } from '../../store/anyEvent.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Tools } from '../engine/define.ts';

// Events that triggers themselves leave in the log fire no triggers.
const silent = new Set(['triggerRuns', 'parkedReaction']);

/** True if an event may fire triggers, if any account may see it. */
export const mayFire = ({ stream }: Pick<StoredEvent, 'stream'>): boolean => !silent.has(splitStream(stream).category);

// Their secrets are the service's own: it logs in with them, or is logged in to.
const keepSecrets = new Set(['account', 'adapter', 'agent', 'inventory', 'prebuilt', 'profile']);

/**
 * The payload that an event gives to triggers. A job gives the secrets of its variables to a worker. So where the
 * service itself needs the secrets, there are masks.
 */
export const givenBy = ({ stream, data }: Pick<Recorded, 'stream' | 'data'>): unknown =>
  keepSecrets.has(splitStream(stream).category) ? maskSecrets(data) : data;

/** An event as the variables of the jobs that it starts name it. */
export const firingEvent = ({
  id,
  source,
  topic,
  position,
  metadata: { at, actor },
}: AnyEvent): FiringEvent & { readonly id: string } => ({
  ...{ id, source, topic, position, at },
  ...defined({ actor: actor === null ? actor : undefined }),
});

/** How many triggers have fired one after the other until this event. */
export const depthOf = async ({ stream, metadata }: AnyEvent, state: Tools['state']): Promise<number> => {
  const { category, id } = splitStream(stream);
  if (category !== job.category) return metadata.depth ?? 0;
  return (await state(job, id)).started?.depth ?? 0;
};

// From this depth on, nothing fires.
const deepest = 8;

/** Why an event of this depth fires nothing; undefined if it may fire something. */
export const tooDeep = (depth: number): string | undefined =>
  depth < deepest ? undefined : `${depth} triggers have fired one after the other; the next does not`;

/** The id of the job by which a trigger answers an event. It follows from both, so there is never a second one. */
export const jobIdOf = (trigger: string, event: string): string => derivedId(`job ${trigger} ${event}`);
