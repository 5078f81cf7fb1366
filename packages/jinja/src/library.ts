import { limits } from './budget.ts';
import { limitError, TemplateError } from './errors.ts';
import type { Tree } from './parse/nodes.ts';

/** A template that has been parsed. The one to render has no name if its text was given. */
export type Loaded = { readonly name: string | undefined; readonly tree: Tree };

/** Names of stored templates and their texts; null where there is none. */
export type Texts = readonly (readonly [string, string | null])[];

/** Thrown where a template is needed of which nobody knows yet whether there is one. */
export class Wanted extends Error {
  readonly template: string;

  constructor(template: string) {
    super(`The template ${template} is wanted`);
    this.name = 'Wanted';
    this.template = template;
  }
}

/** The stored templates that one rendering uses. */
export type Library = {
  /** Takes what was found. */
  readonly add: (texts: Texts) => void;
  /** Names that the templates say literally and that nobody has looked for yet. */
  readonly wanted: () => readonly string[];
  /** Notes the literal names in a template. */
  readonly note: (tree: Tree) => void;
  /** The template of a name; undefined if there is none. Throws `TemplateError` if it does not parse. */
  readonly find: (name: string) => Loaded | undefined;
};

const longestName = 256;

export const newLibrary = (parse: (text: string) => Tree): Library => {
  const texts = new Map<string, string | null>();
  const loaded = new Map<string, Loaded>();
  const literal = new Set<string>();

  const note = ({ names }: Tree): void => {
    for (const name of names) if (name !== '' && name.length <= longestName) literal.add(name);
  };

  const load = (name: string, text: string): Loaded => {
    try {
      const template = { name, tree: parse(text) };
      loaded.set(name, template);
      note(template.tree);
      return template;
    } catch (error) {
      if (error instanceof TemplateError) throw new TemplateError(error.message, error.line, name);
      throw error;
    }
  };

  /** Parses a text for the names in it. An error counts only when the template is used. */
  const look = (name: string, text: string): void => {
    try {
      load(name, text);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  };

  return {
    note,
    add: (found) => {
      for (const [name, text] of found) {
        texts.set(name, text);
        if (text !== null) look(name, text);
      }
    },
    wanted: () => [...literal].filter((name) => !texts.has(name)).slice(0, limits.templates - texts.size),
    find: (name) => {
      if (name === '' || name.length > longestName) return undefined;
      const text = texts.get(name);
      if (text === null) return undefined;
      if (text !== undefined) return loaded.get(name) ?? load(name, text);
      if (texts.size >= limits.templates)
        throw limitError(`The template uses more than ${limits.templates} other templates`);
      throw new Wanted(name);
    },
  };
};
