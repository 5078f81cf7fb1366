import type { Severity } from './tags.ts';

export type Totals = {
  readonly errors: number;
  readonly warnings: number;
  readonly infos: number;
  readonly passes: number;
};

export const noTotals: Totals = { errors: 0, warnings: 0, infos: 0, passes: 0 };

export const addTotals = (one: Totals, other: Totals): Totals => ({
  errors: one.errors + other.errors,
  warnings: one.warnings + other.warnings,
  infos: one.infos + other.infos,
  passes: one.passes + other.passes,
});

type Grade = 'pass' | 'review' | 'fail';

export type Grading = {
  readonly weights: Readonly<Record<Severity, number>>;
  readonly benchmarks: { readonly pass: number; readonly review: number };
};

const usualGrading: Grading = {
  weights: { error: 2, warning: 1, info: 0.5 },
  benchmarks: { pass: 90, review: 80 },
};

export type Graded = { readonly score: number | null; readonly grade: Grade | null };

/** The score, to two decimals, and the grade of the score before it was rounded. Null if nothing was compared. */
export const gradeOf = (
  { errors, warnings, infos, passes }: Totals,
  { weights, benchmarks }: Grading = usualGrading,
): Graded => {
  const all = weights.error * errors + weights.warning * warnings + weights.info * infos + passes;
  if (errors + warnings + infos + passes === 0) return { score: null, grade: null };
  const score = all === 0 ? 100 : (passes / all) * 100;
  const below = score >= benchmarks.review ? 'review' : 'fail';
  return { score: Math.round(score * 100) / 100, grade: score >= benchmarks.pass ? 'pass' : below };
};
