export { checker } from './checker.ts';
export type { SchemaFault } from './faults.ts';
export { type Filters, filters } from './filters.ts';
export { formats } from './formats.ts';
export { patternMatcher, schemaMatcher } from './matchers.ts';
export { linearPattern, linearPatterns, type Pattern, type Patterns } from './patterns.ts';
export { pinnedIn } from './pinned.ts';
export { SchemaError } from './schemaError.ts';
export {
  compileFilter,
  compileUserSchema,
  findFaults,
  schemaFaultOf,
  type UserSchema,
  type Values,
} from './userSchema.ts';
