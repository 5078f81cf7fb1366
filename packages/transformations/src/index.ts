export { limits } from './budget.ts';
export type { Finding } from './document.ts';
export { methods } from './methods/all.ts';
export { type Plan, type Planned, planTransformation } from './plan.ts';
export { randomOf } from './random.ts';
export { type Querying, type Ran, type RunError, type RunOptions, runTransformation } from './run.ts';
export type { Method, Parameter } from './signatures.ts';
