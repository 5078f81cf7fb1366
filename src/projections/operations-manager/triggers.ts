import type { Authored } from '../../domain/engine/authors.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import type { TriggerPatch } from '../../domain/operations-manager/triggerMembers.ts';
import { patched, type TriggerContent, trigger } from '../../domain/operations-manager/triggers.ts';
import { transformationOf } from '../../domain/operations-manager/triggerVariables.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';
import { documentGuard } from '../engine/guards.ts';
import { automations } from './automations.ts';

// Runs of triggers have streams of their own, so that a run never makes an editor's `If-Match` stale.
const noRuns: { readonly lastExecuted: number | null } = { lastExecuted: null };
const noScheduledRuns: { readonly nextRunAt: number | null; readonly lastIntervalStart: number | null } = {
  nextRunAt: null,
  lastIntervalStart: null,
};

export type TriggerDoc = { readonly _id: string } & TriggerContent &
  Authored &
  typeof noRuns &
  Partial<typeof noScheduledRuns>;

// Readers see secrets only masked, so the document keeps the mask alone.
const masked = <C extends TriggerContent | TriggerPatch>(content: C): C => maskSecrets(content) as C;

const triggerDocument = (_id: string, content: TriggerContent & Authored): TriggerDoc => {
  const doc = { _id, ...masked(content), ...noRuns };
  return content.type === 'schedule' ? { ...doc, ...noScheduledRuns } : doc;
};

/** Triggers of all four types; authors are ids of accounts. */
export const triggers = projection<TriggerDoc>()(trigger, {
  collection: 'triggers',
  on: {
    triggerCreated: (_, event) => triggerDocument(idOf(event), { ...event.data, ...authorship(event) }),
    triggerChanged: (doc, event) => doc && patched(doc, { ...masked(event.data), ...touched(event) }),
    triggerRestored: (_, event) => {
      const { imported: __, ...document } = event.data;
      return triggerDocument(idOf(event), document);
    },
    triggerDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    type: (doc) => doc.type,
    enabled: (doc) => String(doc.enabled),
    actionId: (doc) => doc.actionId,
    routeName: (doc) => (doc.type === 'endpoint' ? doc.routeName : []),
    source: (doc) => (doc.type === 'eventSystem' ? doc.source : []),
    topic: (doc) => (doc.type === 'eventSystem' ? doc.topic : []),
    formId: (doc) => ('formId' in doc ? (doc.formId ?? []) : []),
    transformation: (doc) => {
      const transformation = transformationOf(doc);
      return transformation.kind === 'named' ? transformation.idOrName : [];
    },
  },
  guard: (doc) => documentGuard(automations, doc.actionId),
});
