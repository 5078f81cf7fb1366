import { type Members, withoutOrder } from '@automation-platform/json';
import { Compile } from 'typebox/compile';
import { same } from '../engine/changes.ts';
import type { Context } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, inItems, isListOf, listOf } from '../engine/documentKinds.ts';
import { isMembers, withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { type Words, withoutContent } from '../engine/importedDocuments.ts';
import { missingSecrets, sealDocument } from '../engine/importedSecrets.ts';
import { refuseReferred } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { maskNamed, maskSecrets, type Seal, sealImported } from '../engine/secretFields.ts';
import {
  type ExportedText,
  firstItem,
  inOurForm,
  inPublishedForm,
  namedTree,
  treeIdOf,
  withoutTexts,
  withTexts,
} from './publishedTrees.ts';
import { type NodeReferrer, refuseText, refuseTexts } from './treeChanges.ts';
import { childrenOf, findNode, isPublished, itemsIn, rootIn, templateIn } from './treeNodes.ts';
import { documentNow, inOurWords } from './treeNow.ts';
import { importedNodeSchema, type OwnTree, type TreeNode, type TreeVersion } from './treeSchemas.ts';
import { type TreeContent, type TreeEvent, type TreeState, tree, withTextsIn } from './trees.ts';

/*
 * Imports and exports of whole trees. A document has our own form, or the form in which golden configurations are
 * published (publishedTrees.ts). It is stored as it was written.
 */

const nodeDocument = Compile(importedNodeSchema);

/** Of imports: trees of earlier versions may be that deep. */
const maxDepth = 64;

/** Throws `invalid` with the path for a malformed node, for nodes that lie too deep and for two nodes with one id. */
const checkNodes = (root: unknown, path: string): void => {
  const ids = new Set<string>();
  const check = (node: unknown, path: string, depth: number): void => {
    if (!nodeDocument.Check(node)) {
      const [fault] = nodeDocument.Errors(node);
      throw new RequestError('invalid', `This is no node: ${fault?.message}`, {
        path: path + (fault?.instancePath ?? ''),
      });
    }
    if (depth > maxDepth) throw new RequestError('invalid', `Nodes may lie ${maxDepth} levels deep`, { path });
    if (ids.size === ids.add(node.configId).size)
      throw new RequestError('invalid', 'Another node has this configId', { path: `${path}/configId` });
    for (const [i, child] of node.children.entries()) check(child, `${path}/children/${i}`, depth + 1);
  };
  check(root, path, 1);
};

const checkNames = (versions: OwnTree['versions']): void => {
  const names = new Set<string>();
  for (const [i, { name }] of versions.entries())
    if (names.size === names.add(name).size)
      throw new RequestError('invalid', `Another one here has the name ${JSON.stringify(name)}`, {
        path: `/versions/${i}/name`,
      });
};

/** The content of a document, without the texts. */
const contentIn = (document: Members): TreeContent => {
  const whole = isPublished(document) ? inOurForm(document) : document;
  const { name, deviceType = null, description, versions } = whole as OwnTree;
  checkNames(versions);
  for (const [i, { root }] of versions.entries()) checkNodes(root, `/versions/${i}/root`);
  return {
    name,
    deviceType,
    ...(typeof description === 'string' && { description }),
    versions: versions.map(({ name, root, variables = {} }) => ({ name, root: nodeIn(root as TreeNode), variables })),
  };
};

const nodeIn = ({ name, configId, children }: TreeNode): TreeNode => ({
  name,
  configId,
  children: children.map(nodeIn),
});

/** The id, if the document names one, and the name of the tree in a document. */
export const identityIn = (document: Members): { readonly _id?: string; readonly name: string } => {
  const { name } = isPublished(document) ? firstItem(document) : (document as OwnTree);
  const id = isPublished(document) ? namedTree(document) : document._id;
  return { name, ...defined({ _id: treeIdOf(id) }) };
};

/** A document without the id, as no form of it counts. */
const comparable = (document: Members): unknown =>
  withoutOrder(withoutMembers(inOurWords(document), (member) => member === '_id'));

/** True if an import of the document into the tree with the id would change nothing. */
const isSame = (document: Members, { exists: _, imported, ...content }: TreeState, id: string): boolean => {
  const now = documentNow(imported, content);
  if (isPublished(document)) {
    const form = inPublishedForm(now, id);
    if (same(withoutTexts(document, form), form)) return true;
    if (isPublished(now)) return false;
  }
  return same(comparable(document), comparable(now));
};

/** Throws for texts that are too large. */
const checkTexts = (document: Members, { versions }: TreeContent): void => {
  const list = isPublished(document) ? 'data' : 'versions';
  const check = (node: Members, path: string): void => {
    refuseText(templateIn(node), `${path}/attributes/export/template`);
    for (const [i, child] of childrenOf(node).entries()) check(child, `${path}/children/${i}`);
  };
  for (const [i, item] of itemsIn(document).entries()) check(rootIn(item), `/${list}/${i}/root`);
  refuseTexts(versions, `/${list}`);
};

/** The document with other variables in each version that has some. `path` points to them in the document. */
const withVariables = (
  document: Members,
  work: (variables: Members, version: unknown, path: string) => unknown,
): Members => {
  const [list, name] = isPublished(document) ? ['data', 'version'] : ['versions', 'name'];
  const versions = (document[list] as readonly Members[]).map((version, i) =>
    isMembers(version.variables)
      ? withMembers(version, { variables: work(version.variables, version[name], `/${list}/${i}/variables`) })
      : version,
  );
  return withMembers(document, { [list]: versions });
};

/** The variables of each version of a document, by the name of the version. */
const variablesIn = (document: Members): ReadonlyMap<unknown, unknown> => {
  const found = new Map<unknown, unknown>();
  withVariables(document, (variables, version) => {
    found.set(version, variables);
    return variables;
  });
  return found;
};

/** The other document in the form of the first; undefined if it cannot be translated. */
const inFormOf = (document: Members, other: Members): Members | undefined => {
  if (isPublished(document) === isPublished(other)) return other;
  return isPublished(other) ? inOurForm(other) : undefined;
};

/**
 * An imported tree with sealed secrets. The mask keeps those of `present`, of the present variables and of the last import.
 */
export const sealTree = (
  document: Members,
  { versions, imported }: TreeState,
  present: readonly Members[],
  seal: Seal,
): Members => {
  const befores = [
    ...present.map(variablesIn),
    new Map(versions.map(({ name, variables }) => [name as unknown, variables])),
  ];
  const sealed = withVariables(document, (variables, version, path) =>
    sealImported(
      variables,
      befores.map((before) => before.get(version)),
      seal,
      path,
    ),
  );
  const stored = [...present, ...(imported ? [imported.document] : [])].map((one) => inFormOf(document, one));
  return sealDocument(sealed, stored, seal);
};

/**
 * The places of the masked secrets for which nothing is stored, as JSON pointers, after the document was imported.
 * `path` points to the document in the request.
 */
export const missingInTree = (
  document: Members,
  { versions, imported }: TreeState,
  path: string,
): readonly string[] => {
  // In another form, the document says the same as the stored one: else it would be the stored one now.
  const stored = (imported && inFormOf(document, imported.document)) ?? document;
  const present = withVariables(
    stored,
    (variables, version) => versions.find(({ name }) => name === version)?.variables ?? variables,
  );
  return missingSecrets(present, path);
};

/** The document of a tree as of now, with sealed secrets. */
export const wholeTree = ({ exists: _, imported, ...content }: TreeState): Members => documentNow(imported, content);

/**
 * The export of a tree. In the words of an import it is the document of that import, except for what has changed since;
 * without an import, the words are our own.
 */
export const exportedTree = (_id: string, state: TreeState, words: Words): Members => {
  const document = wholeTree(state);
  if (state.imported && words === 'imported') return maskSecrets(document) as Members;
  const ours = maskSecrets(
    withMembers(
      { _id },
      withoutMembers(inOurWords(document), (name) => name === '_id'),
    ),
  ) as Members;
  return state.imported ? ours : withVariables(ours, (variables) => maskNamed(variables));
};

/** The nodes of a tree by their paths in its published document, with the variables of their versions. */
export const textsOfTree = ({ versions }: Pick<TreeState, 'versions'>) => {
  type Place = Pick<TreeVersion, 'variables'> & { readonly path: string; readonly node: TreeNode };
  const below = ({ path, node, variables }: Place): readonly Place[] => [
    { path, node, variables },
    ...node.children.flatMap((child, i) => below({ path: `${path}/children/${i}`, node: child, variables })),
  ];
  return versions.flatMap(({ root, variables }, i) => below({ path: `/data/${i}/root`, node: root, variables }));
};

/**
 * The export of a tree in the published form: a document for each version. `lines`: those of the texts, by the paths of
 * the nodes; none of a text that does not render.
 */
export const publishedTree = (
  _id: string,
  state: TreeState,
  lines: ReadonlyMap<string, readonly unknown[]>,
): Members => {
  const { deviceType } = state;
  const texts = new Map<string, ExportedText>();
  for (const { path, node } of textsOfTree(state)) {
    const { configId, template = '' } = node;
    texts.set(path, { _id: configId, deviceType, template, lines: template === '' ? [] : (lines.get(path) ?? null) });
  }
  const document = withTexts(inPublishedForm(wholeTree(state), _id), texts);
  return maskSecrets(
    state.imported ? document : withVariables(document, (variables) => maskNamed(variables)),
  ) as Members;
};

type ImportedTree = { readonly tree: Members; readonly overwrite?: boolean; readonly created?: string };

/**
 * Imports a whole tree with its ids, into its own stream or that of the tree with the same name. Nodes that plans refer
 * to must stay.
 */
export const importOne = (
  state: TreeState,
  { tree, overwrite = false, created }: ImportedTree,
  { id, refs }: Context<{ readonly nodeReferrers: readonly NodeReferrer[] }>,
): readonly TreeEvent[] => {
  const content = contentIn(tree);
  checkTexts(tree, withTextsIn(content, tree));
  const { exists, imported } = state;
  const own = [id, imported && identityIn(imported.document)._id].includes(identityIn(tree)._id ?? id);
  if (exists && (own || overwrite) && isSame(tree, state, id)) return [];
  if (exists && !overwrite)
    throw new RequestError(
      'conflict',
      own ? 'A tree with this id exists with other content' : 'Another tree has this name',
      { path: own ? idPath(tree) : namePath(tree) },
    );
  const staysThere = ({ version, nodeId }: NodeReferrer) =>
    content.versions.some((one) => one.name === version && findNode(one.root, nodeId));
  if (exists)
    refuseReferred(
      refs.nodeReferrers.filter((one) => !staysThere(one)),
      'replaced by one that lacks nodes',
    );
  return [
    { topic: 'treeRestored', data: { ...content, ...defined({ created }), imported: withoutContent(tree, content) } },
  ];
};

const idPath = (tree: Members): string => (isPublished(tree) ? '/data/0/treeId' : '/_id');
const namePath = (tree: Members): string => (isPublished(tree) ? '/data/0/name' : '/name');

/** Golden configurations of any installation. */
export const treeDocuments: DocumentKind = {
  of: tree,
  name: 'golden configuration',
  types: ['golden-config'],
  secrets: (document, work) => inItems(isPublished(document) ? 'data' : 'versions', 'variables')(document, work),
  is: ({ data, versions }) => isListOf(data, 'root') || isListOf(versions, 'root'),
  importing: listOf('POST', '/configuration_manager/import/configs', 'trees'),
  ...at('/configuration_manager/configs'),
};
