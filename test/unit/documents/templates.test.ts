import assert from 'node:assert/strict';
import type { Members } from '@automation-platform/json';
import { importedId } from '../../../src/commands/engine/imports.ts';
import { importTemplate } from '../../../src/commands/template-builder/templates.ts';
import { withoutContent } from '../../../src/domain/engine/importedDocuments.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { create, importOne, remove, template, update } from '../../../src/domain/template-builder/templates.ts';
import type { ActionRoute, Call } from '../../../src/http/engine/route.ts';
import type { Service } from '../../../src/http/engine/service.ts';
import { templateRoutes } from '../../../src/http/template-builder/templates.ts';
import { templates } from '../../../src/projections/template-builder/templates.ts';
import { context, specification } from '../../support/given.ts';
import { openLog, startNode } from '../../support/node.ts';

const given = specification(template);

const none = { referrers: [] };

const automation = { kind: 'automation', name: 'Deploy' };

const content = {
  name: 'Uplink',
  type: 'jinja2',
  template: 'interface {{ name }}',
  description: '',
  command: '',
  data: null,
  group: '',
} as const;

const created = { topic: 'templateCreated' as const, data: { ...content, tags: [] as string[] } };

describe('A template', () => {
  it('needs a name and a text, which may be anything', () => {
    given().when(create, { name: 'Uplink', template: content.template }).then(created);
    const more = {
      name: 'Broken',
      template: '{% if',
      type: 'textfsm' as const,
      description: 'd',
      command: 'show version',
      data: { any: [1] },
      group: 'g',
      tags: ['t', 1],
    };
    given().when(create, more).then({ topic: 'templateCreated', data: more });
  });

  it('changes what an update says, and nothing when that is so already', () => {
    given(created)
      .when(update, { template: 'x', data: { a: 1 } }, none)
      .then({ topic: 'templateChanged', data: { template: 'x', data: { a: 1 } } });
    given(created, { topic: 'templateChanged', data: { template: 'x' } })
      .when(update, { template: 'x' }, none)
      .thenNothing();
    given(created)
      .when(update, { ...created.data, _id: context.id, createdBy: 'x' }, none)
      .thenNothing();
    given(created)
      .when(update, { _id: 'f'.repeat(24) }, none)
      .thenRefused('invalid', /"\/_id"/);
  });

  it('keeps its name, and stays, while an automation names it', () => {
    given(created)
      .when(update, { name: 'Other' }, { referrers: [automation] })
      .thenRefused('conflict', /Deploy/);
    given(created)
      .when(remove, undefined, { referrers: [automation] })
      .thenRefused('conflict', /Deploy/);
    given(created).when(remove, undefined, none).then({ topic: 'templateDeleted', data: {} });
  });
});

describe('An imported template', () => {
  const refs = { ...none, accounts: { jo: 'c'.repeat(24) } };
  const authors = {
    created: '2020-01-01T00:00:00.000Z',
    createdBy: 'jo',
    lastUpdated: '2021-01-01T00:00:00.000Z',
    lastUpdatedBy: null,
  };
  const document = { _id: context.id, ...created.data, ...authors };
  /** What is stored of an imported document: members that the content has too are stored once. */
  const kept = (one: object, content: object) => withoutContent(one as Members, content);
  const restored = {
    topic: 'templateRestored' as const,
    data: {
      ...created.data,
      ...authors,
      createdBy: 'c'.repeat(24),
      imported: kept(document, created.data),
    },
  };

  it('keeps times and authors, and is no change when it is so already', () => {
    given().when(importOne, { template: document }, refs).then(restored);
    given(restored).when(importOne, { template: document }, refs).thenNothing();
  });

  it('refuses other content under a used id or name unless it may overwrite', () => {
    given(restored)
      .when(importOne, { template: { ...document, template: 'x' } }, refs)
      .thenRefused('conflict', /"\/_id"/);
    given(restored)
      .when(importOne, { template: { ...document, template: 'x' }, overwrite: true }, refs)
      .then({ topic: 'templateRestored', data: { ...restored.data, template: 'x' } });
    given(restored)
      .when(importOne, { template: { ...document, version: 1 } as typeof document }, refs)
      .thenRefused('conflict', /"\/_id"/);
    given(restored)
      .when(importOne, { template: { ...document, _id: 'd'.repeat(24) } }, refs)
      .thenRefused('conflict', /"\/name"/);
    given(restored)
      .when(importOne, { template: { ...document, _id: 'd'.repeat(24) }, overwrite: true }, refs)
      .thenNothing();
  });

  it('renames none that an automation names', () =>
    given(restored)
      .when(
        importOne,
        { template: { ...document, name: 'Other' }, overwrite: true },
        { ...refs, referrers: [automation] },
      )
      .thenRefused('conflict', /Deploy/));

  it('goes into the stream of its own id, or else of its name, or else into a new one', async () => {
    const log = await openLog();
    const node = await startNode(log.store);
    try {
      const fresh = '1'.repeat(24);
      const take = async (
        one: { readonly _id?: string; readonly name: string; readonly template: string },
        overwrite = false,
      ) =>
        (
          await node.command(
            importTemplate,
            await importedId({ aggregate: template, collection: templates }, one, fresh, node.tools),
            {
              template: one,
              overwrite,
            },
          )
        ).id;
      assert.equal(await take({ _id: 'a'.repeat(24), name: 'A', template: '' }), 'a'.repeat(24));
      assert.equal(await take({ _id: 'b'.repeat(24), name: 'A', template: 'x' }, true), 'a'.repeat(24));
      assert.equal(await take({ _id: 'a'.repeat(24), name: 'B', template: 'x' }, true), 'a'.repeat(24));
      assert.equal(await take({ name: 'C', template: '' }), fresh);
      await assert.rejects(take({ name: 'C', template: 'x' }), /exists with other content/);
    } finally {
      await node.stop();
      await log.close();
    }
  });
});

