export { changedItems, piecesOf } from './changedItems.ts';
export { type Comparison, compareLines } from './compare.ts';
export { comparedTypes, deviceTypeOf, isBuiltInType } from './deviceTypes.ts';
export { type Golden, goldenBounds, mergeGoldens, readGolden, type SpecLine, specLines } from './golden.ts';
export { type LexRule, lexActions, type Parser, type Rules } from './lexing.ts';
export type { Lines } from './lines.ts';
export { type Mask, masking } from './masking.ts';
export { configurationBounds, readConfiguration, type TextForm } from './readLines.ts';
export { type Remedy, remedyOf } from './remedy.ts';
export { addTotals, type Grading, gradeOf, noTotals } from './score.ts';
export {
  changedLines,
  isChange,
  lasting,
  type StoredDifference,
  storedDifference,
  textAfter,
} from './storedDifference.ts';
export { type DiffPart, type DiffUnit, diffTexts, diffUnits, maskedLine } from './textDiff.ts';
export { TextFault } from './textFault.ts';
export { shownDiff, unifiedDiff } from './unifiedDiff.ts';
export { unmarked, withoutMarks, wordsOf } from './words.ts';
export { asTemplate, goldenLines, nestedLines, requiredLines, type Written, writeLines } from './writeLines.ts';
