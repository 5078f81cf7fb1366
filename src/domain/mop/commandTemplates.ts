import { type Static, Type } from 'typebox';
import { aggregate, type EventOf, type Frozen, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import type { DocumentKind } from '../engine/documentKinds.ts';
import { importedIn } from '../engine/importedDocuments.ts';
import { ifItFits } from '../engine/lenientSchemas.ts';
import type { Fault } from '../engine/requestError.ts';
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
import { type Flags, flagsSchema, isPattern } from './searches.ts';

/** The known evaluations. A template may hold unknown ones, but a run of it then fails. */
const evaluations = ['contains', '!contains', 'contains1', 'RegEx', '!RegEx', '#comparison'] as const;
export type Evaluation = (typeof evaluations)[number];
export const evaluationOf = (text: string): Evaluation | undefined =>
  evaluations.find((evaluation) => evaluation === text);

/** A rule for an answer. */
export const ruleSchema = Type.Object(
  {
    rule: Type.String({
      maxLength: 4096,
      description:
        'Text or pattern to look for; <!name!> stands for a variable. An empty one is no condition: it holds',
    }),
    eval: Type.String({
      maxLength: 256,
      description: `How the answer is looked at (docs/command-templates.md): ${evaluations.join(', ')}. Any other is refused when the template runs`,
    }),
    severity,
    flags: Type.Optional({ ...flagsSchema, [ifItFits]: true }),
    ruleB: Type.Optional(
      Type.String({
        maxLength: 4096,
        [ifItFits]: true,
        description: 'The other side of a #comparison: a pattern between slashes, or a value',
      }),
    ),
    evaluator: Type.Optional(
      Type.Enum([...comparators, '%'], { [ifItFits]: true, description: 'How a #comparison compares' }),
    ),
    percentage: Type.Optional(
      Type.Number({
        minimum: 0,
        [ifItFits]: true,
        description: 'With the evaluator %: how much of the first value the second may be',
      }),
    ),
    raw: Type.Optional(
      Type.String({ maxLength: 16_384, description: 'The rule before variables were put in; kept as given' }),
    ),
    result: Type.Optional(Type.Boolean({ description: 'Outcome of a run; kept as given' })),
  },
  { additionalProperties: false, title: 'CommandRule', description: 'A condition on the answer to a command' },
);

export const commandText = Type.String({
  maxLength: 1000,
  pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$',
  description: 'The command, line by line; <!name!> stands for a variable',
});

const commandSchema = Type.Object(
  {
    command: Type.Optional(commandText),
    passRule: passRule('rules'),
    rules: atMost(100, ruleSchema, 'Conditions on its answer'),
  },
  { additionalProperties: false, title: 'TemplateCommand', description: 'A command and its rules' },
);

/** A command template (docs/command-templates.md). */
const schemas = templateSchemas('CommandTemplate', 'command template', {
  commands: atMost(100, commandSchema, 'Commands, in order'),
});
export const {
  fresh: newCommandTemplateSchema,
  document: commandTemplateSchema,
  change: commandTemplateChangeSchema,
  imported: importedCommandTemplateSchema,
} = schemas;

export type CommandTemplateDocument = Static<typeof importedCommandTemplateSchema>;
export type Rule = Static<typeof ruleSchema>;

const rules = typed<readonly Frozen<Rule>[]>()(Type.Array(anyMembers));
const content = Type.Object({
  ...headerInEvents,
  commands: Type.Array(Type.Object({ command: text, passRule: flag, rules })),
});
export type CommandTemplateContent = SchemaData<typeof content>;

const topics = topicsOf({
  commandTemplateCreated: ['A command template was created', content],
  commandTemplateChanged: ['Members of a command template changed', Type.Partial(content)],
  commandTemplateRestored: restoredAs('A command template', content.properties),
  commandTemplateDeleted: ['A command template was deleted', nothing],
});
export type CommandTemplateEvent = EventOf<typeof topics>;

/** The content of a template with defaults, without id, times and authors. */
export const contentOf = ({ commands = [], ...header }: CommandTemplateDocument): CommandTemplateContent => ({
  ...headerOf(header),
  commands: commands.map(({ command = '', passRule = true, rules = [] }) => ({ command, passRule, rules })),
});

export const commandTemplate = aggregate<TemplateState<CommandTemplateContent>, CommandTemplateEvent>({
  area: 'mop',
  category: 'commandTemplate',
  topics,
  initial: { exists: false },
  evolve: {
    commandTemplateCreated: (_, content) => ({ exists: true, content }),
    commandTemplateChanged: (state, changed) =>
      state.content ? { ...state, content: { ...state.content, ...changed } } : state,
    commandTemplateRestored: (_, { name, description, os, passRule, namespace, commands, imported }) => {
      const content = { name, description, os, passRule, namespace, commands };
      return { exists: true, content, ...importedIn(defined({ imported }), content) };
    },
    commandTemplateDeleted: deletedTemplate,
  },
  names: templateNames('commandTemplate'),
  follows: followedByTemplate,
});

/** All rules with their paths in the template. */
const rulesIn = ({ commands }: CommandTemplateContent) =>
  commands.flatMap(({ rules }, i) => rules.map((rule, j) => ({ rule, path: `/commands/${i}/rules/${j}` })));

/** The patterns of all rules, with their paths. Only a comparison looks at `ruleB`. */
export const patternsIn = (
  content: CommandTemplateContent,
): readonly { readonly path: string; readonly text: string; readonly flags?: Flags }[] =>
  rulesIn(content).flatMap(({ rule: { rule, ruleB, eval: how, flags }, path }) => {
    const patterns: { path: string; text: string }[] = [];
    if (how === 'RegEx' || how === '!RegEx' || how === '#comparison')
      patterns.push({ path: `${path}/rule`, text: rule });
    if (how === '#comparison' && ruleB !== undefined && isPattern(ruleB))
      patterns.push({ path: `${path}/ruleB`, text: ruleB });
    return patterns.map((pattern) => ({ ...pattern, ...defined({ flags }) }));
  });

/**
 * The rules that lack members. A row that a designer leaves behind when a person chooses another `eval` or evaluator is no
 * fault: nothing looks at it.
 */
export const faultsIn = (content: CommandTemplateContent): readonly Fault[] =>
  rulesIn(content).flatMap(({ rule, path }): Fault[] => {
    if (rule.eval !== '#comparison' || rule.rule === '') return [];
    const percentage = rule.evaluator === '%';
    const needed = percentage ? (['ruleB', 'evaluator', 'percentage'] as const) : (['ruleB', 'evaluator'] as const);
    return needed
      .filter((member) => rule[member] === undefined || rule[member] === '')
      .map(
        (member): Fault => ({
          message: `A #comparison${percentage ? ' by %' : ''} needs ${member}`,
          path: `${path}/${member}`,
        }),
      );
  });

export const { create, change, importOne, remove } = templateDecisions({
  kind: 'commandTemplate',
  word: 'mop',
  contentOf,
  faultsIn,
  parts: schemas.parts,
});

/** Command templates of any installation. */
export const commandTemplateDocuments: DocumentKind = {
  of: commandTemplate,
  name: 'command template',
  types: ['mop-template'],
  is: ({ commands }) => Array.isArray(commands),
  ...templateDocuments('templates', '/mop/listTemplates'),
};