describe('Templates are rendered', () => {
  const row = (name: string) => templateRoutes.find((one): one is ActionRoute => one.name === name && 'run' in one)!;
  const docs: Readonly<Record<string, object>> = {
    uplink: { type: 'jinja2', template: 'stored' },
    parser: { type: 'textfsm', template: 'Value X' },
  };
  // An engine that shows what it was asked for.
  const service = {
    tools: { stateForRights: async () => template.initial, gbacAbove: () => undefined },
    renderer: {
      render: async (text: string, variables: object) =>
        Object.hasOwn(variables, 'said')
          ? (variables as { said: string }).said
          : `${text} ${JSON.stringify(variables)}`,
      close: async () => undefined,
    },
    entry: async (_: unknown, name: string) => {
      if (!docs[name]) throw new RequestError('not_found', 'No such template');
      return { text: JSON.stringify(docs[name]) };
    },
  } as unknown as Service; // the rest is not asked for
  const run = (operation: string, name: string, body: object) =>
    row(operation).run(
      {
        params: { name },
        body,
        actor: context.actor,
        abandoned: () => new AbortController().signal,
      } as unknown as Call,
      service,
    ); // as above
  const withCast = async (name: string, body: object) =>
    JSON.parse(String((await run('renderJinja2TemplateWithCast', name, body)).text));

  it('with the context of the request, to a JSON string', async () => {
    assert.deepEqual(await run('renderJinja', 'uplink', { context: { a: 1 } }), { body: 'stored {"a":1}' });
    assert.deepEqual(await run('renderJinja', 'uplink', {}), { body: 'stored {}' });
  });

  it('and cast: the text of the body, or else the stored one', async () => {
    assert.deepEqual(await withCast('uplink', { template: 'given', variables: { a: 1 } }), {
      renderedTemplate: 'given {"a":1}',
    });
    assert.deepEqual(await withCast('no such template', { template: 'given' }), { renderedTemplate: 'given {}' });
    assert.deepEqual(await withCast('uplink', { template: '' }), { renderedTemplate: ' {}' });
    assert.deepEqual(await withCast('uplink', {}), { renderedTemplate: 'stored {}' });
    await assert.rejects(withCast('no such template', {}), { code: 'not_found' });
  });

  it('to a value of each type, or refused', async () => {
    const said = (said: string, castDataType: string) => withCast('uplink', { variables: { said }, castDataType });
    assert.deepEqual(await said('True', 'boolean'), { renderedTemplate: true });
    assert.deepEqual(await said(' 7 ', 'number'), { renderedTemplate: 7 });
    assert.deepEqual(await said('{"a": [1]}', 'object'), { renderedTemplate: { a: [1] } });
    assert.deepEqual(await said(' 7 ', 'string'), { renderedTemplate: ' 7 ' });
    await assert.rejects(said('seven', 'number'), { code: 'unprocessable' });
  });

  it('unless they are of a type that cannot be', async () => {
    await assert.rejects(run('renderJinja', 'parser', {}), { code: 'unprocessable' });
    await assert.rejects(withCast('parser', {}), { code: 'unprocessable' });
  });
});
