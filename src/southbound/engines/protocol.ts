import type { Template, Texts } from '@automation-platform/jinja';
import type { TransformationRun } from '../../domain/engine/transforming.ts';
import type { Evaluated, Expression } from '../jsonata/evaluate.ts';
import type {
  ComparisonRun,
  DiffRun,
  FollowingTextRun,
  GenerationRun,
  PredictionRun,
  SimulationRun,
  SpecificationRun,
  TranslationRun,
  WayRun,
} from '../port.ts';

/** Comparisons that the engine makes as one work. */
type Comparisons = { readonly comparisons: readonly ComparisonRun[] };

/** The work of the engine. It takes one work at a time. */
export type Work =
  | Template
  | Expression
  | TransformationRun
  | Comparisons
  | SpecificationRun
  | GenerationRun
  | TranslationRun
  | DiffRun
  | FollowingTextRun
  | PredictionRun
  | WayRun
  | SimulationRun;

/** The templates that the engine wanted. */
export type Supplied = { readonly supplied: Texts };

/** The engine wants templates, to go on with its work. */
type Wants = { readonly wanted: readonly string[] };

/** How the rendering of a template ends. `template` is the one that has the line, if it is not the one to render. */
type Rendered =
  | { readonly text: string }
  | { readonly line: number; readonly reason: string; readonly template?: string | undefined };

/** How a work ends. */
export type Outcome = Rendered | Evaluated;

/** The words of the engine: `ready` once it can take work, then the templates that it wants, and one outcome for each work. */
type Said = 'ready' | Wants | Outcome;

/** `usedMs`: the processor time of the engine since its start, in milliseconds. */
export type Message = { readonly message: Said; readonly usedMs: number };
