import { exactText, isObject, type Members } from '@automation-platform/json';
import { signatureMembers } from '../../domain/engine/authors.ts';
import type { ApiRequest } from '../askService.ts';

/** Only the import of packages has a dry run. */
export type ImportOptions = { readonly overwrite: boolean; readonly dryRun: boolean };

/** A kind of document that can be brought in. */
export type Kind = {
  readonly name: string;
  /** Whether a document is of this kind, by its members. */
  readonly is: (document: Members) => boolean;
  /** The request that imports a document. */
  readonly importing: (document: string, options: ImportOptions) => ApiRequest;
  /** The path that lists the ids and names of another platform's documents; undefined if it has no such list. */
  readonly list?: string;
  /** The request that exports a document of another platform in the words of its import. */
  readonly exporting: (id: string) => ApiRequest;
};

const has = (document: Members, ...names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(document, name));

const listOf =
  (method: 'POST' | 'PUT', path: string, member: string) =>
  (document: string, { overwrite }: ImportOptions): ApiRequest => ({
    method,
    path,
    body: `{${JSON.stringify(member)}:[${document}],"overwrite":${overwrite}}`,
  });

const exportAt = (path: string) => (id: string) =>
  ({ method: 'GET', path: `${path}/${encodeURIComponent(id)}/export?as=imported` }) as const;

const mop = (type: string, list: string): Pick<Kind, 'importing' | 'exporting' | 'list'> => ({
  list,
  importing: (document, { overwrite }) => ({
    method: 'POST',
    path: '/mop/import',
    body: `{"type":"${type}","template":${document},"overwrite":${overwrite}}`,
  }),
  exporting: (_id) => ({
    method: 'POST',
    path: '/mop/export',
    body: JSON.stringify({ type, options: { _id, as: 'imported' } }),
  }),
});

/** The members of a device group beside its name and devices. */
const groupMembers: readonly string[] = ['_id', 'description', ...signatureMembers];

/** In the order in which they are imported: what others name comes first. */
export const kinds: readonly Kind[] = [
  {
    name: 'package',
    is: (document) => isObject(document.metadata) && isObject(document.manifest) && Array.isArray(document.bundles),
    importing: (document, options) => ({
      method: 'POST',
      path: '/prebuilts/import',
      body: `{"prebuilt":${document},"options":${JSON.stringify(options)}}`,
    }),
    list: '/prebuilts',
    exporting: exportAt('/prebuilts'),
  },
  {
    name: 'form',
    is: (document) =>
      has(document, 'struct', 'uiSchema', 'bindingSchema', 'validationSchema') ||
      (has(document, 'children') && has(document, 'elements', 'groups')),
    importing: listOf('POST', '/json-forms/import/forms', 'forms'),
    list: '/json-forms/forms',
    exporting: exportAt('/json-forms/forms'),
  },
  {
    name: 'command template',
    is: ({ commands }) => Array.isArray(commands),
    ...mop('templates', '/mop/listTemplates'),
  },
  {
    name: 'analytic template',
    is: ({ prepostCommands }) => Array.isArray(prepostCommands),
    ...mop('analytics', '/mop/listAnalyticTemplates'),
  },
  {
    name: 'template',
    is: ({ template, name }) => typeof template === 'string' && typeof name === 'string',
    importing: listOf('POST', '/template_builder/import/templates', 'templates'),
    list: '/template_builder/templates',
    exporting: exportAt('/template_builder/templates'),
  },
  {
    name: 'device group',
    is: ({ name, devices, ...others }) =>
      typeof name === 'string' &&
      Array.isArray(devices) &&
      devices.every((one) => typeof one === 'string') &&
      Object.keys(others).every((member) => groupMembers.includes(member)),
    importing: (document) => ({
      method: 'POST',
      path: '/configuration_manager/import/groups',
      body: `{"groups":[${document}]}`,
    }),
    list: '/configuration_manager/deviceGroups',
    exporting: exportAt('/configuration_manager/devicegroups'),
  },
  {
    name: 'golden configuration',
    is: ({ data, versions }) => isListOf(data, 'root') || isListOf(versions, 'root'),
    importing: listOf('POST', '/configuration_manager/import/configs', 'trees'),
    list: '/configuration_manager/configs',
    exporting: exportAt('/configuration_manager/configs'),
  },
  {
    name: 'automation',
    is: (document) => has(document, 'componentType', 'componentName') && isObject(document.gbac),
    importing: listOf('PUT', '/operations-manager/automations', 'automations'),
    list: '/operations-manager/automations',
    exporting: exportAt('/operations-manager/automations'),
  },
  {
    name: 'resource model',
    is: ({ name, schema, actions }) => typeof name === 'string' && isObject(schema) && Array.isArray(actions),
    importing: (document, { overwrite }) => ({
      method: 'POST',
      path: '/lifecycle-manager/resources/import',
      body: `{"model":${document},"overwrite":${overwrite}}`,
    }),
    list: '/lifecycle-manager/resources',
    exporting: exportAt('/lifecycle-manager/resources'),
  },
  {
    name: 'scheduled job',
    is: ({ name, data }) => typeof name === 'string' && isObject(data) && typeof data.workflowId === 'string',
    importing: listOf('POST', '/automation_catalog/import/scheduled-jobs', 'scheduledJobs'),
    list: '/automation_catalog/scheduled-jobs',
    exporting: exportAt('/automation_catalog/scheduled-jobs'),
  },
];

