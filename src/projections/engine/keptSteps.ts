import type { Members } from '@automation-platform/json';
import type { Authored } from '../../domain/engine/authors.ts';
import { keptIn, keptWith } from '../../domain/engine/keptDocuments.ts';
import type { Recorded } from '../../store/event.ts';
import { authorship, idOf, touched } from './define.ts';

/** The steps of a projection of documents that are kept with all their members (domain/engine/keptDocuments.ts). */
export const keptSteps = <Doc extends Authored>() => {
  const documentAfter = (event: Recorded<Members>, { created, createdBy, lastUpdated, lastUpdatedBy }: Authored): Doc =>
    keptWith(idOf(event), keptIn(event.data), { created, createdBy, lastUpdated, lastUpdatedBy }) as Members as Doc;
  return {
    create: (_: Doc | undefined, event: Recorded<Members>): Doc => documentAfter(event, authorship(event)),
    replace: (doc: Doc | undefined, event: Recorded<Members>): Doc | undefined =>
      doc && documentAfter(event, { ...doc, ...touched(event) }),
    restore: (_: Doc | undefined, event: Recorded<Members & Authored>): Doc => documentAfter(event, event.data),
    remove: (): undefined => undefined,
  };
};
