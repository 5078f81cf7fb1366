import { fold } from '../../domain/engine/core.ts';
import {
  type AutomationContent,
  type AutomationState,
  automation,
} from '../../domain/operations-manager/automations.ts';
import { type TriggerContent, type TriggerState, trigger } from '../../domain/operations-manager/triggers.ts';
import { decode, type Recorded, splitStream } from '../../store/event.ts';
import { type EventStore, type StoredEvent, TamperedStream } from '../../store/port.ts';
import { isUnusable } from '../../store/tampered.ts';

type EventTrigger = Extract<TriggerContent, { readonly type: 'eventSystem' }>;

/**
 * An event trigger as it was at some position of the log. `revision`: of the event that made it so. `account`: the id of
 * the account by which it runs.
 */
export type Definition = {
  readonly id: string;
  readonly revision: number;
  readonly content: EventTrigger;
  readonly account: string | null;
};

const source = `@platform/${trigger.area}`;
const typesOf = (evolve: object): readonly string[] => Object.keys(evolve).map((topic) => `${source}:${topic}`);

/** The types of the events that make definitions. */
export const definitionTypes: readonly string[] = [...typesOf(trigger.evolve), ...typesOf(automation.evolve)];

const definitionTypeSet = new Set(definitionTypes);

/** The definition that an event of the log makes, if any. */
export const aboutDefinition = ({
  stream,
  type,
}: Pick<StoredEvent, 'stream' | 'type'>):
  | { readonly kind: 'trigger' | 'automation'; readonly id: string }
  | undefined => {
  if (!definitionTypeSet.has(type)) return undefined;
  const { category, id } = splitStream(stream);
  const topic = type.slice(source.length + 1);
  if (category === trigger.category && Object.hasOwn(trigger.evolve, topic)) return { kind: 'trigger', id };
  if (category === automation.category && Object.hasOwn(automation.evolve, topic)) return { kind: 'automation', id };
  return undefined;
};

/** The definition after an event; undefined if the event cannot be read or folded. */
const ifReadable = <T>(stored: StoredEvent, after: (event: Recorded) => T | undefined): T | undefined => {
  try {
    return after(decode(stored));
  } catch {
    return undefined;
  }
};

/**
 * The type of the events that a trigger waits for; undefined if it waits for none. No event has a topic with a colon, but
 * another installation's trigger may.
 */
export const waitedFor = (definition: Definition | undefined): string | undefined => {
  if (!definition?.content.enabled || definition.content.topic.includes(':')) return undefined;
  return `${definition.content.source}:${definition.content.topic}`;
};

const accountAfter = (before: string | null, { topic, data, metadata }: Recorded): string | null => {
  // A document that is taken in names its authors itself.
  if (topic === 'triggerRestored') return (data as { readonly lastUpdatedBy: string | null }).lastUpdatedBy;
  return topic === 'triggerDeleted' ? before : metadata.actor.id;
};

/**
 * The definition after an event of the trigger's stream; undefined if there is none, if it is no event trigger, or if
 * the event cannot be read: then nobody knows what the trigger says.
 */
export const triggerAfter = (before: Definition | undefined, stored: StoredEvent): Definition | undefined =>
  ifReadable(stored, (event) => {
    const state: TriggerState = before ? { exists: true, content: before.content } : { exists: false };
    const { exists, content } = fold(trigger, [event], state);
    if (!exists || content?.type !== 'eventSystem') return undefined;
    const { id } = splitStream(event.stream);
    return { id, revision: event.revision, content, account: accountAfter(before?.account ?? null, event) };
  });

/** The automation after an event of its stream; undefined if there is none, or if the event cannot be read. */
export const automationAfter = (
  before: AutomationContent | undefined,
  stored: StoredEvent,
): AutomationContent | undefined =>
  ifReadable(stored, (event) => {
    const state: AutomationState = before ? { exists: true, content: before } : automation.initial;
    const { exists, content } = fold(automation, [event], state);
    return exists ? content : undefined;
  });

/** Reads what triggers and automations said at a position of the log from their own streams. */
export const pastDefinitions = (store: EventStore) => {
  const upTo = async <T>(
    stream: string,
    position: number,
    after: (before: T | undefined, event: StoredEvent) => T | undefined,
  ): Promise<T | undefined> => {
    let found: T | undefined;
    try {
      for await (const events of store.read(stream)) {
        for (const event of events) {
          if (event.position > position) return found;
          if (aboutDefinition(event)) found = after(found, event);
        }
      }
      return found;
    } catch (error) {
      // Another program has touched the stream: nobody knows what it said.
      if (!isUnusable(error) && !(error instanceof TamperedStream)) throw error;
      return undefined;
    }
  };
  return {
    trigger: (id: string, position: number): Promise<Definition | undefined> =>
      upTo(`${trigger.category}-${id}`, position, triggerAfter),
    automation: (id: string, position: number): Promise<AutomationContent | undefined> =>
      upTo(`${automation.category}-${id}`, position, automationAfter),
  };
};

export type PastDefinitions = ReturnType<typeof pastDefinitions>;
