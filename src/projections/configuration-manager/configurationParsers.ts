import { configurationParser, type ParserContent } from '../../domain/configuration-manager/configurationParsers.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type ConfigurationParser = { readonly _id: string } & ParserContent & Authored;

/** Parsers of configurations; authors are ids of accounts. */
export const configurationParsers = projection<ConfigurationParser>()(configurationParser, {
  collection: 'configurationParsers',
  on: {
    configurationParserCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    configurationParserUpdated: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    configurationParserDeleted: () => undefined,
  },
  sorts: { name: ({ name }) => name },
  filters: { name: ({ name }) => name },
});
