const begin = 'part:';

/** The idempotency key of a reaction's command, which changes a stream because of an event. */
export const followUpKey = (stream: string, revision: number): string => `${begin}${stream}@${revision}`;

export const isFollowUp = (key: string): boolean => key.startsWith(begin);

/** The event that a reaction's idempotency key names. */
export const causeOf = (key: string): { readonly stream: string; readonly revision: number } => {
  const at = key.lastIndexOf('@');
  return { stream: key.slice(begin.length, at), revision: Number(key.slice(at + 1)) };
};
