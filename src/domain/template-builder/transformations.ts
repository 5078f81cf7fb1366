import { isObject, type Members, own, plainValue } from '@automation-platform/json';
import { Type } from 'typebox';
import { aggregate, type EventOf } from '../engine/core.ts';
import { at, type DocumentKind, listOf } from '../engine/documentKinds.ts';
import { type KeptState, keptDecisions, keptEvolve } from '../engine/keptDocuments.ts';
import { followsProject } from '../engine/namespaces.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import {
  faultsInTheOpen,
  type IsSecret,
  isSecretName,
  isSecretOfDocument,
  maskSecrets,
} from '../engine/secretFields.ts';
import { anything, nothing, restoredAs, text, topicsOf } from '../engine/topics.ts';

/** A transformation as its author wrote it. All members are kept. */
export type TransformationDocument = Members & {
  readonly name: string;
  readonly incoming: readonly unknown[];
  readonly outgoing: readonly unknown[];
  readonly steps: readonly unknown[];
};

const parts = (description: string) => Type.Array(Type.Unknown(), { description });

/** A transformation in requests: what the service does not know is kept. */
export const transformationDocumentSchema = Type.Unsafe<Members>(
  Type.Object(
    {
      name: name('Name, unique among transformations'),
      incoming: parts('Inputs: JSON Schemas, each with its name in $id'),
      outgoing: parts('Outputs: JSON Schemas, each with its name in $id'),
      steps: parts('Steps, and the assignments that wire them'),
    },
    {
      additionalProperties: true,
      title: 'TransformationDocument',
      description: 'Transformation as its author wrote it; all members are kept',
    },
  ),
);

const mostBytes = 1024 * 1024;
const mostSteps = 2000;
const mostFunctions = 200;
const mostPlaces = 100;

const refuse = (message: string, path: string): never => {
  throw new RequestError('invalid', message, { path });
};

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The document and the functions in it, the outer ones first. */
const scopesIn = (document: Members): readonly Members[] => {
  const scopes: Members[] = [document];
  for (const { functions } of scopes) for (const one of itemsOf(functions)) if (isObject(one)) scopes.push(one);
  return scopes;
};

/**
 * Checks that a JSON value has the form of a transformation, and that its plan can be made at once. Throws `invalid` with
 * the path. A document of this form is kept even if it has faults.
 */
export const readTransformation = (document: Members): TransformationDocument => {
  for (const member of ['incoming', 'outgoing', 'steps'])
    if (!Array.isArray(document[member])) refuse('It must be a list', `/${member}`);
  const scopes = scopesIn(document);
  const steps = scopes.reduce((sum, one) => sum + itemsOf(one.steps).length, 0);
  if (steps > mostSteps) refuse(`A transformation has ${mostSteps} steps and assignments at most`, '/steps');
  if (scopes.length > mostFunctions + 1)
    refuse(`A transformation has ${mostFunctions} functions at most`, '/functions');
  for (const member of ['incoming', 'outgoing'])
    if (scopes.some((one) => itemsOf(one[member]).length > mostPlaces))
      refuse(`A transformation has ${mostPlaces} inputs and ${mostPlaces} outputs at most`, `/${member}`);
  if (new TextEncoder().encode(JSON.stringify(document)).length > mostBytes)
    refuse('A transformation has 1 MiB at most', '');
  return document as TransformationDocument;
};

const content = {
  name: text,
  incoming: Type.Array(anything),
  outgoing: Type.Array(anything),
  steps: Type.Array(anything),
};

const topics = topicsOf({
  transformationCreated: ['A transformation was created', Type.Object(content)],
  transformationReplaced: ['A transformation got another content', Type.Object(content)],
  transformationRestored: restoredAs('A transformation', content),
  transformationDeleted: ['A transformation was deleted', nothing],
});
export type TransformationEvent = EventOf<typeof topics>;

/** A transformation as it is stored: with sealed secrets, and with the marks of packages/json. */
type TransformationState = KeptState<TransformationDocument>;

const { become, restore, end } = keptEvolve<TransformationDocument>();

export const transformation = aggregate<TransformationState, TransformationEvent>({
  area: 'template-builder',
  category: 'transformation',
  topics,
  initial: { exists: false, content: { name: '', incoming: [], outgoing: [], steps: [] } },
  evolve: {
    transformationCreated: become,
    transformationReplaced: become,
    transformationRestored: restore,
    transformationDeleted: end,
  },
  names: ({ exists, content: { name } }) => (exists ? [{ kind: 'transformation', name }] : []),
  follows: ({ content }) => followsProject(content.name),
});

/** The secrets of a transformation: what stands under a secret's name, and the default of an input of such a name. */
export const secretsOfTransformation = (document: Members): IsSecret => {
  const schemas = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [member, inner] of Object.entries(value)) {
      if (isSecretName(member)) schemas.add(inner);
      if (member === '$id' && typeof inner === 'string' && isSecretName(inner)) schemas.add(value);
      walk(inner);
    }
  };
  walk(document);
  return (member, members) => isSecretOfDocument(member, members) || (member === 'default' && schemas.has(members));
};

export const transformationDecisions = keptDecisions<TransformationDocument, TransformationEvent>({
  name: 'transformation',
  read: (document) => readTransformation(plainValue(document) as Members),
  secrets: secretsOfTransformation,
});

/** Transformations of any installation. */
export const transformationDocuments: DocumentKind = {
  of: transformation,
  name: 'transformation',
  types: ['transformation'],
  secrets: (document, work) => work(document, secretsOfTransformation(document)) as Members,
  is: ({ name, incoming, outgoing, steps }) =>
    typeof name === 'string' && [incoming, outgoing, steps].every((one) => Array.isArray(one)),
  importing: listOf('PUT', '/template_builder/transformations', 'transformations'),
  ...at('/template_builder/transformations'),
};

/** The options of a run, by the words of published tasks. */
export type RunOptions = { readonly validateIncoming?: unknown; readonly revertToDefaultValue?: unknown };

type WithInputs = Pick<TransformationDocument, 'incoming'>;

/** The schemas of the inputs, with their names. */
export const inputSchemas = ({
  incoming,
}: WithInputs): readonly { readonly name: string; readonly schema: Members }[] =>
  incoming.flatMap((input) => {
    if (!isObject(input)) return [];
    const { $id, ...schema } = input;
    return [{ name: String($id), schema }];
  });

/**
 * Throws `unprocessable` with the places of inputs that do not fit their schemas, if the options ask for that. `faultsOf`: the
 * faults of a value under a schema; none if the schema cannot be used.
 */
export const refuseUnfitInputs = (
  document: WithInputs,
  incoming: Members,
  { validateIncoming, revertToDefaultValue }: RunOptions,
  faultsOf: (schema: Members, value: unknown) => readonly (Fault & { readonly path: string })[],
): void => {
  if (validateIncoming !== true) return;
  const inputs = maskSecrets(incoming) as Members;
  const faults = inputSchemas(plainValue(document) as WithInputs).flatMap(({ name, schema }) => {
    const input = own(inputs, name);
    if (input === undefined && revertToDefaultValue === true && schema.default !== undefined) return [];
    const open = faultsInTheOpen(faultsOf(schema, input ?? null), input);
    return open.map((fault) => ({ ...fault, path: `/incoming/${name}${fault.path}` }));
  });
  const [first] = faults;
  if (first)
    throw new RequestError(
      'unprocessable',
      `The inputs do not fit the transformation: ${first.path} ${first.message}`,
      { faults },
    );
};
