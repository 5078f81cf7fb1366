const begin = 'part:';

/**
 * The idempotency key of a reaction's command, which changes a stream because of an event. `before`: how many commands
 * that follow from the same event change the same stream before this one.
 */
export const followUpKey = (stream: string, revision: number, before = 0): string =>
  `${begin}${stream}@${revision}${before > 0 ? `#${before}` : ''}`;

export const isFollowUp = (key: string): boolean => key.startsWith(begin);

/** The event that a reaction's idempotency key names. */
export const causeOf = (key: string): { readonly stream: string; readonly revision: number } => {
  const at = key.lastIndexOf('@');
  return { stream: key.slice(begin.length, at), revision: parseInt(key.slice(at + 1), 10) };
};
