import type { Header } from '../../domain/mop/mopTemplates.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf } from '../engine/define.ts';

/** A template as it is stored. Times are epoch milliseconds; authors are ids of accounts. */
export type TemplateDoc<C> = { readonly _id: string } & C & {
    readonly created: number;
    readonly createdBy: string | null;
    readonly lastUpdated: number;
    readonly lastUpdatedBy: string | null;
  };

/** The steps of a projection for one kind of template. */
export const templateSteps = <C extends Header>() => {
  type Doc = TemplateDoc<C>;
  const now = ({ metadata: { at, actor } }: Recorded) => ({ lastUpdated: Date.parse(at), lastUpdatedBy: actor.id });
  return {
    created: (_: Doc | undefined, event: Recorded<C>): Doc => ({
      _id: idOf(event),
      ...event.data,
      created: Date.parse(event.metadata.at),
      createdBy: event.metadata.actor.id,
      ...now(event),
    }),
    changed: (doc: Doc | undefined, event: Recorded<Partial<C>>): Doc | undefined =>
      doc && { ...doc, ...event.data, ...now(event) },
    restored: (
      _: Doc | undefined,
      event: Recorded<
        C & {
          readonly imported?: unknown;
          readonly created: string;
          readonly createdBy: string | null;
          readonly lastUpdated: string;
          readonly lastUpdatedBy: string | null;
        }
      >,
    ): Doc => {
      const { created, lastUpdated } = event.data;
      const document = {
        _id: idOf(event),
        ...event.data,
        created: Date.parse(created),
        lastUpdated: Date.parse(lastUpdated),
      };
      // The imported document is only in exports. Omit<...> of a type parameter would not be the document's type.
      delete document.imported;
      return document;
    },
    deleted: (): undefined => undefined,
  };
};

/** The sort fields of templates. */
export const templateSorts = {
  name: (doc: TemplateDoc<Header>) => doc.name,
  created: (doc: TemplateDoc<Header>) => new Date(doc.created).toISOString(),
  lastUpdated: (doc: TemplateDoc<Header>) => new Date(doc.lastUpdated).toISOString(),
};

/** The filter fields of templates. */
export const templateFilters = {
  name: (doc: TemplateDoc<Header>) => doc.name,
  os: (doc: TemplateDoc<Header>) => doc.os,
};
