import { comparedTypes } from '@automation-platform/configurations';
import { Type } from 'typebox';
import {
  createConfigurationParser,
  deleteConfigurationParser,
  importConfigurationParser,
  updateConfigurationParser,
} from '../../commands/configuration-manager/configurationParsers.ts';
import {
  parserChangesSchema,
  parserItemSchema,
  parserSchema,
} from '../../domain/configuration-manager/configurationParsers.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import {
  type ConfigurationParser,
  configurationParsers,
} from '../../projections/configuration-manager/configurationParsers.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import { signed } from '../authorization/people.ts';
import { succeeded } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, mappedCommandRoute } from '../engine/routes.ts';
import { success } from '../engine/schemas.ts';

const path = '/configurations/parser';
const gbac = { read: [], write: [] };
const parserId = name('Id or name of the parser');

/** A parser in answers: with the names of members that clients read, and usernames. */
const showParser: Join<ConfigurationParser> = async (doc, service, call) => {
  const { _id: id, ...members } = (await signed(doc, service, call)) as ConfigurationParser;
  return { id, ...members, gbac, updated: members.lastUpdated };
};

const builtIn = comparedTypes.map((type) => ({
  id: null,
  name: type,
  template: type,
  lexRules: [],
  gbac,
  created: null,
  updated: null,
}));

const inParser = (text: string): string => `{"parser":${text}}`;
const answer = Type.Object({ parser: parserSchema });

const list = actionRoute({
  name: 'getConfigurationParsers',
  method: 'get',
  reads: true,
  shows: configurationParsers,
  path,
  access: ['operators', 'readers'],
  summary: 'List the types of devices whose configurations are compared, and the parsers',
  description: 'First the built-in types, without ids, then the parsers, sorted by name.',
  answer: Type.Object({ list: Type.Array(parserSchema), total: Type.Integer() }),
  run: async (call, service) => {
    const own = [];
    for await (const entries of pagesOf(service.model, configurationParsers, { sort: 'name', order: 1, length: 100 }))
      for (const entry of entries) own.push(await showParser(documentIn(configurationParsers, entry), service, call));
    const all = [...builtIn, ...own];
    return { body: { list: all, total: all.length } };
  },
});

const take = importRoute({
  name: 'importConfigurationParsers',
  method: 'post',
  path: '/import/parsers',
  access: ['operators'],
  summary: 'Import parsers',
  description: 'Takes parsers as the list answers them, but no built-in types. The same content again is no change.',
  member: 'parsers',
  document: parserItemSchema,
  itemSchema: parserSchema,
  take: async ({ document, overwrite, fresh, about }, service, call) => {
    const { id, _id = id ?? fresh, name, template, lexRules } = document;
    const parser = { name, template, ...(lexRules && { lexRules }) };
    const input = { parser, overwrite };
    const { doc, position, replayed } = await service.handle(importConfigurationParser, { ...about, id: _id, input });
    return { data: await showParser(doc as ConfigurationParser, service, call), position, replayed }; // its own document
  },
});

/** Parsers of configurations (docs/comparing.md). */
export const configurationParserRoutes: readonly Route[] = [
  list,
  commandRoute({
    name: 'createConfigurationParser',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Create a parser',
    description:
      'Says how configurations of a type without a form of its own are read. 409 for the name of a built-in type.',
    command: createConfigurationParser,
    join: showParser,
    envelope: inParser,
    answer,
  }),
  mappedCommandRoute({
    name: 'updateConfigurationParser',
    method: 'put',
    path,
    access: ['operators'],
    summary: 'Change a parser',
    description: 'Members that are given change. One that a tree names keeps its name.',
    command: updateConfigurationParser,
    named: (_, { id }) => id,
    body: closed({ id: parserId, ...parserChangesSchema.properties }),
    input: (_, { id: __, ...changes }) => changes,
    join: showParser,
    envelope: inParser,
    answer,
  }),
  mappedCommandRoute({
    name: 'deleteConfigurationParser',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a parser that no tree names',
    command: deleteConfigurationParser,
    named: (_, { id }) => id,
    body: closed({ id: parserId }),
    input: () => ({}),
    envelope: succeeded('Successfully deleted parser'),
    answer: success,
  }),
  take,
];
