export {
  type Appended,
  type Batch,
  type Filter,
  maxAppend,
  maxEvent,
  type NewEvent,
  type StoredEvent,
  sizeFault,
  WrongRevision,
} from './events.ts';
export { type Foreign, isForeign, isText, unwrapForeign, wrapForeign } from './foreign.ts';
export { textsOf } from './foreignText.ts';
export { claimedHash, hashIn, hashOf, link, mentionsHash, sumOf, withHash, withoutHash } from './links.ts';
export {
  identityStream,
  isMetastream,
  isOfLog,
  isPart,
  metadataType,
  metastreamOf,
  partsStream,
  tombstoneType,
} from './streams.ts';
