import { linearPatterns } from '@automation-platform/bounded-schemas';
import { isBuiltInType, type LexRule, type Parser } from '@automation-platform/configurations';
import { Type } from 'typebox';
import {
  configurationParser,
  create,
  importOne,
  newParserSchema,
  type ParserContent,
  type ParserRefs,
  parserChangesSchema,
  remove,
  update,
} from '../../domain/configuration-manager/configurationParsers.ts';
import type { Actor } from '../../domain/engine/core.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import type { Fault } from '../../domain/engine/requestError.ts';
import { configurationParsers } from '../../projections/configuration-manager/configurationParsers.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { referrerOf } from '../engine/references.ts';

const command = commandsOf(configurationParser);

/** The rules whose expressions cannot be matched in linear time, or are too large. */
const faultsOf = (rules: readonly LexRule[] = []): readonly Fault[] => {
  const patterns = linearPatterns('re2');
  return rules.flatMap(([expression], i) => {
    try {
      patterns.get(expression);
      return [];
    } catch (error) {
      return [{ message: (error as Error).message, path: `/lexRules/${i}/0` }];
    }
  });
};

type Request = { readonly state: { readonly content: ParserContent }; readonly actor: Actor };

const referrersOf = async ({ state, actor }: Request, tools: Tools): Promise<readonly Referrer[]> => {
  const documents = await tools.query(trees, { field: 'deviceType', op: 'equals', value: state.content.name });
  return documents.map((doc) => referrerOf(trees, doc, actor, tools));
};

const refsOf = async (request: Request, tools: Tools, rules?: readonly LexRule[]): Promise<ParserRefs> => ({
  ruleFaults: faultsOf(rules),
  referrers: await referrersOf(request, tools),
});

export const createConfigurationParser = command({
  name: 'createConfigurationParser',
  input: newParserSchema,
  on: 'new',
  prepare: (request, tools) => refsOf(request, tools, request.input.lexRules),
  decide: create,
});

export const updateConfigurationParser = command({
  name: 'updateConfigurationParser',
  input: parserChangesSchema,
  on: 'existing',
  prepare: (request, tools) => refsOf(request, tools, request.input.lexRules),
  decide: update,
});

/** Takes in one parser. */
export const importConfigurationParser = command({
  name: 'importConfigurationParser',
  input: Type.Object({ parser: newParserSchema, overwrite: Type.Boolean() }),
  on: 'any',
  prepare: (request, tools) => refsOf(request, tools, request.input.parser.lexRules),
  decide: importOne,
});

export const deleteConfigurationParser = command({
  name: 'deleteConfigurationParser',
  input: noInput,
  on: 'existing',
  prepare: (request, tools) => refsOf(request, tools),
  decide: remove,
});

export const configurationParserKind: Kind = {
  of: configurationParser,
  restore: { there: by(updateConfigurationParser), deleted: by(createConfigurationParser) },
};

/** The parser of a type of devices as it is now, as a member of a comparison; none for types that are built in or unknown. */
const parserOf = async (deviceType: string, tools: Pick<Tools, 'query'>): Promise<{ readonly parser?: Parser }> => {
  if (deviceType === '' || isBuiltInType(deviceType)) return {};
  const [parser] = await tools.query(configurationParsers, { field: 'name', op: 'equals', value: deviceType });
  if (!parser) return {};
  const { template, lexRules } = parser;
  return { parser: { template, lexRules: lexRules as readonly LexRule[] } }; // pairs, which the type of events does not say
};

/** Makes the function that adds the parser of the type of devices, as it is now. */
export const parserAdder =
  (tools: Pick<Tools, 'query'>) =>
  async <Run extends { readonly deviceType: string }>(run: Run): Promise<Run> => ({
    ...run,
    ...(await parserOf(run.deviceType, tools)),
  });

/** Makes work on golden texts and configurations that adds the parser of the type of devices, as it is now, to what it is told. */
export const parsing = (tools: Pick<Tools, 'query'>) => {
  const addParser = parserAdder(tools);
  return <Run extends { readonly deviceType: string }, Evaluation, Result>(
    work: (run: Run, evaluation: Evaluation) => Promise<Result>,
  ) =>
    async (run: Run, evaluation: Evaluation): Promise<Result> =>
      work(await addParser(run), evaluation);
};
