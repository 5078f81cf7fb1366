import type { AutomationContent } from '../../domain/operations-manager/automations.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Candidates } from './candidates.ts';
import { aboutDefinition, automationAfter, type Definition, triggerAfter, waitedFor } from './definitions.ts';
import type { Firing, MayFire } from './firing.ts';
import { payloadOf, readOf } from './read.ts';

export type BookNeeds = {
  readonly candidates: Candidates;
  /** Whether the payload fits the filter of the trigger. */
  readonly fits: (definition: Definition, payload: unknown) => boolean;
  readonly mayFire: MayFire;
  /** Resolves at once, or after others had their turn, if this work has taken long. */
  readonly breathe: () => Promise<void> | undefined;
};

/**
 * All event triggers and automations as they were at one position of the log. It learns from the events of the log, in
 * their order.
 */
export const triggerBook = ({ candidates, fits, mayFire, breathe }: BookNeeds) => {
  const triggers = new Map<string, Definition>();
  const automations = new Map<string, AutomationContent>();
  const byType = new Map<string, Set<string>>();

  const waits = (id: string, from: string | undefined, to: string | undefined): void => {
    if (from !== undefined) byType.get(from)?.delete(id);
    if (from !== undefined && byType.get(from)?.size === 0) byType.delete(from);
    if (to !== undefined) byType.set(to, (byType.get(to) ?? new Set()).add(id));
  };

  const set = (id: string, definition: Definition | undefined): void => {
    waits(id, waitedFor(triggers.get(id)), waitedFor(definition));
    if (definition) triggers.set(id, definition);
    else triggers.delete(id);
    if (waitedFor(definition) === undefined) candidates.remove(id);
    else if (definition) candidates.set(id, definition.content);
  };

  const firing = (id: string, event: Pick<Firing, 'event' | 'read'>): Firing | undefined => {
    const definition = triggers.get(id);
    return definition && { ...event, definition, automation: automations.get(definition.content.actionId) };
  };

  return {
    /** Takes in an event that may change a trigger or an automation. Returns the id of the trigger. */
    learn: (event: StoredEvent): string | undefined => {
      const about = aboutDefinition(event);
      if (about?.kind === 'trigger') {
        set(about.id, triggerAfter(triggers.get(about.id), event));
        return about.id;
      }
      if (about) {
        const next = automationAfter(automations.get(about.id), event);
        if (next) automations.set(about.id, next);
        else automations.delete(about.id);
      }
      return undefined;
    },
    /**
     * What the event fires. An event that cannot be read fires all triggers that wait for its type, because nobody
     * knows which of them it fits: their runs will fail.
     */
    match: async (event: StoredEvent): Promise<readonly Firing[]> => {
      const waiting = byType.get(event.type);
      if (!waiting || !mayFire(event)) return [];
      const read = readOf(event);
      if (read instanceof Error) return [...waiting].flatMap((id) => firing(id, { event, read }) ?? []);
      const payload = payloadOf(event, read);
      const found: Firing[] = [];
      for (const id of candidates.find(read.source, read.topic, payload)) {
        const one = firing(id, { event, read });
        if (one && fits(one.definition, payload)) found.push(one);
        await breathe();
      }
      return found;
    },
    size: (): number => triggers.size,
  };
};
