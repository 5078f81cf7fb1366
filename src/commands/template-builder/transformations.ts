import { compileUserSchema, findFaults } from '@automation-platform/bounded-schemas';
import { type Members, plainValue } from '@automation-platform/json';
import { type Finding, planTransformation } from '@automation-platform/transformations';
import type { Actor } from '../../domain/engine/core.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import type { Evaluation, TransformationRun } from '../../domain/engine/transforming.ts';
import {
  inputSchemas,
  type RunOptions,
  readTransformation,
  refuseUnfitInputs,
  type TransformationDocument,
  transformation,
  transformationDecisions,
  transformationDocumentSchema,
  transformationDocuments,
} from '../../domain/template-builder/transformations.ts';
import { triggers } from '../../projections/operations-manager/triggers.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import { transformations } from '../../projections/template-builder/transformations.ts';
import { whyNotRun } from '../engine/access.ts';
import type { Tools } from '../engine/define.ts';
import { referrerOf } from '../engine/references.ts';
import { keptCommands } from '../keptDocuments/keptCommands.ts';

/** The lock of decisions on which transformations exist, what their names are, and which of them triggers name. */
export const transformationReferences = 'transformationReferences';

/** The workflows and triggers that name a transformation. Names that the actor may not see are replaced. */
const referrersOf = async (
  id: string,
  names: readonly string[],
  actor: Actor,
  tools: Tools,
): Promise<readonly Referrer[]> => {
  const any: { readonly field: 'transformation'; readonly op: 'equals'; readonly value: string }[] = [];
  for (const value of new Set(names))
    if ((await tools.find(transformations, value)) === id) any.push({ field: 'transformation', op: 'equals', value });
  if (any.length === 0) return [];
  const ofWorkflows = await tools.query(workflows, { any });
  const ofTriggers = await tools.query(triggers, { any });
  return [
    ...ofWorkflows.map((doc) => referrerOf(workflows, doc, actor, tools)),
    ...ofTriggers.map((doc) => referrerOf(triggers, doc, actor, tools)),
  ];
};

/** The commands on transformations. */
export const transformationCommands = keptCommands({
  of: transformation,
  documents: transformationDocuments,
  schema: transformationDocumentSchema,
  decisions: transformationDecisions,
  collection: transformations,
  referrersOf,
  lock: transformationReferences,
});
export const transformationKind = transformationCommands.kind;

type Findings = { readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] };

/** The faults of a transformation, with which it cannot run, and its warnings, but for those of its schemas. */
export const planOf = (document: Members): Findings => planTransformation(plainValue(document));

const schemaWarnings = (document: TransformationDocument): readonly Finding[] =>
  inputSchemas(document).flatMap(({ schema }, i) => {
    const use = compileUserSchema(schema);
    if (use.ok) return [];
    return [{ code: 'schema', path: `/incoming/${i}`, message: `It is not checked: ${use.reason}` }];
  });

/** The same with the warnings of its schemas. Throws `invalid` for what is no transformation. */
export const findingsIn = (document: Members): Findings => {
  const plain = readTransformation(plainValue(document) as Members);
  const { faults, warnings } = planOf(plain);
  return { faults, warnings: [...warnings, ...schemaWarnings(plain)] };
};

/** The document of the transformation that a name or id means; undefined if there is none that the actor may run. */
export const transformationNamed = async (
  idOrName: string,
  tools: Pick<Tools, 'find' | 'state' | 'stateForRights' | 'gbacAbove'>,
  actor: Actor,
): Promise<TransformationDocument | undefined> => {
  const id = await tools.find(transformations, idOrName);
  if (id === undefined || (await whyNotRun({ of: transformation, id }, actor, tools))) return undefined;
  const { exists, content } = await tools.state(transformation, id);
  return exists ? content : undefined;
};

const findings = new WeakMap<TransformationDocument, Findings>();

/** Why the actor cannot run the transformation of a name or id; undefined if it can. */
export const whyUnfit = async (idOrName: string, actor: Actor, tools: Tools): Promise<string | undefined> => {
  const document = await transformationNamed(idOrName, tools, actor);
  if (!document) return `There is no transformation ${JSON.stringify(idOrName)}`;
  const cachedFindings = findings.get(document) ?? planOf(document);
  findings.set(document, cachedFindings);
  const [fault] = cachedFindings.faults;
  return fault && `The transformation ${JSON.stringify(document.name)} has a fault: ${fault.message} (${fault.path})`;
};

/** The outputs of a transformation. Throws `unprocessable` if inputs do not fit, and as `Transform` says. */
export const transformedBy = async (
  document: Pick<TransformationDocument, 'incoming'>,
  { options = {}, ...run }: Omit<TransformationRun, 'document'> & { readonly options?: RunOptions },
  evaluation: Evaluation,
  { transform }: Pick<Tools, 'transform'>,
): Promise<Members> => {
  refuseUnfitInputs(document, run.incoming, options, findFaults);
  const revertToDefaultValue = options.revertToDefaultValue === true;
  return transform({ ...run, document: plainValue(document), revertToDefaultValue }, evaluation);
};
