import type { Texts } from './library.ts';

/** A template for the engine to render. It takes one at a time. `name`: it is the stored one of that name. */
export type Work = {
  readonly template: string;
  readonly name?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
};

/** The templates that the engine wanted. */
export type Supplied = { readonly supplied: Texts };

/** The engine wants templates, to go on with its work. */
type Wants = { readonly wanted: readonly string[] };

/** How a work ends. `template` is the one that has the line, if it is not the one to render. */
export type Outcome =
  | { readonly text: string }
  | { readonly line: number; readonly reason: string; readonly template?: string | undefined };

/** The engine's answers: `ready` once it can take work, then what it wants, and one outcome for each work. */
export type Message = 'ready' | Wants | Outcome;
