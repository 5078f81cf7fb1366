/** What the engine is asked. One at a time. */
export type Work = { readonly template: string; readonly variables: Readonly<Record<string, unknown>> };

/** What it answers: `ready` once it can take work, then an outcome for each work. */
export type Outcome = 'ready' | { readonly text: string } | { readonly line: number; readonly reason: string };
