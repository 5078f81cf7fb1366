import type { Members } from '@automation-platform/json';
import type { Authored } from '../../domain/engine/authors.ts';
import { keptIn, keptWith } from '../../domain/engine/keptDocuments.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, made, touched } from './define.ts';

/** The steps of a projection of documents that are kept with all their members (domain/engine/keptDocuments.ts). */
export const keptSteps = <Doc extends Authored>() => {
  const shown = (event: Recorded<Members>, { created, createdBy, lastUpdated, lastUpdatedBy }: Authored): Doc =>
    keptWith(idOf(event), keptIn(event.data), { created, createdBy, lastUpdated, lastUpdatedBy }) as Members as Doc;
  return {
    created: (_: Doc | undefined, event: Recorded<Members>): Doc => shown(event, made(event)),
    replaced: (doc: Doc | undefined, event: Recorded<Members>): Doc | undefined =>
      doc && shown(event, { ...doc, ...touched(event) }),
    restored: (_: Doc | undefined, event: Recorded<Members & Authored>): Doc => shown(event, event.data),
    deleted: (): undefined => undefined,
  };
};
