/**
 * The idempotency keys of what follows from events of a stream begin so; with the revision of the event they are
 * complete.
 */
export const followUpKey = (stream: string): string => `part:${stream}@`;
