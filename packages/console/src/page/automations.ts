import type { Operations } from '@automation-platform/client';
import { readVersion } from './edit.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { descriptions, Link, listQuery, rowsIn, Section, Shown, Table, Time } from './parts.ts';
import { call, may, read } from './platform.ts';
import { historyOf, idOf, type Kind, member, nameOf, Resources, workflowNames } from './resource.ts';
import { columns, nameColumn, type Trigger } from './triggerColumns.ts';

type Automation = Operations['operations-manager.getAutomation']['answer']['data'];

const isOfAutomations = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /^(automation|trigger)/.test(resource?.kind ?? '');

const TriggersOf = ({ row: { _id: id } }: { readonly row: Automation }) => {
  const loaded = useLoaded(
    async () =>
      (await read('operations-manager.getTriggers', { query: { multiEquals: { actionId: id }, limit: 100 } })).data,
    [id],
    { when: isOfAutomations },
  );
  return html`<${Section} title="Triggers" tools=${may('operations-manager.createTrigger') && html`<${Link} isButton=${true} to=${['triggers', 'new']} query=${{ automation: id }}>New trigger</${Link}>`}>
    <${Shown} loaded=${loaded}>${(
      rows: readonly Trigger[],
    ) => html`<${Table} label="Triggers" rows=${rows} keyOf=${(one: Trigger) => one._id} empty="Nothing starts it. A manual trigger lets people run it."
      columns=${[
        nameColumn,
        ...columns,
        {
          title: 'By hand',
          cell: (one: Trigger) =>
            one.type === 'manual' && one.enabled && html`<${Link} to=${['run', one._id]}>Run</${Link}>`,
        },
      ]} />`}</${Shown}></${Section}>`;
};

const kind: Kind<Automation> = {
  at: ['automations'],
  title: 'Automations',
  one: 'automation',
  empty: 'There is no automation that you may read.',
  idOf,
  nameOf,
  columns: [
    { title: 'Component', kind: 'wide', cell: ({ componentName }) => componentName },
    { title: 'Type', cell: ({ componentType }) => componentType },
    descriptions,
    { title: 'Changed', sort: 'lastUpdated', cell: ({ lastUpdated }) => html`<${Time} at=${lastUpdated} />` },
  ],
  when: isOfAutomations,
  reads: 'operations-manager.getAutomations',
  list: async (page, filter) =>
    rowsIn(await read('operations-manager.getAutomations', { query: listQuery(page, filter) })),
  get: (id) => readVersion('operations-manager.getAutomation', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name'],
    properties: {
      name: member.text('Name'),
      description: member.text('Description'),
      componentType: member.text('Type of the component', { type: ['string', 'null'], examples: ['workflows'] }),
      componentName: member.text('Component that it runs', {
        type: ['string', 'null'],
        examples: await workflowNames(),
      }),
      gbac: {
        type: 'object',
        title: 'Groups',
        description: 'Without groups everybody may.',
        properties: { read: member.texts('May read'), write: member.texts('May change and run') },
      },
    },
  }),
  create: {
    by: 'operations-manager.createAutomation',
    does: async (members, headers) =>
      (await call('operations-manager.createAutomation', { headers, body: members as { readonly name: string } })).body
        .data._id,
  },
  update: {
    by: 'operations-manager.updateAutomation',
    does: (id, body, headers) => call('operations-manager.updateAutomation', { path: { id }, headers, body }),
  },
  remove: {
    by: 'operations-manager.deleteAutomation',
    does: (id) => call('operations-manager.deleteAutomation', { path: { id } }),
  },
  facts: ({ _id, description, componentName, componentType, lastUpdated }) => [
    ['Description', description],
    ['Runs', componentName],
    ['Type', componentType],
    ['Changed', html`<${Time} at=${lastUpdated} />`],
    ['Jobs', html`<${Link} to=${['jobs']} query=${{ automation: _id }}>its jobs</${Link}>`],
    historyOf('automation', _id),
  ],
  Parts: TriggersOf,
};

/** Automations and their triggers. */
export const Automations = () => html`<${Resources} kind=${kind} />`;
