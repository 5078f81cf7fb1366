import type { AutomationContent } from '../../domain/operations-manager/automations.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Backlog } from '../../store/reading/partition.ts';
import {
  aboutDefinition,
  automationAfter,
  type Definition,
  definitionTypes,
  type PastDefinitions,
  triggerAfter,
  waitedFor,
} from './definitions.ts';
import type { Firing, MayFire } from './firing.ts';
import { payloadOf, readOf } from './read.ts';

export type BacklogNeeds = {
  readonly store: EventStore;
  readonly past: PastDefinitions;
  /** True if the payload fits the filter of the trigger. */
  readonly fits: (definition: Definition, payload: unknown) => boolean;
  readonly mayFire: MayFire;
};

type Known = { readonly definition: Definition | undefined; readonly automation: AutomationContent | undefined };

/**
 * The events of one trigger from a position on, which it reads by itself. It goes by what the trigger and its automation
 * said at each event.
 */
export const backlog = (
  trigger: string,
  from: number,
  { store, past, fits, mayFire }: BacklogNeeds,
): Backlog<Firing> => {
  let position = from;
  let cachedBacklog: Known | undefined;

  const knownAt = async (at: number): Promise<Known> => {
    const definition = await past.trigger(trigger, at);
    return { definition, automation: definition && (await past.automation(definition.content.actionId, at)) };
  };

  /** Takes in an event that may change the trigger or its automation. Returns whether other events matter now. */
  const learn = async (event: StoredEvent, { definition, automation }: Known): Promise<boolean> => {
    const about = aboutDefinition(event);
    if (about?.kind === 'trigger' && about.id === trigger) {
      const next = triggerAfter(definition, event);
      const same = next?.content.actionId === definition?.content.actionId;
      cachedBacklog = {
        definition: next,
        automation: same ? automation : next && (await past.automation(next.content.actionId, event.position)),
      };
      return waitedFor(next) !== waitedFor(definition);
    }
    if (about?.kind === 'automation' && about.id === definition?.content.actionId)
      cachedBacklog = { definition, automation: automationAfter(automation, event) };
    return false;
  };

  const firingBy = (event: StoredEvent, { definition, automation }: Known): Firing | undefined => {
    if (!definition || waitedFor(definition) !== event.type || !mayFire(event)) return undefined;
    const read = readOf(event);
    if (!(read instanceof Error) && !fits(definition, payloadOf(event, read))) return undefined;
    return { event, read, definition, automation };
  };

  return {
    /** All events up to here were read. */
    position: (): number => position,
    /** Reads on until it has `most` firings, or has come to the end of the log. */
    read: async (most: number, take: (firing: Firing, before: number) => void): Promise<void> => {
      let count = 0;
      for (let again = true; again; ) {
        again = false;
        cachedBacklog ??= await knownAt(position);
        const type = waitedFor(cachedBacklog.definition);
        const types = type === undefined ? definitionTypes : [...definitionTypes, type];
        for await (const batch of store.readAll(position, types)) {
          for (const event of batch.events) {
            again = await learn(event, cachedBacklog);
            const firing = firingBy(event, cachedBacklog);
            if (firing) take(firing, position);
            if (firing) count++;
            position = event.position;
            if (again || count >= most) break;
          }
          if (count >= most) return;
          if (again) break;
          position = batch.position;
        }
      }
    },
  };
};
