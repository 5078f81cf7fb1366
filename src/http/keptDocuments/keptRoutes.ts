import { exactText, type Members } from '@automation-platform/json';
import { type TSchema, Type } from 'typebox';
import type { Tools } from '../../commands/engine/define.ts';
import type { KeptCommands } from '../../commands/keptDocuments/keptCommands.ts';
import { type Authored, authored, objectId } from '../../domain/engine/authors.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { signed } from '../authorization/people.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import { exportedText, importRoute } from '../engine/imports.ts';
import { refuseNeeded } from '../engine/neededMethods.ts';
import type { AreaRoutes, Call, Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped, orWrapped, wordsSchema } from '../engine/schemas.ts';

type KeptDoc = Members & Authored & { readonly _id: string; readonly name: string };

type Findings = { readonly faults: readonly object[]; readonly warnings: readonly object[] };

type KeptRoutes<Doc extends KeptDoc, Size extends object> = {
  readonly commands: KeptCommands;
  readonly documents: Projection<Doc, never, string, string>;
  /** The schema of a fault or warning. */
  readonly finding: TSchema;
  /** Finds the faults and warnings of a document. Throws `invalid` for one of another form. */
  readonly findings: (document: Members, actor: Actor, tools: Tools) => Findings | Promise<Findings>;
  /** How large a document is, and how many faults it has. */
  readonly summary: {
    readonly members: Readonly<Record<string, TSchema>>;
    /** Computed once for each revision. */
    readonly of: (doc: Doc) => Size;
    /** The members of a list. They may depend on other documents. */
    readonly now: (size: Size, actor: Actor, tools: Tools) => Promise<object>;
  };
  /** Sentences of the descriptions that only this kind has. */
  readonly sentences: { readonly [route in 'create' | 'replace' | 'remove']: string };
  readonly areas: () => readonly AreaRoutes[];
};

type Described = Pick<KeptRoutes<never, never>, 'commands' | 'finding'> & {
  readonly summary: Pick<KeptRoutes<never, never>['summary'], 'members'>;
};

const schemasOf = ({ commands: { word, schema }, finding, summary }: Described) => {
  const findings = {
    faults: Type.Array(finding, { description: 'Faults that must be mended before it can run' }),
    warnings: Type.Array(finding, { description: 'Places that may be meant otherwise; they stop nothing' }),
  };
  return {
    findings: Type.Object(findings, { title: `${word}Findings`, description: 'Faults and warnings of a document' }),
    document: Type.Object(
      { _id: objectId('Id'), name: Type.String(), ...findings, ...authored },
      { additionalProperties: true, title: word, description: `${word} with all its members; secrets are masked` },
    ),
    summary: Type.Object(
      {
        _id: objectId('Id'),
        name: Type.String(),
        description: Type.String(),
        ...summary.members,
        faults: Type.Integer({ description: 'How many faults it has' }),
        ...authored,
      },
      { title: `${word}Summary`, description: `${word} in a list` },
    ),
    one: orWrapped('document', schema),
  };
};

const maskDocument: Join<KeptDoc> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** A document with its faults and warnings. */
const showing =
  <Doc extends KeptDoc>(findings: KeptRoutes<Doc, never>['findings']): Join<Doc> =>
  async (doc, service, call) => ({
    ...((await maskDocument(doc, service, call)) as Members),
    ...(await findings(doc, call.actor, service.tools)),
  });

/** The part of a document that lists show, with its size. */
const outlineWith =
  <Doc extends KeptDoc, Size extends object>(sizeOf: (doc: Doc) => Size) =>
  (doc: Doc) => {
    const { _id, name, description, created, createdBy, lastUpdated, lastUpdatedBy } = doc;
    return {
      about: { _id, name, description: typeof description === 'string' ? description : '' },
      authors: { created, createdBy, lastUpdated, lastUpdatedBy },
      size: sizeOf(doc),
    };
  };