/** Kinds that are known and that no import takes, by their members. Most come in as documents of a package. */
const leftOut: readonly Pick<Kind, 'name' | 'is'>[] = [
  { name: 'project', is: ({ components, name }) => Array.isArray(components) && typeof name === 'string' },
  { name: 'workflow', is: ({ tasks, transitions }) => isObject(tasks) && isObject(transitions) },
  { name: 'transformation', is: ({ steps, incoming }) => Array.isArray(steps) && Array.isArray(incoming) },
  { name: 'OpenAPI document', is: (document) => has(document, 'openapi', 'swagger') && has(document, 'paths') },
];

/** The name of the kind of a document that no import takes; null if nobody knows its kind. */
const leftOutKind = (document: Members): string | null => leftOut.find((one) => one.is(document))?.name ?? null;

const isListOf = (value: unknown, member: string): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one) && has(one, member));

/** A document that was found, as JSON text. */
export type Found = {
  /** Where it was found: a file, or a path of the other platform. */
  readonly from: string;
  readonly name: string;
  /** Undefined if no import takes such documents. */
  readonly kind: Kind | undefined;
  /** The kind of a document that no import takes; null if it is unknown. */
  readonly leftOut: string | null;
  readonly text: string;
};

/** The members that wrap one document, or a list of documents. */
const wrappers = [
  'prebuilt',
  'data',
  'results',
  'forms',
  'templates',
  'trees',
  'automations',
  'scheduledJobs',
  'groups',
  'model',
  'template',
  'mop',
];

/**
 * The documents in the JSON of a file or an answer: one, a list, or one of them within the members that requests and
 * answers have around documents.
 */
export const documentsIn = (value: unknown, from: string): readonly Found[] => {
  if (Array.isArray(value)) return value.flatMap((one) => documentsIn(one, from));
  if (!isObject(value)) return [{ from, name: '', kind: undefined, leftOut: null, text: exactText(value) }];
  const kind = kinds.find((one) => one.is(value));
  const leftOut = kind ? null : leftOutKind(value);
  const wrapper =
    kind || leftOut ? undefined : wrappers.find((name) => typeof value[name] === 'object' && value[name] !== null);
  if (wrapper !== undefined) return documentsIn(value[wrapper], from);
  return [{ from, name: nameOf(value), kind, leftOut, text: exactText(value) }];
};

/** The document in the answer of an export, which may have an envelope. */
export const exportedDocument = (answer: unknown, from: string, kind: Kind): Found => {
  const isEnvelope = isObject(answer) && typeof answer.message === 'string' && isObject(answer.data);
  const document = isEnvelope ? answer.data : answer;
  return { from, name: isObject(document) ? nameOf(document) : '', kind, leftOut: null, text: exactText(document) };
};

const nameOf = ({ name, metadata, data }: Members): string => {
  if (typeof name === 'string') return name;
  if (isObject(metadata) && typeof metadata.name === 'string') return metadata.name;
  return Array.isArray(data) && isObject(data[0]) && typeof data[0].name === 'string' ? data[0].name : '';
};
