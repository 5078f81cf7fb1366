export { canonical } from './canonical.ts';
export { derivedId } from './derivedId.ts';
export {
  exactEntries,
  exactNumber,
  exactText,
  exactValue,
  inOrder,
  isKept,
  mark,
  numeral,
  plainValue,
  withoutOrder,
} from './exactJson.ts';
export { isObject, type Members, own } from './members.ts';
export { nearestName } from './nearest.ts';
export { applyPatch, type PatchedMember, type PatchOperation } from './patches.ts';
export { step, stepsOf } from './pointer.ts';
export { cut, decoded, isWellFormed, redacted } from './texts.ts';
