/** A template for the engine to render. The engine renders one template at a time. */
export type Work = { readonly template: string; readonly variables: Readonly<Record<string, unknown>> };

/** The engine's answers: `ready` when it can render, then one outcome for each work. */
export type Outcome = 'ready' | { readonly text: string } | { readonly line: number; readonly reason: string };
