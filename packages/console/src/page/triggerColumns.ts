import type { Operations } from '@automation-platform/client';
import { html } from './html.ts';
import { type Column, Link, Status, Time } from './parts.ts';

export type Trigger = Operations['operations-manager.getTrigger']['answer']['data'];

export const triggerTypes = {
  manual: 'manual',
  eventSystem: 'event',
  schedule: 'schedule',
  endpoint: 'endpoint',
} as const;
export type TriggerType = keyof typeof triggerTypes;

export const kindOf = ({ type }: Trigger): string => triggerTypes[type];

/** When a trigger runs next, in milliseconds since 1970; null: nobody knows, or never. */
export const nextRunOf = (trigger: Trigger): number | null =>
  ('nextRunAt' in trigger ? trigger.nextRunAt : undefined) ?? null;

export const nameColumn: Column<Trigger> = {
  title: 'Trigger',
  kind: 'wide',
  cell: ({ _id: id, name }) => html`<${Link} to=${['triggers', id]}>${name}</${Link}>`,
};

/** The columns of lists of triggers. */
export const columns: readonly Column<Trigger>[] = [
  { title: 'Kind', cell: kindOf },
  { title: 'State', cell: ({ enabled }) => html`<${Status} word=${enabled ? 'enabled' : 'disabled'} />` },
  { title: 'Last run', cell: ({ lastExecuted }) => html`<${Time} at=${lastExecuted} otherwise="never" />` },
  { title: 'Next run', cell: (trigger) => html`<${Time} at=${nextRunOf(trigger)} />` },
];
