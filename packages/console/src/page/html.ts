import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';

type Template = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

// Its types are those of its form for CommonJS.
const template = htm as unknown as { readonly bind: (make: typeof h) => Template };

/** Makes elements of a template. Values are text or attributes, never HTML. */
export const html = template.bind(h);

export type Children = ComponentChildren;
