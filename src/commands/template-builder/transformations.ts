import { compileUserSchema } from '@automation-platform/bounded-schemas';
import { isObject, type Members, own, plainValue } from '@automation-platform/json';
import { type Finding, planTransformation } from '@automation-platform/transformations';
import { RequestError } from '../../domain/engine/requestError.ts';
import { faultsInTheOpen, maskSecrets } from '../../domain/engine/secretFields.ts';
import type { Evaluation, TransformationRun } from '../../domain/engine/transforming.ts';
import {
  readTransformation,
  type TransformationDocument,
  transformation,
  transformationDecisions,
  transformationDocumentSchema,
  transformationDocuments,
} from '../../domain/template-builder/transformations.ts';
import { transformations } from '../../projections/template-builder/transformations.ts';
import type { Tools } from '../engine/define.ts';
import { keptCommands } from '../keptDocuments/keptCommands.ts';

/** The commands on transformations. */
export const transformationCommands = keptCommands({
  of: transformation,
  documents: transformationDocuments,
  schema: transformationDocumentSchema,
  decisions: transformationDecisions,
  collection: transformations,
  referrersOf: async () => [],
});
export const transformationKind = transformationCommands.kind;

type Findings = { readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] };

/** The faults of a transformation, with which it cannot run, and its warnings, but for those of its schemas. */
export const planOf = (document: Members): Findings => planTransformation(plainValue(document));

/** The schema of an input, and its name. */
const inputsOf = ({
  incoming,
}: TransformationDocument): readonly { readonly name: string; readonly schema: Members }[] =>
  incoming.flatMap((input) => {
    if (!isObject(input)) return [];
    const { $id, ...schema } = input;
    return [{ name: String($id), schema }];
  });

const schemaWarnings = (document: TransformationDocument): readonly Finding[] =>
  inputsOf(document).flatMap(({ schema }, i) => {
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

/** The document of the transformation that a name or id means; undefined if there is none. */
export const transformationNamed = async (
  idOrName: string,
  { find, state }: Pick<Tools, 'find' | 'state'>,
): Promise<TransformationDocument | undefined> => {
  const id = await find(transformations, idOrName);
  if (id === undefined) return undefined;
  const { exists, content } = await state(transformation, id);
  return exists ? content : undefined;
};

const findings = new WeakMap<TransformationDocument, Findings>();

/** Why the transformation of a name or id cannot run; undefined if it can. */
export const whyUnfit = async (idOrName: string, tools: Pick<Tools, 'find' | 'state'>): Promise<string | undefined> => {
  const document = await transformationNamed(idOrName, tools);
  if (!document) return `There is no transformation ${JSON.stringify(idOrName)}`;
  const known = findings.get(document) ?? planOf(document);
  findings.set(document, known);
  const [fault] = known.faults;
  return fault && `The transformation ${JSON.stringify(document.name)} has a fault: ${fault.message} (${fault.path})`;
};

/** The options of a run, by the words of published tasks. */
type RunOptions = { readonly validateIncoming?: unknown; readonly revertToDefaultValue?: unknown };

/** Throws `unprocessable` with the places of inputs that do not fit their schemas. A schema that cannot be used checks nothing. */
const refuseUnfit = (
  document: TransformationDocument,
  incoming: Members,
  { validateIncoming, revertToDefaultValue }: RunOptions,
): void => {
  if (validateIncoming !== true) return;
  const inputs = maskSecrets(incoming) as Members;
  const faults = inputsOf(plainValue(document) as TransformationDocument).flatMap(({ name, schema }) => {
    const input = own(inputs, name);
    if (input === undefined && revertToDefaultValue === true && schema.default !== undefined) return [];
    const use = compileUserSchema(schema);
    const errors = use.ok ? use.matches(input ?? null).errors : [];
    return faultsInTheOpen(errors, input).map((fault) => ({ ...fault, path: `/incoming/${name}${fault.path}` }));
  });
  const [first] = faults;
  if (first)
    throw new RequestError(
      'unprocessable',
      `The inputs do not fit the transformation: ${first.path} ${first.message}`,
      {
        faults,
      },
    );
};

/** The outputs of a transformation. Throws `unprocessable` if inputs do not fit, and as `Transform` says. */
export const transformedBy = async (
  document: TransformationDocument,
  { options = {}, ...run }: Omit<TransformationRun, 'document'> & { readonly options?: RunOptions },
  evaluation: Evaluation,
  { transform }: Pick<Tools, 'transform'>,
): Promise<Members> => {
  refuseUnfit(document, run.incoming, options);
  const revertToDefaultValue = options.revertToDefaultValue === true;
  return transform({ ...run, document: plainValue(document), revertToDefaultValue }, evaluation);
};
