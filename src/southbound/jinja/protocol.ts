/** A template for the engine to render. It takes one at a time. */
export type Work = { readonly template: string; readonly variables: Readonly<Record<string, unknown>> };

/** The engine's answers: `ready` once it can take work, then one outcome for each work. */
export type Outcome = 'ready' | { readonly text: string } | { readonly line: number; readonly reason: string };
