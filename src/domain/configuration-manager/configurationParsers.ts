import { comparedTypes, isBuiltInType, type LexRule, lexActions } from '@automation-platform/configurations';
import { type Static, Type } from 'typebox';
import { gbacSchema } from '../authorization/gbac.ts';
import { authored, objectId } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { type Fault, RequestError, refuseFaults } from '../engine/requestError.ts';
import { closed, name, orNull } from '../engine/schemas.ts';
import { nothing, text, topicsOf, typed } from '../engine/topics.ts';

const members = {
  name: name('Name, unique among parsers; trees and devices name it as their type'),
  template: Type.Enum([...comparedTypes], {
    description: 'Built-in type in whose form lines are written, and read unless there are rules',
  }),
  lexRules: Type.Array(
    Type.Tuple([Type.String({ minLength: 1, maxLength: 1000 }), Type.Enum([...lexActions])], {
      description: 'A regular expression, and the part of a text that it finds',
    }),
    { maxItems: 100, description: 'Rules that cut a text; of those that fit at a place the first one counts' },
  ),
};

const { name: nameMember, template, lexRules } = members;
const optional = { lexRules: Type.Optional(lexRules) };

/** The body of `createConfigurationParser`. */
export const newParserSchema = closed(
  { name: nameMember, template, ...optional },
  { title: 'NewConfigurationParser', description: 'New parser' },
);
export type NewParser = Static<typeof newParserSchema>;

export const parserChangesSchema = closed(
  { name: Type.Optional(nameMember), template: Type.Optional(template), ...optional },
  { title: 'ConfigurationParserChanges', description: 'Changes of a parser' },
);

/** A parser in an import. Ids, times and authors of exports are taken. */
export const parserItemSchema = closed(
  {
    id: Type.Optional(objectId('Id')),
    _id: Type.Optional(objectId('Id')),
    ...newParserSchema.properties,
    gbac: Type.Optional(gbacSchema),
    ...Type.Partial(Type.Object(authored)).properties,
    updated: Type.Optional(authored.lastUpdated),
  },
  { title: 'ConfigurationParserItem', description: 'Parser to take in' },
);

/** A parser in answers. */
export const parserSchema = Type.Object(
  {
    id: orNull(objectId('Id; null: a built-in type')),
    ...members,
    gbac: gbacSchema,
    ...Type.Partial(Type.Object(authored)).properties,
    created: orNull(authored.created),
    updated: orNull(authored.lastUpdated),
  },
  { title: 'ConfigurationParser', description: 'Parser' },
);

const content = Type.Object({
  name: text,
  template: text,
  lexRules: typed<readonly LexRule[]>()(Type.Array(Type.Tuple([text, text]))),
});
export type ParserContent = SchemaData<typeof content>;

const topics = topicsOf({
  configurationParserCreated: ['A parser of configurations was created', content],
  configurationParserUpdated: ['Members of a parser of configurations changed', Type.Partial(content)],
  configurationParserDeleted: ['A parser of configurations was deleted', nothing],
});
export type ParserEvent = EventOf<typeof topics>;

type State = { readonly exists: boolean; readonly content: ParserContent };

/** Says how texts of a type of devices that has no form of its own are read. */
export const configurationParser = aggregate<State, ParserEvent>({
  area: 'configuration-manager',
  category: 'configurationParser',
  topics,
  initial: { exists: false, content: { name: '', template: '', lexRules: [] } },
  evolve: {
    configurationParserCreated: (_, content) => ({ exists: true, content }),
    configurationParserUpdated: (state, changes) => ({ ...state, content: { ...state.content, ...changes } }),
    configurationParserDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: ({ exists }) => exists,
  names: ({ exists, content: { name } }) => (exists ? [{ kind: 'configurationParser', name }] : []),
});

/** `ruleFaults`: of rules that cannot be used. `referrers`: the trees that name the parser. */
export type ParserRefs = { readonly ruleFaults: readonly Fault[]; readonly referrers: readonly Referrer[] };
type Checked = Context<ParserRefs>;
type Given = Static<typeof parserChangesSchema>;

/** Throws `conflict` for the name of a built-in type, and `invalid` for rules that cannot be used. */
const refuseUnfit = ({ name }: Given, { refs: { ruleFaults } }: Checked): void => {
  refuseFaults('invalid', ruleFaults);
  if (name !== undefined && isBuiltInType(name))
    throw new RequestError('conflict', `${JSON.stringify(name)} is a built-in type`, { path: '/name' });
};

const contentOf = (before: ParserContent, { name, template, lexRules }: Given): ParserContent => ({
  name: name ?? before.name,
  template: template ?? before.template,
  lexRules: lexRules ?? before.lexRules,
});

export const create = ({ content }: State, input: NewParser, context: Checked): readonly ParserEvent[] => {
  refuseUnfit(input, context);
  return [{ topic: 'configurationParserCreated', data: contentOf({ ...content, lexRules: [] }, input) }];
};

/** Changes the members that are given. */
export const update = ({ content }: State, input: Given, context: Checked): readonly ParserEvent[] => {
  refuseUnfit(input, context);
  const { changed } = changesBetween(content, contentOf(content, input)) ?? {};
  if (!changed) return [];
  if (changed.name !== undefined) refuseReferred(context.refs.referrers, 'renamed');
  return [{ topic: 'configurationParserUpdated', data: changed }];
};

type Taken = { readonly parser: NewParser; readonly overwrite: boolean };

/** Takes in a parser. The same content again is no change; other content needs `overwrite`. */
export const importOne = (state: State, { parser, overwrite }: Taken, context: Checked): readonly ParserEvent[] => {
  if (!state.exists) return create(state, parser, context);
  const whole = { lexRules: [], ...parser };
  if (!overwrite && !same(state.content, contentOf(state.content, whole)))
    throw new RequestError('conflict', 'Another parser has this id', { path: '/id' });
  return update(state, whole, context);
};

export const remove = (_: State, __: unknown, { refs: { referrers } }: Checked): readonly ParserEvent[] => {
  refuseReferred(referrers, 'deleted');
  return [{ topic: 'configurationParserDeleted', data: {} }];
};
