import type { Members } from '@automation-platform/json';

/** Refuses a text that is no list of nodes. */
export type Refuse = (message: string) => never;

/** A node as a source gives it. Secrets are in clear. */
export type SourceNode = { readonly name: string; readonly attributes: Members; readonly tags: string[] };

/** The nodes of a source; `leftOut`: what has no name, by what else says which one it is. */
export type SourceNodes = { readonly nodes: readonly SourceNode[]; readonly leftOut: readonly string[] };
