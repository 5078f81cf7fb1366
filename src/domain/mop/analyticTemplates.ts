import { type Static, Type } from 'typebox';
import { aggregate, type EventOf, type Frozen, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import type { DocumentKind } from '../engine/documentKinds.ts';
import { importedIn } from '../engine/importedDocuments.ts';
import { ifItFits } from '../engine/lenientSchemas.ts';
import { anyMembers, flag, nothing, restoredAs, text, topicsOf, typed } from '../engine/topics.ts';
import { comparators } from './comparisons.ts';
import {
  atMost,
  deletedTemplate,
  followedByTemplate,
  headerInEvents,
  headerOf,
  passRule,
  severity,
  type TemplateState,
  templateDecisions,
  templateDocuments,
  templateNames,
  templateSchemas,
} from './mopTemplates.ts';
import { type Flags, flagsSchema } from './searches.ts';

const command = (description: string) => Type.Optional(Type.String({ maxLength: 1000, description }));
const pattern = (description: string) => Type.Optional(Type.String({ maxLength: 4096, description }));
const html = (description: string) => Type.Optional(Type.String({ description }));

/** The known types and evaluations. A template may hold unknown ones, but a run of it then fails. */
const types = ['regex', 'matches', '!matches', 'table'] as const;
const evaluations = [...comparators, 'contains', '!contains'] as const;
export type AnalyticType = (typeof types)[number];
export type AnalyticEvaluation = (typeof evaluations)[number];
export const typeOf = (text = 'regex'): AnalyticType | undefined => types.find((type) => type === text);
export const evaluationOf = (text = '='): AnalyticEvaluation | undefined =>
  evaluations.find((evaluation) => evaluation === text);
const others = 'Any other is refused when the template runs';

/** A rule for the answers before and after. */
export const analyticRuleSchema = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        maxLength: 256,
        default: 'regex',
        description: `The kind of comparison (docs/command-templates.md): ${types.join(', ')}. ${others}`,
      }),
    ),
    preRegex: pattern('Pattern for the answer before; without one the whole answer, of a table each line'),
    postRegex: pattern('Pattern for the answer after; that for the answer before where there is none'),
    evaluation: Type.Optional(
      Type.String({
        maxLength: 256,
        default: '=',
        description: `How what was found before compares with what was found after: ${evaluations.join(', ')}. ${others}`,
      }),
    ),
    severity,
    flags: Type.Optional({ ...flagsSchema, [ifItFits]: true }),
  },
  { additionalProperties: false, title: 'AnalyticRule', description: 'How answers before and after must compare' },
);

const pairSchema = Type.Object(
  {
    preRawCommand: command('The command that was asked before'),
    postRawCommand: command('The command that was asked after'),
    passRule: passRule('rules'),
    rules: atMost(100, analyticRuleSchema, 'How the answers must compare'),
    preCommandResHTML: html('The answer before, to be shown; kept as given'),
    postCommandResHTML: html('The answer after, to be shown; kept as given'),
  },
  { additionalProperties: false, title: 'CommandPair', description: 'A command before and after, and its rules' },
);

/** An analytic template (docs/command-templates.md). */
const schemas = templateSchemas('AnalyticTemplate', 'analytic template', {
  prepostCommands: atMost(100, pairSchema, 'Commands before and after'),
});
export const {
  fresh: newAnalyticTemplateSchema,
  document: analyticTemplateSchema,
  change: analyticTemplateChangeSchema,
  imported: importedAnalyticTemplateSchema,
} = schemas;

export type AnalyticTemplateDocument = Static<typeof importedAnalyticTemplateSchema>;
export type AnalyticRule = Static<typeof analyticRuleSchema>;

const pair = Type.Object({
  preRawCommand: text,
  postRawCommand: text,
  passRule: flag,
  rules: typed<readonly Frozen<AnalyticRule>[]>()(Type.Array(anyMembers)),
  preCommandResHTML: text,
  postCommandResHTML: text,
});
export type CommandPair = SchemaData<typeof pair>;
const content = Type.Object({ ...headerInEvents, prepostCommands: Type.Array(pair) });
export type AnalyticTemplateContent = SchemaData<typeof content>;

const topics = topicsOf({
  analyticTemplateCreated: ['An analytic template was created', content],
  analyticTemplateChanged: ['Members of an analytic template changed', Type.Partial(content)],
  analyticTemplateRestored: restoredAs('An analytic template', content.properties),
  analyticTemplateDeleted: ['An analytic template was deleted', nothing],
});
export type AnalyticTemplateEvent = EventOf<typeof topics>;

const pairOf = ({
  preRawCommand = '',
  postRawCommand = '',
  passRule = true,
  rules = [],
  preCommandResHTML = '',
  postCommandResHTML = '',
}: Static<typeof pairSchema>): CommandPair => ({
  preRawCommand,
  postRawCommand,
  passRule,
  rules,
  preCommandResHTML,
  postCommandResHTML,
});

/** The content of a template with defaults, without id, times and authors. */
export const contentOf = ({ prepostCommands = [], ...header }: AnalyticTemplateDocument): AnalyticTemplateContent => ({
  ...headerOf(header),
  prepostCommands: prepostCommands.map(pairOf),
});

export const analyticTemplate = aggregate<TemplateState<AnalyticTemplateContent>, AnalyticTemplateEvent>({
  area: 'mop',
  category: 'analyticTemplate',
  topics,
  initial: { exists: false },
  evolve: {
    analyticTemplateCreated: (_, content) => ({ exists: true, content }),
    analyticTemplateChanged: (state, changed) =>
      state.content ? { ...state, content: { ...state.content, ...changed } } : state,
    analyticTemplateRestored: (_, { name, description, os, passRule, namespace, prepostCommands, imported }) => {
      const content = { name, description, os, passRule, namespace, prepostCommands };
      return { exists: true, content, ...importedIn(defined({ imported }), content) };
    },
    analyticTemplateDeleted: deletedTemplate,
  },
  names: templateNames('analyticTemplate'),
  follows: followedByTemplate,
});

/** The patterns of all rules, with their paths. */
export const patternsIn = ({
  prepostCommands,
}: AnalyticTemplateContent): readonly { readonly path: string; readonly text: string; readonly flags?: Flags }[] =>
  prepostCommands.flatMap(({ rules }, i) =>
    rules.flatMap(({ flags, ...rule }, j) =>
      (['preRegex', 'postRegex'] as const).flatMap((member) => {
        const text = rule[member];
        return text ? [{ path: `/prepostCommands/${i}/rules/${j}/${member}`, text, ...defined({ flags }) }] : [];
      }),
    ),
  );

export const { create, change, importOne, remove } = templateDecisions({
  kind: 'analyticTemplate',
  word: 'template',
  contentOf,
  faultsIn: () => [],
  parts: schemas.parts,
});

/** Analytic templates of any installation. */
export const analyticTemplateDocuments: DocumentKind = {
  of: analyticTemplate,
  name: 'analytic template',
  types: ['mop-analytic-template'],
  is: ({ prepostCommands }) => Array.isArray(prepostCommands),
  ...templateDocuments('analytics', '/mop/listAnalyticTemplates'),
};
