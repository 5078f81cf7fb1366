/**
 * The beginning of the idempotency keys of all reactions to events of a stream. The revision of the event completes the
 * key.
 */
export const followUpKey = (stream: string): string => `part:${stream}@`;
