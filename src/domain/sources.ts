// Nonspacing marks that no letter took in, and signs that are not shown.
const withoutWidth = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Mn}\p{Me}]/gu;

/** True if a source, or the type of an event, is the platform's or the store's, or looks like one of theirs. */
export const isReserved = (source: string): boolean => {
  const foldedSource = source.normalize('NFKC').replace(withoutWidth, '').toUpperCase().toLowerCase();
  return foldedSource.startsWith('@platform/') || foldedSource.startsWith('$');
};

/** How the sources of other programs' events begin that the platform listens to. */
export type ForeignSources = readonly string[];

/** All sources: each begins with the empty text. */
export const everySource: ForeignSources = [''];
