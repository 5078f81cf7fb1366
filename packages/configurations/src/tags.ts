import { TextFault } from './textFault.ts';
import { isBlank } from './words.ts';

export type Mode = 'required' | 'disallowed' | 'ignored';
export type Severity = 'error' | 'warning' | 'info';
export type Ordering = 'none' | 'strict' | 'loose';

/**
 * The meaning of the tags before a line. `ordering` is about the section below the line; `anywhere`: the line takes no
 * part in the order.
 */
export type Tags = {
  readonly mode?: Mode;
  readonly severity?: Severity;
  readonly ordering?: Ordering;
  readonly anywhere?: true;
};

const tags: Readonly<Record<string, Tags>> = {
  '{d/}': { mode: 'disallowed' },
  '{i/}': { mode: 'ignored' },
  '<e/>': { severity: 'error' },
  '<w/>': { severity: 'warning' },
  '<i/>': { severity: 'info' },
  '{lso/}': { ordering: 'strict' },
  '{llo/}': { ordering: 'loose' },
  '{nao/}': { anywhere: true },
};

export const noTags: Tags = {};

const tag = /\{[A-Za-z]+\/\}|<[A-Za-z]+\/>/y;

/** Reads the tags at an index. `end` is where the words begin. Throws `TextFault` for an unknown tag. */
export const tagsAt = (text: string, from: number, line: number): { readonly tags: Tags; readonly end: number } => {
  let all = noTags;
  let at = from;
  for (tag.lastIndex = at; tag.test(text); tag.lastIndex = at) {
    const written = text.slice(at, tag.lastIndex);
    const one = Object.hasOwn(tags, written) ? tags[written] : undefined;
    if (!one) throw new TextFault(`The tag ${written} is unknown`, line);
    all = { ...all, ...one };
    at = tag.lastIndex;
    while (isBlank(text, at)) at++;
  }
  return { tags: all, end: at };
};
