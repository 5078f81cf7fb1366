/** The resource of an event: the category of its stream, and the id after the first dash. */
export type Resource = { readonly kind: string; readonly id: string };

/** A kind in words: `group mapping` for `groupMapping`. */
export const wordsOf = (kind: string): string => kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** `<kind>/<id>`. */
export const resourceText = ({ kind, id }: Resource): string => `${kind}/${id}`;

/** The resource that a text of the form `<kind>/<id>` names; undefined if it has another form. */
export const resourceIn = (text: string): Resource | undefined => {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1) return undefined;
  return { kind: text.slice(0, slash), id: text.slice(slash + 1) };
};

/** Streams about a resource that is not their own: they are seen by who sees that resource. */
export const streamsAbout: Readonly<Record<string, string>> = { triggerSchedule: 'trigger', triggerRuns: 'trigger' };
