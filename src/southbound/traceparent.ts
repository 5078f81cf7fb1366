import { randomBytes } from 'node:crypto';

// Later versions than 00 may have more parts at the end. Version ff is invalid.
const form =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<trace>(?!0{32})[0-9a-f]{32})-(?<parent>(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;

/** Reads a `traceparent` of W3C Trace Context. An invalid one is undefined and counts as not sent. */
export const traceparentOf = (header: string): string | undefined => {
  if (header === '') return undefined;
  const parts = form.exec(header)?.groups;
  if (!parts || (parts.version === '00' && parts.more !== undefined)) return undefined;
  return `${parts.version}-${parts.trace}-${parts.parent}-${parts.flags}`;
};

/** The traceparent for a call that a request causes: the same trace, with this service as the parent. */
export const childOf = (traceparent: string): string => {
  const [, trace, , flags = '00'] = traceparent.split('-');
  // Version 00 defines only the first flag.
  const sampled = (parseInt(flags, 16) & 1).toString().padStart(2, '0');
  return `00-${trace}-${newParent()}-${sampled}`;
};

const newParent = (): string => {
  const id = randomBytes(8).toString('hex');
  return /^0+$/.test(id) ? newParent() : id;
};