const reading = <Doc extends KeptDoc, Size extends object>(resource: KeptRoutes<Doc, Size>): readonly Route[] => {
  const { commands, documents, findings, summary } = resource;
  const { of, word, schema } = commands;
  const schemas = schemasOf(resource);
  const outline = outlineWith(summary.of);
  const path = `/${of.category}s`;
  const access = ['operators', 'readers'] as const;
  return [
    listRoute({
      name: `get${word}s`,
      path,
      access,
      summary: `List ${of.category}s`,
      list: documents,
      outline,
      join: async ({ about, authors, size }: ReturnType<typeof outline>, service, call) => ({
        ...about,
        ...(await summary.now(size, call.actor, service.tools)),
        ...((await signed(authors, service, call)) as Authored),
      }),
      envelope: resultsWithMessage(`Successfully retrieved ${of.category}s`),
      answer: enveloped(Type.Array(schemas.summary)),
    }),
    actionRoute({
      name: `export${word}`,
      method: 'get',
      reads: true,
      path: `${path}/:id/export`,
      access,
      summary: `Export a ${of.category}`,
      description:
        'The document as it came in, or as it was written here with its id, times and authors. Secrets are masked. The ' +
        'words are always those of the document.',
      query: { as: wordsSchema },
      answer: schema,
      run: async (call, service) => {
        const entry = await service.entry(documents, call.params.id, call.actor);
        const view = (await maskDocument(JSON.parse(entry.text) as Doc, service, call)) as Doc;
        const text = await exportedText({ aggregate: of, id: view._id, view, words: 'imported' }, service);
        return { text, exported: { kind: of.category, id: view._id } };
      },
    }),
    actionRoute({
      name: `validate${word}`,
      method: 'post',
      path: `${path}/validate`,
      access,
      summary: 'Find the faults of a document',
      description: 'The body is the document, or has it in document. Nothing is stored.',
      large: true,
      body: schemas.one.body,
      exact: '*',
      answer: enveloped(schemas.findings),
      run: async ({ body, actor }, { tools }) => ({
        text: withMessage(`Successfully validated ${of.category}`)(
          exactText(await findings(schemas.one.input({}, body), actor, tools)),
        ),
      }),
    }),
    actionRoute({
      name: `validateStored${word}`,
      method: 'post',
      path: `${path}/:id/validate`,
      access,
      summary: `Find the faults of a ${of.category} that is kept`,
      description: 'As of now: a document that it names may have come or gone since it was saved.',
      answer: enveloped(schemas.findings),
      run: async ({ params, actor }, { entry, tools }) => ({
        body: {
          message: `Successfully validated ${of.category}`,
          data: await findings(JSON.parse((await entry(documents, params.id, actor)).text), actor, tools),
          metadata: {},
        },
      }),
    }),
    getRoute({
      name: `get${word}`,
      path: `${path}/:id`,
      access,
      summary: `Get a ${of.category}`,
      get: documents,
      join: showing(findings),
      envelope: withMessage(`Successfully retrieved ${of.category}`),
      answer: enveloped(schemas.document),
    }),
  ];
};

const importing = <Doc extends KeptDoc, Size extends object>(resource: KeptRoutes<Doc, Size>): Route => {
  const { commands, findings, areas } = resource;
  const { of, word, schema, needs } = commands;
  const show = showing<Doc>(findings);
  return importRoute({
    name: `import${word}s`,
    method: 'put',
    path: `/${of.category}s`,
    access: ['operators'],
    summary: `Import ${of.category}s`,
    description:
      `Takes ${of.category}s of any installation. All members are kept in their order, with ids, times and authors. ` +
      'The same document again is no change; other content under a used id or name is 409 unless overwrite is true.',
    member: `${of.category}s`,
    document: schema,
    itemSchema: schemasOf(resource).document,
    take: async ({ document, overwrite, fresh, about, path }, service, call) => {
      if (needs) refuseNeeded(needs(document), call, areas());
      const id = await commands.meant(document, fresh, service.tools);
      const input = { document, overwrite };
      const { doc, position, replayed } = await service.handle(commands.import, { ...about, id, input });
      const missingSecrets = await commands.missing(id, path, service.tools);
      return { data: await show(doc as Doc, service, call), position, replayed, missingSecrets };
    },
  });
};

const changing = <Doc extends KeptDoc, Size extends object>(resource: KeptRoutes<Doc, Size>): readonly Route[] => {
  const { commands, sentences, areas } = resource;
  const { of, needs } = commands;
  const refuse = needs && ((call: Call<string, Members>) => refuseNeeded(needs(call.body), call, areas()));
  const path = `/${of.category}s`;
  const same = {
    access: ['operators'],
    join: showing(resource.findings),
    answer: enveloped(schemasOf(resource).document),
  } as const;
  return [
    commandRoute({
      ...same,
      name: commands.create.name,
      method: 'post',
      path,
      summary: `Create a ${of.category}`,
      description: sentences.create,
      large: true,
      command: commands.create,
      exact: '*',
      ...defined({ refuse }),
      envelope: withMessage(`Successfully created ${of.category}`),
    }),
    importing(resource),
    commandRoute({
      ...same,
      name: commands.replace.name,
      method: 'put',
      path: `${path}/:id`,
      summary: `Replace a ${of.category}`,
      description:
        'The body is the whole document; id, times, authors and faults in it are ignored, and ******** keeps a secret. ' +
        sentences.replace,
      large: true,
      command: commands.replace,
      exact: '*',
      ...defined({ refuse }),
      envelope: withMessage(`Successfully replaced ${of.category}`),
    }),
    commandRoute({
      ...same,
      name: commands.remove.name,
      method: 'delete',
      path: `${path}/:id`,
      summary: `Delete a ${of.category}`,
      description: sentences.remove,
      command: commands.remove,
      envelope: withMessage(`Successfully deleted ${of.category}`),
    }),
  ];
};

/** The routes of documents that are kept with all their members (domain/engine/keptDocuments.ts). */
export const keptRoutes = <Doc extends KeptDoc, Size extends object>(
  resource: KeptRoutes<Doc, Size>,
): readonly Route[] => [...reading(resource), ...changing(resource)];
