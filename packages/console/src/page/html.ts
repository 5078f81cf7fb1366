import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';

type Template = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

// Its types are those of its form for CommonJS.
const template = htm as unknown as { readonly bind: (make: typeof h) => Template };

/** Makes elements of a template. Values are text or attributes, never HTML. */
export const html = template.bind(h);

export type Children = ComponentChildren;

/** A value as people read it: a text as it is, nothing as nothing, anything else as JSON. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
